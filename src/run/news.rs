//! What a run tells while it goes on.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quest::Key;
use crate::session::{Began, DrivenAttempt, DrivenQuest, Reason, RunId, State};

/// What a run tells while it goes on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum News {
    /// It began.
    Began {
        /// The run.
        run: RunId,
        /// How.
        #[serde(flatten)]
        began: Began,
    },
    /// A start of the agent came to its end.
    Attempt {
        /// The quest's key.
        key: Key,
        /// Whether it was the last call, after a budget had ended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last_call: bool,
        /// What came of it.
        #[serde(flatten)]
        attempt: DrivenAttempt,
    },
    /// The drive of a quest came to its end.
    Quest {
        /// The quest's key.
        key: Key,
        /// Where it stands.
        state: State,
        /// What came of it.
        #[serde(flatten)]
        quest: DrivenQuest,
    },
    /// It ended.
    Ended {
        /// The run.
        run: RunId,
        /// Why.
        reason: Reason,
    },
    /// Something that people should know, on stderr.
    #[schemars(skip)]
    Note {
        /// It.
        text: String,
    },
}
