//! What a quest is: its id and key, its fields, a submission, and a verdict on one.

pub mod email;
pub mod field;
pub mod file;
pub mod prompt;
pub mod template;

mod dependencies;
pub mod json;
mod key;
mod kind;
mod listing;
mod review_input;
mod submission;
mod units;

pub use dependencies::DependencyError;
pub use field::{Field, FieldKind, FieldName, NO_EXAMPLE, Shape};
pub use key::{EmptyKey, FoldedKey, Key, Nearest, QuestId, meant};
pub use kind::{Anchor, QuestKind};
pub use listing::{Listed, Listing, ListingCounts, ListingError, OtherCells, Row};
pub use prompt::listed;
pub use review_input::{BadReviewInput, ReviewInput};
pub use submission::{
    BadFields, Fields, Seen, Submission, Verdict, fields_of, map_schema, missing, submission_schema,
};
pub use units::{BadSize, BadSpan, ByteSize, Span};

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
    /// Further columns that checks use and no prompt shows by itself; without blank ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Shown>,
    /// The quests that must have passed before it is handed out, in order and without repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<QuestId>,
    /// The rows of the list that it covers, counted from 1 as a spreadsheet counts.
    pub rows: Vec<u32>,
}

impl Quest {
    /// A quest with only a name.
    pub fn new(id: QuestId, key: Key) -> Self {
        Self {
            id,
            key,
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// All other columns of the list: the anchor, those that prompts show, and those that only checks
    /// use.
    pub fn listed(&self) -> Vec<Shown> {
        listed(self.anchor.as_ref(), &self.shown, &self.known)
    }

    /// The text of the column with this heading, if the quest keeps it.
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
