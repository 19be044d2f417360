//! `run`: the events that a run of an agent records.
//!
//! ```text
//! {"run":"7f3a09c2","what":"began","agent":"claude","model":"…","workers":4}
//! {"run":"7f3a09c2","what":"start","quest":17,"start":1,"worker":"…","agent":"claude","model":"…"}
//! {"run":"7f3a09c2","what":"attempt","quest":17,"start":1,"worker":"…","reason":"agent-failed",
//!  "milliseconds":8120,"spent":{"tokens":5120,"cost":1200000,"told":true},"exit":1}
//! {"run":"7f3a09c2","what":"quest","quest":17,"reason":"attempts","starts":3,"handover":"…"}
//! {"run":"7f3a09c2","what":"ended","reason":"complete"}
//! ```
//!
//! They do not change the state of a quest. Only the gate's verdicts do.

use std::fmt;
use std::str::FromStr;

use crate::base::serde_as_text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::Worker;
use crate::quest::QuestId;

/// The name of one run: eight hexadecimal digits.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9a-f]{8}$"))]
pub struct RunId(u32);

#[derive(Debug, thiserror::Error)]
#[error("the name of a run is eight hexadecimal digits")]
pub struct BadRunId;

impl RunId {
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl FromStr for RunId {
    type Err = BadRunId;

    fn from_str(text: &str) -> Result<Self, BadRunId> {
        let number = u32::from_str_radix(text, 16).map_err(|_| BadRunId)?;
        let run = Self(number);
        (run.to_string() == text).then_some(run).ok_or(BadRunId)
    }
}

serde_as_text!(RunId);

/// The body of `run`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLine {
    /// The run.
    pub run: RunId,
    /// What happened in it.
    #[serde(flatten)]
    pub step: RunStep,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RunStep {
    /// It began.
    Began(Began),
    /// An agent was started, in a run with several agents.
    Start(AgentStart),
    /// A start of the agent came to its end.
    Attempt(DrivenAttempt),
    /// The drive of a quest came to its end.
    Quest(DrivenQuest),
    /// It ended.
    Ended {
        /// Why.
        reason: Reason,
    },
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Began {
    /// What the agent is called: its preset, or its program's name.
    pub agent: String,
    /// The model that the operator says it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The agents that take over from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<LaterAgent>,
    /// How many agents work at once.
    pub workers: u32,
    /// The process that the run is, where the system tells when it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<RunProcess>,
}

/// An agent that takes over from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaterAgent {
    /// What it is called: its preset, or its program's name.
    pub agent: String,
    /// The model that the operator says it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// After how many FAILs of a quest.
    pub after: u32,
}

/// The process that a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunProcess {
    /// Its number.
    pub pid: u32,
    /// When it was started, in the kernel's ticks since the machine was.
    pub started: u64,
}

/// Which agent was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStart {
    /// The quest.
    pub quest: QuestId,
    /// Which start for this quest it is in this run, from 1.
    pub start: u32,
    /// The name under which it holds the quest.
    pub worker: Worker,
    /// What the agent is called.
    pub agent: String,
    /// The model that the operator says it uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The end of one start of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrivenAttempt {
    /// The quest.
    pub quest: QuestId,
    /// Which start for this quest it was in this run, from 1.
    pub start: u32,
    /// The name under which it held the quest.
    pub worker: Worker,
    /// Why it ended.
    pub reason: Reason,
    /// How long it ran, without the time that the machine was suspended.
    pub milliseconds: u64,
    /// What it used up.
    pub spent: Spent,
    /// The exit code of its process, where it ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
}

/// The drive of one quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DrivenQuest {
    /// The quest.
    pub quest: QuestId,
    /// Why it ended.
    pub reason: Reason,
    /// How often the agent was started.
    pub starts: u32,
    /// What the agent said about its progress, for the next agent that works on the quest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Box<str>>,
}

/// What an agent used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// The tokens that the model was sent, with those that a cache served, and those that it wrote.
    pub tokens: u64,
    /// The price in billionths of a US dollar, if the agent reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Whether the agent told it; else the tokens are estimated from what it read and wrote.
    pub told: bool,
}

impl Spent {
    /// The sum. It counts as reported only if both parts were.
    pub fn and(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost,
            told: self.told && other.told,
        }
    }
}

/// Defines the reasons from one list, so that each has a name and a meaning.
macro_rules! reasons {
    ($($variant:ident = $label:literal, $meaning:literal;)+) => {
        /// Why something that a run did ended.
        ///
        /// An attempt is one start of the agent, a quest's drive all its starts for one quest,
        /// and a run all its quests.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Reason {
            $(#[doc = $meaning] $variant,)+
        }

        impl Reason {
            pub const ALL: [Self; [$($label),+].len()] = [$(Self::$variant),+];

            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }

            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
}

// `Settled` is the only good end of an attempt and of a quest, and `Complete` that of a run.
//
// If several reasons apply, the first counts, by `Ord`. A settled quest comes first, whatever else
// ran out. Then come decisions of a person or the session, hard budgets (the run's before the
// quest's), the detectors, the soft budget, and last an agent that ended.
reasons! {
    Settled = "settled", "the quest is PASS, REVIEW or DONE";
    Complete = "complete", "nothing is TODO";
    Interrupted = "interrupted", "Ctrl-C, or the run was killed";
    Paused = "paused", "too many quests in a row ended without a result";
    Error = "error", "comail itself failed";
    NoNetwork = "no-network", "comail could not judge answers, for example for lack of a network";
    PermissionDenied =
        "permission-denied", "the agent lacks a permission";
    FruitlessStarts = "fruitless-starts", "starts in a row brought no submission";
    WallClock = "wall-clock", "the run reached its time limit";
    Cost = "cost", "the cost reached its limit";
    Quests = "quests", "the run reached its number of quests";
    QuestTimeout = "quest-timeout", "the quest reached its time limit";
    Tokens = "tokens", "the tokens reached their limit";
    Attempts = "attempts", "the quest reached its number of starts";
    Escalated = "escalated", "the next agent takes over, after so many FAILs";
    Repeat = "repeat", "the agent repeated the same answer or call";
    PingPong = "ping-pong", "the agent alternated between two answers or calls";
    Poll = "poll", "the agent kept asking for its status";
    Breaker = "breaker", "there was no progress for too long";
    Diminishing = "diminishing", "the agent kept working and brought little that is new";
    Regressed = "regressed", "what had passed broke again and again";
    RateLimited =
        "rate-limited", "the provider of the model limited its rate or was overloaded";
    NotLoggedIn = "not-logged-in", "the provider of the model refused the login";
    Stalled = "stalled", "the agent neither computed nor printed for the length of its lease";
    AgentFailed = "agent-failed", "the agent ended without settling its quest";
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
    fn run_ids_have_eight_digits() {
        assert_eq!(RunId::new(10).to_string(), "0000000a");
        assert_eq!("0000000a".parse::<RunId>().unwrap(), RunId::new(10));
        for bad in ["", "a", "0000000A", "+000000a", "100000000"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn run_lines_round_trip() {
        let line = RunLine {
            run: RunId::new(7),
            step: RunStep::Ended {
                reason: Reason::WallClock,
            },
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(
            text,
            r#"{"run":"00000007","what":"ended","reason":"wall-clock"}"#
        );
        assert_eq!(serde_json::from_str::<RunLine>(&text).unwrap(), line);
    }

    #[test]
    fn reasons_serialize_as_their_labels() {
        for reason in Reason::ALL {
            let text = format!("\"{}\"", reason.label());
            assert_eq!(serde_json::to_string(&reason).unwrap(), text);
            assert_eq!(serde_json::from_str::<Reason>(&text).unwrap(), reason);
        }
    }
}
