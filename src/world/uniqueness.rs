//! What the session itself knows: the values that it has accepted before, what reviewers doubted,
//! and whether they may be asked.

use serde::{Deserialize, Serialize};

use super::domain::RegistrableDomain;
use super::mailbox::Mailbox;
use crate::quest::{FieldName, Key};

/// A question to the session's earlier PASSes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UniqueValue {
    Mailbox(Mailbox),
    /// Was an address of this registrable domain passed for another quest?
    Domain(RegistrableDomain),
    /// Was this value of a field passed for another quest?
    Value {
        field: FieldName,
        text: String,
    },
}

/// A reviewer's doubt of an earlier answer to the same quest, which was sent back for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierDoubt {
    pub reviewer: String,
    pub question: String,
    pub quotation: String,
}

/// Answers from the session's earlier PASSes of other quests, and from what it has sent back.
#[cfg_attr(test, mockall::automock)]
pub trait UniquenessIndex {
    /// The key of the first other quest that holds it.
    fn holder(&self, value: &UniqueValue) -> Option<Key>;

    /// What reviewers doubted of earlier answers to this quest, the earliest first.
    fn doubts(&self) -> Vec<EarlierDoubt> {
        Vec::new()
    }

    /// Whether reviewers may be asked about this answer; that they are is on record before they
    /// are.
    fn may_ask(&self) -> bool {
        true
    }
}
