//! What has to be drawn so that a screen shows another frame.

use super::frame::Frame;
use super::line::Line;

/// A row that is drawn anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The row, from 0.
    pub row: usize,
    /// What it shows from now on.
    pub line: &'a Line,
}

/// The rows in which `wanted` is not what a screen shows; all, where nobody knows what it shows.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Tone;

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
