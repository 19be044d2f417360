//! The picture of a session: what the HTML page shows, as values.

mod quest_row;
mod spread;
mod whole;

pub use quest_row::{ExcerptRow, FactRow, FactRows, Labelled, Piece, QuestRow, Step, Worth};
pub use spread::{Bar, Marks, Spread};
pub use whole::{FunnelStep, Picture, Remaining, RuleRow, Word, WorkerRow};
