//! The size of the terminal, and whether it has colours and a cursor.

use crossterm::terminal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

pub(super) fn size() -> Size {
    match terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => Size {
            columns: columns.into(),
            rows: rows.into(),
        },
        // Some terminals report no size.
        _ => Size {
            columns: 80,
            rows: 24,
        },
    }
}

/// Whether the terminal cannot move its cursor or show colours.
pub(super) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
