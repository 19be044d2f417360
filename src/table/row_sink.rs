//! Gathers the cells of one row at a time.

use super::cell::{ColumnIndex, LAST_COLUMN};
use super::error::Result;
use crate::quest::file::nearest;

/// What is done with one row: its number and the cells asked for.
pub(super) type Visit<'a> = dyn FnMut(u32, &[String]) -> Result<()> + 'a;

/// Takes the cells of a list in order, and hands on each row that has any.
pub(super) struct RowSink<'a> {
    /// The columns to hand on, in this order; all if there are none.
    wanted: Option<&'a [ColumnIndex]>,
    /// The cells of the row, by column. Texts of columns that nobody wants stay empty.
    cells: Vec<String>,
    picked: Vec<String>,
    row: u32,
    is_blank: bool,
    pub(super) widest: usize,
    visit: &'a mut Visit<'a>,
}

impl<'a> RowSink<'a> {
    pub(super) fn new(wanted: Option<&'a [ColumnIndex]>, visit: &'a mut Visit<'a>) -> Self {
        Self {
            wanted,
            cells: Vec::new(),
            picked: vec![String::new(); wanted.map_or(0, <[ColumnIndex]>::len)],
            row: 0,
            is_blank: true,
            widest: 0,
            visit,
        }
    }

    /// Starts `row`, counted from 1, and hands on the row before it.
    pub(super) fn at_row(&mut self, row: u32) -> Result<()> {
        if row != self.row {
            self.finish()?;
            self.row = row;
        }
        Ok(())
    }

    /// Notes that the row has a cell at `column`, counted from 0, that is not blank, and returns
    /// the place for its text, empty, if it is wanted.
    pub(super) fn cell(&mut self, column: usize) -> Option<&mut String> {
        self.is_blank = false;
        if column >= LAST_COLUMN as usize {
            return None;
        }
        self.widest = self.widest.max(column + 1);
        // Numbers are formatted only where somebody reads them.
        let is_wanted = |wanted: &[ColumnIndex]| wanted.iter().any(|it| it.index() == column);
        if !self.wanted.is_none_or(is_wanted) {
            return None;
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, String::new());
        }
        let text = &mut self.cells[column];
        text.clear();
        Some(text)
    }

    /// Puts `text` in the row at `column` unless it is blank.
    pub(super) fn put(&mut self, column: usize, text: &str) {
        if !text.trim().is_empty()
            && let Some(place) = self.cell(column)
        {
            place.push_str(text);
        }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_blank, true) {
            return Ok(());
        }
        let Some(wanted) = self.wanted else {
            let visited = (self.visit)(self.row, &self.cells);
            self.cells.clear();
            return visited;
        };
        for (picked, column) in self.picked.iter_mut().zip(wanted) {
            let text = self.cells.get(column.index());
            text.map_or("", String::as_str).clone_into(picked);
        }
        self.cells.iter_mut().for_each(String::clear);
        (self.visit)(self.row, &self.picked)
    }
}

/// Suggests the one of `known` whose quoted name is nearest to `name`, if one is near.
pub(super) fn near(name: &str, known: &[String]) -> String {
    let quoted = known.iter().filter_map(|known| known.split('`').nth(1));
    let near = nearest(name, quoted);
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}
