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

pub use control::ControlTable;
pub use control::{FinalControlTable, FinalPart, NegativeTable};
pub(crate) use document::is_kebab;
pub use document::{HeadTable, QuestFile};
pub use panel::Panel;
pub use panel_tables::PlantTable;
pub use panel_tables::QuestionTable;
pub use panel_tables::{AnswerForm, ReviewerKind, ReviewerNetwork, ReviewerTable};
pub use panel_tables::{PanelTable, Threshold};
pub use read::{Mistake, nearest, unknown_name};
pub use read::{RawTable, Spot};
pub use starter::starter;
pub use tables::FieldTable;
pub use tables::FixerTable;
pub use tables::TreeTable;
pub use tables::{InputFormat, InputTable};
pub use tables::{ReadyTable, ServiceTable};
