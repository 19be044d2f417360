//! Quest files: a quest kind written down in TOML, with no Rust.
//!
//! This is the file as it is written: its tables, their places and what is wrong with them. What
//! a `[[check]]` means belongs to the gate, which reads the tables that are kept here.

mod document;
mod panel;
mod read;
mod starter;
mod tables;

pub use document::{FileTable, FinalPart, QuestFile};
pub use panel::Panel;
#[cfg(test)]
pub(crate) use panel::tests as panel_fixture;
pub(crate) use read::is_kebab;
pub use read::{Mistake, Placed, RawTable, Spot, nearest, unknown_name};
pub use starter::starter;
pub use tables::{
    AnswerForm, ControlTable, FieldTable, FinalControlTable, FixerTable, InputFormat, InputTable,
    NegativeTable, PanelTable, PlantTable, QuestionTable, ReadyTable, ReviewerKind,
    ReviewerNetwork, ReviewerTable, ServiceTable, Threshold, TreeTable,
};
