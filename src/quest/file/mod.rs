//! Quest files: a quest kind written down in TOML, with no Rust.
//!
//! This is the file as it is written: its tables, their places and what is wrong with them. What
//! a `[[check]]` means belongs to the gate, which reads the tables that are kept here.

mod control;
mod document;
mod panel;
mod panel_tables;
mod read;
mod starter;
mod tables;

pub use control::{ControlTable, FinalControlTable, FinalPart, NegativeTable};
pub use document::{HeadTable, QuestFile};
pub use panel::Panel;
pub use panel_tables::{
    AnswerForm, PanelTable, PlantTable, QuestionTable, ReviewerKind, ReviewerNetwork,
    ReviewerTable, Threshold,
};
pub(crate) use read::is_kebab;
pub use read::{Mistake, RawTable, Spot, nearest, unknown_name};
pub use starter::starter;
pub use tables::{
    FieldTable, FixerTable, InputFormat, InputTable, ReadyTable, ServiceTable, TreeTable,
};
