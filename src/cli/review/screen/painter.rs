//! What a terminal is sent so that it shows a frame.

use std::io;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};

use crate::cli::output::{Output, Paper};
use crate::review::screen::{Frame, Line, Span};

/// What is on `paper`, for a screen.
pub(super) fn lines(paper: &Paper) -> Vec<Line> {
    let lines = paper.pieces().map(|pieces| {
        let spans = pieces.iter().map(|(tone, text)| Span::new(*tone, text));
        Line::new(spans.collect())
    });
    lines.collect()
}

/// What shows `frame`, whatever was shown before.
pub(super) fn painted(frame: &Frame, output: &Output) -> io::Result<Vec<u8>> {
    let paper = output.paper();
    let mut bytes = Vec::new();
    queue!(bytes, BeginSynchronizedUpdate, Hide)?;
    for (row, line) in (0_u16..).zip(&frame.rows) {
        queue!(bytes, MoveTo(0, row), Clear(ClearType::CurrentLine))?;
        for span in line.spans() {
            let text = match span.tone() {
                Some(tone) => paper.tint(tone, span.text()),
                None => span.text().to_owned(),
            };
            queue!(bytes, Print(text))?;
        }
    }
    let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    if let Some((column, row)) = frame.cursor {
        queue!(bytes, MoveTo(place(column), place(row)), Show)?;
    }
    queue!(bytes, EndSynchronizedUpdate)?;
    Ok(bytes)
}
