//! Quest files: a quest kind written down in TOML, with no Rust.
//!
//! This is the file as it is written: its tables, their places and what is wrong with them. What
//! a `[[check]]` means belongs to the gate, which reads the tables that are kept here.

mod control;
mod document;
mod field_table;
mod final_part;
mod fixer;
mod input;
mod mistake;
mod panel;
mod panel_fits;
mod panel_hold;
mod panel_table;
mod panel_ways;
mod plant;
mod question;
mod read;
mod reviewer;
mod service;
mod starter;
mod tree;

pub use control::ControlTable;
pub(crate) use document::is_kebab;
pub use document::{HeadTable, QuestFile};
pub use field_table::FieldTable;
pub use final_part::{FinalControlTable, FinalPart, NegativeTable};
pub use fixer::FixerTable;
pub use input::{InputFormat, InputTable};
pub use mistake::{Mistake, nearest, unknown_name};
pub use panel::Panel;
pub use panel_table::{PanelTable, Threshold};
pub use plant::PlantTable;
pub use question::QuestionTable;
pub use read::{RawTable, Spot};
pub use reviewer::{AnswerForm, ReviewerKind, ReviewerNetwork, ReviewerTable};
pub use service::{ReadyTable, ServiceTable};
pub use starter::starter;
pub use tree::TreeTable;
