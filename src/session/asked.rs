//! `asked`: reviewers are asked about an answer, which is on record before they are.
//!
//! Whoever keeps what they say from being recorded, by ending the process or filling the disk,
//! would else have them asked until they say something that suits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::quest::QuestId;

/// The body of `asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The quest.
    pub quest: QuestId,
    /// The number that the attempt is to have.
    pub number: u32,
    /// The digest of what was submitted.
    pub submitted: Digest,
    /// Whether it is taken back: something of ours failed, and nobody has said anything but that
    /// all is well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}
