//! What the session itself knows: the addresses that it has passed before.

use serde::{Deserialize, Serialize};

use super::domain::RegistrableDomain;
use super::mailbox::Mailbox;
use crate::quest::{FieldName, Key};

/// A question to the session's earlier PASSes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    /// Was this very address passed for another quest?
    Mailbox(Mailbox),
    /// Was an address of this registrable domain passed for another quest?
    Domain(RegistrableDomain),
    /// Was this value of a field passed for another quest?
    Value {
        /// The field.
        field: FieldName,
        /// The value, folded.
        text: String,
    },
}

/// Answers from the session's earlier PASSes of other quests.
#[cfg_attr(test, mockall::automock)]
pub trait Accepted {
    /// The key of the first other quest that holds it.
    fn holder(&self, taken: &Taken) -> Option<Key>;
}
