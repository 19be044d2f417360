//! Quest files: quest kinds in TOML.
//!
//! This module parses the tables and reports mistakes with their places. The gate interprets each
//! `[[check]]`.

mod document;
mod panel;
mod read;
mod starter;
mod tables;

#[cfg(test)]
pub(crate) use document::FLAGS;
pub use document::{FileTable, FinalPart, QuestFile};
pub use panel::Panel;
#[cfg(test)]
pub(crate) use panel::tests as panel_fixture;
pub(crate) use read::is_kebab;
pub use read::{Mistake, Placed, RawTable, Spot, nearest, unknown_name};
pub use starter::starter;
pub use tables::{
    AgentTable, AnswerForm, ControlTable, FieldTable, FinalControlTable, FixerTable, InputFormat,
    InputTable, NegativeTable, PanelTable, PlantTable, QuestionTable, ReadyTable, ReviewerKind,
    ReviewerNetwork, ReviewerTable, ServiceTable, Threshold, TreeTable,
};
