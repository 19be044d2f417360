//! The rows of a sheet that came back, as far as they are taken back by.

use super::columns::{Column, Places, WrongColumns};

/// A row in which something was decided, or could have been.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filled {
    /// Its number, as the sheet shows it.
    pub row: u32,
    /// What stands in its columns.
    pub id: String,
    /// The key.
    pub key: String,
    /// When the attempt was judged.
    pub judged: String,
    /// The attempt.
    pub attempt: String,
    /// What was decided.
    pub decision: String,
    /// Why.
    pub note: String,
    /// The session.
    pub session: String,
}

/// The most text of a sheet that is kept.
const MOST_BYTES: usize = 64 << 20;

/// Why no row is taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    /// It is none of the queue.
    #[error(transparent)]
    Columns(#[from] WrongColumns),
    /// It holds more than any queue.
    #[error("its ids, keys, decisions and notes are more than {MOST_BYTES} bytes")]
    TooLarge,
}

/// Gathers the rows of a sheet, one after the other.
#[derive(Debug, Default)]
pub struct Filling {
    places: Option<Places>,
    bytes: usize,
    rows: Vec<Filled>,
}

impl Filling {
    /// Takes the next row of the sheet, with all its cells.
    pub fn take(&mut self, row: u32, cells: &[String]) -> Result<(), NotFilled> {
        let Some(places) = self.places else {
            self.places = Places::find(cells).transpose()?;
            return Ok(());
        };
        let text = |column| places.text(cells, column).to_owned();
        let decision = text(Column::Decision);
        let mut filled = Filled {
            row,
            id: text(Column::Id),
            session: text(Column::Session),
            decision,
            ..Filled::default()
        };
        if filled.decision.is_empty() {
            if filled.id.is_empty() {
                return Ok(());
            }
        } else {
            filled.key = text(Column::Key);
            filled.judged = text(Column::Judged);
            filled.attempt = text(Column::Attempt);
            filled.note = text(Column::Note);
        }
        self.bytes = self.bytes.saturating_add(filled.bytes());
        if self.bytes > MOST_BYTES {
            return Err(NotFilled::TooLarge);
        }
        self.rows.push(filled);
        Ok(())
    }

    /// All rows that name a quest or decide something.
    pub fn finish(self) -> Result<Vec<Filled>, NotFilled> {
        match self.places {
            Some(_) => Ok(self.rows),
            None => Err(WrongColumns::all_missing().into()),
        }
    }
}

impl Filled {
    /// What it takes to keep it.
    fn bytes(&self) -> usize {
        let texts = [
            &self.id,
            &self.key,
            &self.judged,
            &self.attempt,
            &self.decision,
            &self.note,
            &self.session,
        ];
        size_of::<Self>() + texts.map(String::len).iter().sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    fn headed() -> Filling {
        let mut filling = Filling::default();
        let headings = row(&Column::ALL.map(Column::heading));
        filling.take(1, &row(&["a title"])).unwrap();
        filling.take(2, &headings).unwrap();
        filling
    }

    #[test]
    fn rows_that_neither_name_a_quest_nor_decide_are_passed_over() {
        let mut filling = headed();
        filling.take(3, &row(&["", "total", "3"])).unwrap();
        filling.take(4, &row(&["", "", "", "", "accept"])).unwrap();
        filling.take(5, &row(&["1"])).unwrap();
        let rows = filling.finish().unwrap();
        let rows: Vec<u32> = rows.iter().map(|filled| filled.row).collect();
        assert_eq!(rows, [4, 5]);
    }

    #[test]
    fn more_than_any_queue_is_refused() {
        let mut filling = headed();
        let note = "n".repeat(1 << 20);
        let decided = row(&["1", "k", "", "1", "accept", &note]);
        let taken = (3..)
            .take(64)
            .find_map(|at| filling.take(at, &decided).err());
        assert_eq!(taken, Some(NotFilled::TooLarge));
    }

    #[test]
    fn a_sheet_without_headings_is_refused() {
        let missing = Filling::default().finish();
        let expected = NotFilled::Columns(WrongColumns::all_missing());
        assert_eq!(missing, Err(expected));
    }
}
