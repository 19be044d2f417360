//! The figures, in the form in which they are shown.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::facts::Recurring;
use super::tally::Driven;
use super::who::Who;

/// What costs tries, over one or several sessions.
///
/// Counts are as they are; shares and averages weigh each session by how long ago its last line
/// was written, against the newest of them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Insights {
    /// After how many days a session counts half.
    pub half_life_days: u32,
    /// The sessions, the newest first.
    pub sessions: Vec<SessionInsight>,
    /// All submissions together.
    pub all: Work,
    /// The same by agent and model.
    pub agents: Vec<AgentInsights>,
    /// What each rule cost, the dearest first.
    pub rules: Vec<RuleInsight>,
    /// The facts that were found more than once, the most frequent first.
    pub facts: Vec<Recurring>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionInsight {
    /// Its directory, as it was named.
    pub session: String,
    /// The name of its quest kind.
    pub kind: String,
    /// When its last line was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
    /// How much it counts.
    pub weight: f64,
    /// Its submissions.
    pub submissions: u32,
}

/// What some submissions came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Work {
    /// Quests with a submission, of each session apart.
    pub quests: u32,
    /// Submissions.
    pub submissions: u32,
    /// PASSes.
    pub passed: u32,
    /// Submissions for a quest, on average.
    pub tries_per_quest: Option<f64>,
    /// Of the quests begun, those that passed at the first try.
    pub first_try: Share,
    /// Starts of an agent.
    pub starts: u32,
    /// What runs drove, and what of it came to no submission.
    pub driven: DrivenWork,
    /// Seconds of an agent for a PASS; none where no run drove one.
    pub seconds_per_pass: Option<f64>,
    /// Tokens of an agent for a PASS.
    pub tokens_per_pass: Option<f64>,
    /// Whether some of the tokens are estimated.
    pub tokens_estimated: bool,
}

/// What runs drove, and what of it came to no submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrivenWork {
    /// Quests at which an agent was started.
    pub quests: u32,
    /// PASSes of started agents.
    pub passed: u32,
    /// Quests for which they never submitted.
    pub unanswered: u32,
    /// Starts without a submission.
    pub silent_starts: u32,
    /// How long these took, in milliseconds.
    pub silent_milliseconds: u64,
    /// What these used up.
    pub silent_tokens: u64,
    /// Whether that is estimated in part.
    pub silent_estimated: bool,
}

impl DrivenWork {
    /// The figures of these counts.
    #[must_use]
    pub fn of(driven: &Driven) -> Self {
        let spent = driven.silent_spent;
        Self {
            quests: driven.quests,
            passed: driven.passed,
            unanswered: driven.unanswered,
            silent_starts: driven.silent,
            silent_milliseconds: driven.silent_milliseconds,
            silent_tokens: spent.map_or(0, |spent| spent.tokens),
            silent_estimated: spent.is_some_and(|spent| !spent.told),
        }
    }
}

/// A part of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// The part.
    pub part: u32,
    /// The whole.
    pub of: u32,
    /// The share, where long ago counts less; none of nothing.
    pub share: Option<f64>,
}

/// What one agent came to, with one model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentInsights {
    /// Which.
    #[serde(flatten)]
    pub who: Who,
    /// What it came to.
    #[serde(flatten)]
    pub work: Work,
    /// What each rule cost it, the dearest first.
    pub rules: Vec<RuleInsight>,
}

/// What a rule cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleInsight {
    /// The rule.
    pub rule: String,
    /// In how many failed submissions it fired.
    pub tries: u32,
    /// In how many quests; not told by agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quests: Option<u32>,
    /// How many tries that counts for, where long ago counts less.
    pub weighted: f64,
}
