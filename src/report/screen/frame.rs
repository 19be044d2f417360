//! Screens and what they show.

use super::line::Line;

/// How large a screen is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Its columns.
    pub columns: usize,
    /// Its rows.
    pub rows: usize,
}

/// What a screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// A line for each of its rows.
    pub rows: Vec<Line>,
    /// The column and the row in which something is typed.
    pub cursor: Option<(usize, usize)>,
}
