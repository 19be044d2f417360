//! What a quest is: its id and key, its fields, a submission, and a verdict on one.

pub mod email;
pub mod field;
pub mod field_kind;
pub mod file;
pub mod ijson;
mod own_lines;
pub mod prompt;
pub mod surrogates;
pub mod template;
mod template_calls;

mod anchor;
mod byte_size;
mod dependencies;
mod fields_of;
mod id;
mod key;
mod kind;
mod listed;
mod listing;
mod lookup;
mod map_schema;
mod sight;
mod span;
mod submission;
mod submission_schema;
mod verdict;

pub use anchor::Anchor;
pub use byte_size::{BadSize, ByteSize};
pub use dependencies::DependencyError;
pub use field::{Field, FieldName};
pub use fields_of::{BadFields, fields_of, missing};
pub use id::QuestId;
pub use key::{EmptyKey, FoldedKey, Key};
pub use kind::QuestKind;
pub use listed::listed;
pub use listing::{Listing, ListingCounts, Row, Told, TooManyQuests};
pub use lookup::{Nearest, meant};
pub use map_schema::map_schema;
pub use sight::{BadSight, Sight};
pub use span::{BadSpan, Span};
pub use submission::{Fields, Submission};
pub use submission_schema::submission_schema;
pub use verdict::Verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One unit of work, as `scan` made it from the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quest {
    /// Its number, in input order.
    pub id: QuestId,
    /// Its name in the list.
    pub key: Key,
    /// What the operator knows about it beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// Other columns that the prompt shows, in the order asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// Further columns that checks go by, which no prompt shows by itself; none that are blank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Shown>,
    /// The quests that must have passed before it is handed out, in order and without repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<QuestId>,
    /// The rows of the list that it stands for, counted from 1 as a spreadsheet counts.
    pub rows: Vec<u32>,
}

impl Quest {
    /// All that the list says of it beside its key, as people are shown it: what is known
    /// beforehand, what prompts show, and what checks alone go by.
    #[must_use]
    pub fn listed(&self) -> Vec<Shown> {
        listed(self.anchor.as_ref(), &self.shown, &self.known)
    }

    /// The text of the column with this heading, of those that the quest keeps.
    #[must_use]
    pub fn cell(&self, label: &str) -> Option<&str> {
        let mut cells = self.known.iter().chain(&self.shown);
        cells
            .find(|cell| cell.label == label)
            .map(|cell| cell.text.as_str())
    }
}

/// One cell of the list, under its column's heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// The column's heading.
    pub label: String,
    /// The cell's text, as the sheet shows it.
    pub text: String,
}
