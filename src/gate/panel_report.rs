//! What each reviewer said of a submission, as a judgement keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::world::sandbox::Usage;

/// What a panel of reviewers said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PanelReport {
    /// The defect that ran along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plant: Option<String>,
    /// The reviewers, in the order of the file.
    pub reviewers: Vec<ReviewerReport>,
}

/// What one reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerReport {
    /// Its name.
    pub name: String,
    /// The model that it is.
    pub model: String,
    /// Whether it found the defect that ran along, and is heard.
    pub counts: bool,
    /// Its votes, in the order of the questions; none where it was not heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteOn>,
    /// What was wrong with its answers beside its votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What both its answers took, where it says so.
    #[serde(default, skip_serializing_if = "is_untold")]
    pub usage: Usage,
}

/// A reviewer's vote on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteOn {
    /// The question.
    pub question: String,
    /// The vote.
    pub vote: Vote,
}

/// A vote on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// Yes: it doubts.
    Doubt(Passage),
    /// It asks, and is not sure enough to doubt.
    Unsure(Passage),
    /// It is so little sure that it counts as no.
    Faint(Passage),
    /// No, and what it has looked at.
    Cleared(String),
    /// No vote, and why.
    Error(String),
}

/// What a doubt rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// Words that stand in what the reviewer was shown.
    pub quotation: String,
    /// The file that they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How sure it is, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
}

impl Vote {
    /// Whether it is a vote at all.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Error(_))
    }

    /// Whether it says that all is well.
    #[must_use]
    pub fn is_clearance(&self) -> bool {
        matches!(self, Self::Cleared(_))
    }

    /// What it doubts by; none for every other vote.
    #[must_use]
    pub fn doubt(&self) -> Option<&Passage> {
        match self {
            Self::Doubt(passage) => Some(passage),
            _ => None,
        }
    }
}

fn is_untold(usage: &Usage) -> bool {
    *usage == Usage::default()
}
