//! What a terminal is sent so that it shows a frame.

use std::io;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};

use crate::cli::output::{Output, Paper};
use crate::report::screen::{Change, Line, Span};

/// What is on `paper`, for a screen.
pub(in crate::cli) fn lines(paper: &Paper) -> Vec<Line> {
    let lines = paper.pieces().map(|pieces| {
        let spans = pieces.iter().map(|(tone, text)| Span::new(*tone, text));
        Line::new(spans.collect())
    });
    lines.collect()
}

/// What draws these rows; a cursor shows where something is typed.
pub(in crate::cli) fn painted(
    changes: &[Change<'_>],
    cursor: Option<(usize, usize)>,
    output: &Output,
) -> io::Result<Vec<u8>> {
    let paper = output.paper();
    let mut bytes = Vec::new();
    queue!(bytes, BeginSynchronizedUpdate, Hide)?;
    for Change { row, line } in changes {
        queue!(bytes, MoveTo(0, place(*row)), Clear(ClearType::CurrentLine))?;
        queue!(bytes, Print(tinted(line, &paper)))?;
    }
    if let Some((column, row)) = cursor {
        queue!(bytes, MoveTo(place(column), place(row)), Show)?;
    }
    queue!(bytes, EndSynchronizedUpdate)?;
    Ok(bytes)
}

/// The line in its colours, where `paper` has any.
pub(in crate::cli) fn tinted(line: &Line, paper: &Paper) -> String {
    let spans = line.spans().iter().map(|span| match span.tone() {
        Some(tone) => paper.tint(tone, span.text()),
        None => span.text().to_owned(),
    });
    spans.collect()
}

fn place(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}
