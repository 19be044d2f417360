//! What makes a locked quest TODO again: a PASS that no longer holds, or a person's decision.
//!
//! ```text
//! {"quest":3,"attempt":2,"rules":["tests-pass"],"judgement":{…}}
//! {"quests":[{"quest":3,"attempt":2}],"by":"kim","note":"the list was wrong"}
//! ```
//!
//! The quest gets all its tries back. What its earlier PASS holds for it alone stays held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::decision::{Seal, SettledQuest, decided};
use crate::quest::QuestId;

/// The body of `regressed`: the gate fails a PASS by the tree and the commands as they are now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regressed {
    /// The quest.
    pub quest: QuestId,
    /// The attempt that had passed; 0 for a PASS that was carried into the session.
    pub attempt: u32,
    /// The rules that fired, each once.
    pub rules: Vec<String>,
    /// The judgement, as the gate wrote it.
    pub judgement: Box<RawValue>,
}

/// The body of `reopened`: a person makes locked quests TODO again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reopened {
    /// The quests, in order, with their last attempts.
    pub quests: Vec<SettledQuest>,
    /// Who decided.
    pub by: String,
    /// Why.
    pub note: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

decided!(Reopened = "reopened");
