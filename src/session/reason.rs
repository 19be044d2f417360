//! Why an attempt, a quest's drive or a run ended: one label each.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why something that a run did ended.
///
/// An attempt is one start of the agent, a quest's drive all its starts for one quest, and a run
/// all its quests.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The quest is no longer in TODO: the one good end of an attempt and of a quest.
    Settled,
    /// Nothing is TODO: the one good end of a run.
    Complete,
    /// The agent was started as often as it may be.
    Attempts,
    /// As many quests were driven as may be.
    Quests,
    /// The run's time is over.
    WallClock,
    /// The quest's time is over.
    QuestTimeout,
    /// The tokens are used up.
    Tokens,
    /// The money is used up.
    Cost,
    /// The agent goes on and brings little that is new.
    Diminishing,
    /// The same was submitted again and again.
    Repeat,
    /// The agent asks where it stands over and over.
    Poll,
    /// The agent goes to and fro between two answers.
    PingPong,
    /// Nothing got any further for too long, or the agent dies at each start.
    Breaker,
    /// The unproven streak pauses the session.
    Paused,
    /// The agent was not allowed what it needs.
    PermissionDenied,
    /// The agent ended without settling the quest.
    AgentFailed,
    /// Something failed on our side.
    Error,
    /// A person ended the run, or it was killed.
    Interrupted,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 18] = [
        Self::Settled,
        Self::Complete,
        Self::Attempts,
        Self::Quests,
        Self::WallClock,
        Self::QuestTimeout,
        Self::Tokens,
        Self::Cost,
        Self::Diminishing,
        Self::Repeat,
        Self::Poll,
        Self::PingPong,
        Self::Breaker,
        Self::Paused,
        Self::PermissionDenied,
        Self::AgentFailed,
        Self::Error,
        Self::Interrupted,
    ];

    /// Its label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Complete => "complete",
            Self::Attempts => "attempts",
            Self::Quests => "quests",
            Self::WallClock => "wall-clock",
            Self::QuestTimeout => "quest-timeout",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Diminishing => "diminishing",
            Self::Repeat => "repeat",
            Self::Poll => "poll",
            Self::PingPong => "ping-pong",
            Self::Breaker => "breaker",
            Self::Paused => "paused",
            Self::PermissionDenied => "permission-denied",
            Self::AgentFailed => "agent-failed",
            Self::Error => "error",
            Self::Interrupted => "interrupted",
        }
    }

    /// What it means, for people.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Settled => "the quest is PASS, REVIEW or DONE",
            Self::Complete => "nothing is TODO",
            Self::Attempts => "the agent was started as often as it may be",
            Self::Quests => "as many quests were driven as may be",
            Self::WallClock => "the run's time is over",
            Self::QuestTimeout => "the quest's time is over",
            Self::Tokens => "the tokens are used up",
            Self::Cost => "the money is used up",
            Self::Diminishing => "the agent went on and brought little that was new",
            Self::Repeat => "the same was submitted again and again",
            Self::Poll => "the agent asked where it stands over and over",
            Self::PingPong => "the agent went to and fro between two answers",
            Self::Breaker => "nothing got further for too long, or agents died at their start",
            Self::Paused => "the unproven streak pauses the session",
            Self::PermissionDenied => {
                "the agent is not logged in, or was not allowed what it needs"
            }
            Self::AgentFailed => "the agent ended, and its quest was not settled",
            Self::Error => "something failed on our side",
            Self::Interrupted => "Ctrl-C, or the run was killed",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_written_as_its_label() {
        for reason in Reason::ALL {
            let text = format!("\"{}\"", reason.label());
            assert_eq!(serde_json::to_string(&reason).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), reason);
        }
    }
}
