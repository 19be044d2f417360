//! A recorded judgement, whatever kind of line holds it.

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::judge::Recorded;
use crate::quest::{QuestId, Submission, Verdict};
use crate::session::{Attempt, Grounds, Mark, Resolution};

/// A recorded judgement, and what its line says beside it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The quest.
    pub quest: QuestId,
    /// What was submitted.
    pub submission: &'a Submission,
    /// The submission's digest, where the line has it.
    pub submitted: Option<Digest>,
    /// What the gate said.
    pub verdict: Verdict,
    /// What it rests on.
    pub grounds: Grounds,
    /// The rules that fired.
    pub rules: &'a [String],
    /// Whether the quest has an anchor, where the line says so.
    pub anchored: Option<bool>,
    /// What it takes for its quest.
    pub holds: &'a [Mark],
    /// Whether it was sent back for a revision.
    pub revision: bool,
    /// The judgement.
    pub judgement: &'a RawValue,
    /// What the gate saw.
    pub evidence: &'a RawValue,
}

impl<'a> Judged<'a> {
    /// The judgement of a resolution, which is on what an earlier attempt submitted.
    #[must_use]
    pub fn again(resolution: &'a Resolution, submission: &'a Submission) -> Self {
        Self {
            quest: resolution.quest,
            submission,
            submitted: None,
            verdict: resolution.verdict,
            grounds: resolution.grounds,
            rules: &resolution.rules,
            anchored: None,
            holds: &resolution.holds,
            revision: false,
            judgement: &resolution.judgement,
            evidence: &resolution.evidence,
        }
    }

    /// Whether it proves its quest.
    #[must_use]
    pub fn proves(&self) -> bool {
        self.verdict == Verdict::Pass
    }

    /// What it takes to judge it again.
    #[must_use]
    pub fn recorded(&self) -> Recorded<'a> {
        Recorded {
            submission: self.submission,
            evidence: self.evidence,
        }
    }
}

impl<'a> From<&'a Attempt> for Judged<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self {
            quest: attempt.quest,
            submission: &attempt.submission,
            submitted: Some(attempt.submitted),
            verdict: attempt.verdict,
            grounds: attempt.grounds,
            rules: &attempt.rules,
            anchored: Some(attempt.anchored),
            holds: &attempt.holds,
            revision: attempt.revision,
            judgement: &attempt.judgement,
            evidence: &attempt.evidence,
        }
    }
}
