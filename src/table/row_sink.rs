//! Where the readers of all formats put cells, and from where whole rows go on.

use std::ops::ControlFlow;

use super::column::{ColumnIndex, MAX_COLUMNS};

/// What is done with one row: its number and the cells asked for.
pub type Visit<'a> = dyn FnMut(u32, &[String]) -> ControlFlow<()> + 'a;

#[derive(Debug, Clone)]
pub enum Wanted {
    All,
    These(Vec<ColumnIndex>),
}

/// Gathers the cells of one row at a time; a row without any is passed over.
pub struct RowSink<'a> {
    slots: Option<Vec<Option<usize>>>,
    copies: Vec<(usize, usize)>,
    cells: Vec<String>,
    row: u32,
    blank: bool,
    visit: &'a mut Visit<'a>,
}

impl<'a> RowSink<'a> {
    /// A sink that keeps the columns `wanted` and gives whole rows to `visit`.
    pub fn new(wanted: &Wanted, visit: &'a mut Visit<'a>) -> Self {
        let mut copies = Vec::new();
        let (slots, width) = match wanted {
            Wanted::All => (None, 0),
            Wanted::These(columns) => {
                let last = columns.iter().map(|column| column.index()).max();
                let mut slots = vec![None; last.map_or(0, |last| last + 1)];
                for (slot, column) in columns.iter().enumerate() {
                    match slots[column.index()] {
                        None => slots[column.index()] = Some(slot),
                        Some(first) => copies.push((first, slot)),
                    }
                }
                (Some(slots), columns.len())
            }
        };
        Self {
            slots,
            copies,
            cells: vec![String::new(); width],
            row: 0,
            blank: true,
            visit,
        }
    }

    /// Says that the next cells are of `row`, counted from 1; the row before goes on.
    pub fn at_row(&mut self, row: u32) -> ControlFlow<()> {
        if row == self.row {
            return ControlFlow::Continue(());
        }
        self.finish()?;
        self.row = row;
        ControlFlow::Continue(())
    }

    /// Says that the row has a cell at `column`, counted from 0, that is not blank; gives the
    /// place for its text, empty, if it is wanted.
    pub fn cell(&mut self, column: usize) -> Option<&mut String> {
        self.blank = false;
        let slot = match &self.slots {
            Some(slots) => (*slots.get(column)?)?,
            None if column < MAX_COLUMNS as usize => {
                if self.cells.len() <= column {
                    self.cells.resize(column + 1, String::new());
                }
                column
            }
            None => return None,
        };
        let text = self.cells.get_mut(slot)?;
        text.clear();
        Some(text)
    }

    /// Puts `text` in the row at `column` unless it is blank.
    pub fn put(&mut self, column: usize, text: &str) {
        if !text.trim().is_empty()
            && let Some(place) = self.cell(column)
        {
            place.push_str(text);
        }
    }

    pub fn finish(&mut self) -> ControlFlow<()> {
        if self.blank {
            return ControlFlow::Continue(());
        }
        for &(from, to) in &self.copies {
            let text = self.cells[from].clone();
            self.cells[to] = text;
        }
        let flow = (self.visit)(self.row, &self.cells);
        match self.slots {
            Some(_) => self.cells.iter_mut().for_each(String::clear),
            None => self.cells.clear(),
        }
        self.blank = true;
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(wanted: &Wanted, cells: &[(u32, usize, &str)]) -> Vec<(u32, Vec<String>)> {
        let mut rows = Vec::new();
        let mut visit = |row, cells: &[String]| {
            rows.push((row, cells.to_vec()));
            ControlFlow::Continue(())
        };
        let mut sink = RowSink::new(wanted, &mut visit);
        for &(row, column, text) in cells {
            assert!(sink.at_row(row).is_continue());
            sink.put(column, text);
        }
        assert!(sink.finish().is_continue());
        drop(sink);
        rows
    }

    #[test]
    fn keeps_the_order_asked_for_and_no_cell_of_the_row_before() {
        let columns = ["C", "A", "C"].map(|letter| letter.parse().unwrap());
        let rows = visited(
            &Wanted::These(columns.to_vec()),
            &[
                (1, 0, "a"),
                (1, 2, "c"),
                (2, 1, "b"),
                (3, 0, " "),
                (9, 2, "z"),
            ],
        );
        let texts = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        assert_eq!(
            rows,
            [
                (1, texts(["c", "a", "c"])),
                (2, texts(["", "", ""])),
                (9, texts(["z", "", "z"]))
            ]
        );
    }

    #[test]
    fn all_cells_grow_with_the_row() {
        let rows = visited(
            &Wanted::All,
            &[(1, 3, "d"), (2, 0, "a"), (2, 99_999, "far")],
        );
        assert_eq!(rows[0].1.len(), 4);
        assert_eq!(rows[1], (2, vec!["a".to_owned()]));
    }
}
