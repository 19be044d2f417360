//! The picture of a session: what the HTML page shows, as values.

mod quest_row;
mod spread;
mod whole;

pub use quest_row::{ExcerptRow, FactRow, Labelled, Piece, QuestRow, Step};
pub use spread::{Bar, Marks, Spread};
pub use whole::{FunnelStep, Picture, Remaining, RuleRow, Word, WorkerRow};
