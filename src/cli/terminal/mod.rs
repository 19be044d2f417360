//! Draws screens on a terminal and restores it, however the process ends.

mod tty;

use std::io;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate};
use unicode_width::UnicodeWidthChar as _;

use crate::base::text::Escaped;
use crate::cli::output::{Output, Paper};
use crate::cli::tint::Tone;

pub(super) use tty::{Happened, Terminal, is_possible};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// Pasted text. It must not trigger keys.
    Paste(String),
    Enter,
    Escape,
    Backspace,
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    /// To the first line.
    Home,
    End,
    Interrupt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    pub row: usize,
    pub line: &'a Line,
}

/// The rows that differ from what the screen shows; all rows if that is unknown.
pub fn changes<'a>(shown: Option<&Frame>, wanted: &'a Frame) -> Vec<Change<'a>> {
    let rows = wanted.rows.iter().enumerate();
    let is_shown = |row: usize, line: &Line| {
        let shown = shown.and_then(|frame| frame.rows.get(row));
        shown == Some(line)
    };
    rows.filter(|(row, line)| !is_shown(*row, line))
        .map(|(row, line)| Change { row, line })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub rows: Vec<Line>,
    pub cursor: Option<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    tone: Option<Tone>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    spans: Vec<Span>,
}

type Cell = (char, Option<Tone>);

impl Span {
    /// A piece of text, with unsafe characters escaped.
    pub fn new(tone: Option<Tone>, text: &str) -> Self {
        Self {
            tone,
            text: Escaped(text).to_string(),
        }
    }

    pub fn tone(&self) -> Option<Tone> {
        self.tone
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Line {
    pub fn new(spans: Vec<Span>) -> Self {
        Self { spans }
    }

    pub fn plain(text: &str) -> Self {
        Self::new(vec![Span::new(None, text)])
    }

    pub fn toned(tone: Tone, text: &str) -> Self {
        Self::new(vec![Span::new(Some(tone), text)])
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    #[cfg(test)]
    pub fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    pub fn width(&self) -> usize {
        self.cells().iter().map(|(c, _)| width(*c)).sum()
    }

    /// The line cut to `columns`, with `…` in the last column if something is missing.
    pub fn clipped(&self, columns: usize) -> Self {
        let cells = self.cells();
        if fitting(&cells, columns) == cells.len() {
            return self.clone();
        }
        let mut kept = cells[..fitting(&cells, columns.saturating_sub(1))].to_vec();
        if columns > 0 {
            kept.push(('…', None));
        }
        Self::of(&kept)
    }

    /// The line with `…` at its end, because more would follow.
    pub fn broken_off(&self, columns: usize) -> Self {
        let mut cells = self.cells();
        cells.push(('…', None));
        Self::of(&cells).clipped(columns)
    }

    /// The line in rows of `columns`, broken at spaces if possible. The rows after the first are
    /// indented by two more columns.
    pub fn wrapped(&self, columns: usize) -> Vec<Self> {
        if columns == 0 {
            return Vec::new();
        }
        let cells = self.cells();
        let indent = cells.iter().take_while(|(c, _)| *c == ' ').count();
        // A wide character must still fit beside the indent.
        let hang = (indent + 2).min(columns / 2).min(columns.saturating_sub(2));
        let hang = vec![(' ', None); hang];
        let mut rows = Vec::new();
        let mut rest = cells.as_slice();
        loop {
            let before: &[Cell] = if rows.is_empty() { &[] } else { &hang };
            // The terminal handles a character that is wider than the row.
            let end = fitting(rest, columns - before.len()).max(1).min(rest.len());
            let (row, after) = broken(rest, end);
            rows.push(Self::of(&[before, row].concat()));
            rest = after;
            if rest.is_empty() {
                return rows;
            }
        }
    }

    fn cells(&self) -> Vec<Cell> {
        let cells = |span: &Span| {
            let tone = span.tone;
            span.text
                .chars()
                .map(move |c| (c, tone))
                .collect::<Vec<_>>()
        };
        self.spans.iter().flat_map(cells).collect()
    }

    fn of(cells: &[Cell]) -> Self {
        let pieces = cells.chunk_by(|one, other| one.1 == other.1);
        let spans = pieces.map(|piece| Span {
            tone: piece[0].1,
            text: piece.iter().map(|(c, _)| c).collect(),
        });
        Self::new(spans.collect())
    }
}

/// Splits at the last space before `end`, or else at `end`.
fn broken(cells: &[Cell], end: usize) -> (&[Cell], &[Cell]) {
    if end == cells.len() {
        return (cells, &[]);
    }
    let is_space = |at: &usize| cells[*at].0 == ' ';
    let words = (0..end).find(|at| !is_space(at)).unwrap_or(end);
    match (words..=end).rev().find(is_space) {
        Some(space) => (&cells[..space], &cells[space + 1..]),
        None => cells.split_at(end),
    }
}

fn fitting(cells: &[Cell], columns: usize) -> usize {
    let mut used = 0;
    let fits = |(c, _): &&Cell| {
        used += width(*c);
        used <= columns
    };
    cells.iter().take_while(fits).count()
}

fn width(c: char) -> usize {
    c.width().unwrap_or(0)
}

pub(in crate::cli) fn lines(paper: &Paper) -> Vec<Line> {
    let lines = paper.pieces().map(|pieces| {
        let spans = pieces.iter().map(|(tone, text)| Span::new(*tone, text));
        Line::new(spans.collect())
    });
    lines.collect()
}

/// The bytes that draw these rows, and place the cursor where text is typed.
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

#[cfg(test)]
mod tests_change {
    use super::*;
    use crate::cli::tint::Tone;

    fn frame(rows: &[Line]) -> Frame {
        Frame {
            rows: rows.to_vec(),
            cursor: None,
        }
    }

    #[test]
    fn nothing_but_what_changed_is_drawn() {
        let [one, two, red] = [
            Line::plain("one"),
            Line::plain("two"),
            Line::toned(Tone::Bad, "two"),
        ];
        let shown = frame(&[one.clone(), two.clone(), one.clone()]);
        assert_eq!(changes(Some(&shown), &shown), []);
        // Another colour is another line.
        let wanted = frame(&[one.clone(), red.clone(), one.clone()]);
        let change = Change { row: 1, line: &red };
        assert_eq!(changes(Some(&shown), &wanted), [change]);
        let rows = |changes: Vec<Change<'_>>| changes.iter().map(|it| it.row).collect::<Vec<_>>();
        assert_eq!(rows(changes(None, &shown)), [0, 1, 2]);
        let longer = frame(&[one.clone(), two, one.clone(), Line::default()]);
        assert_eq!(rows(changes(Some(&shown), &longer)), [3]);
        assert_eq!(rows(changes(Some(&longer), &shown)), [0; 0]);
    }
}

#[cfg(test)]
mod tests_line {
    use super::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        let rows = Line::plain(text).wrapped(columns);
        rows.iter().map(Line::text).collect()
    }

    #[test]
    fn is_broken_at_spaces_and_else_anywhere() {
        assert_eq!(rows("  one two three", 9), ["  one two", "    three"]);
        assert_eq!(rows("aaaaaaaaaa bb", 6), ["aaaaaa", "  aaaa", "  bb"]);
        assert_eq!(rows("", 6), [""]);
        assert_eq!(rows("a b", 0), Vec::<String>::new());
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(Line::plain("한빛 A").width(), 6);
        assert_eq!(
            rows("한빛식품 주식회사", 8),
            ["한빛식품", "  주식회", "  사"]
        );
        assert_eq!(Line::plain("한빛식품").clipped(6).text(), "한빛…");
        assert_eq!(Line::plain("한빛식품").clipped(8).text(), "한빛식품");
        assert_eq!(rows("한빛", 1), ["한", "빛"]);
        assert_eq!(rows("한빛", 2), ["한", "빛"]);
    }

    #[test]
    fn colours_stay_with_their_words() {
        let line = Line::new(vec![
            Span::new(None, "a "),
            Span::new(Some(Tone::Bad), "bad thing"),
        ]);
        let rows = line.wrapped(8);
        assert_eq!(rows[0].spans()[1], Span::new(Some(Tone::Bad), "bad"));
        assert_eq!(rows[1].spans()[1], Span::new(Some(Tone::Bad), "thing"));
    }

    #[test]
    fn nothing_in_a_line_steers_a_terminal() {
        let line = Line::plain("a\u{1b}[2Jb\n\u{202e}");
        assert_eq!(line.text(), "a\\u{1b}[2Jb\\u{a}\\u{202e}");
    }
}
