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
