//! A recorded judgement, whatever kind of line holds it.

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::judge::Recorded;
use crate::quest::{QuestId, Submission, Verdict};
use crate::session::{Attempt, Grounds, Mark, Resolution};

/// A recorded judgement, and what its line says beside it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    pub quest: QuestId,
    pub submission: &'a Submission,
    pub submitted: Option<Digest>,
    pub verdict: Verdict,
    pub grounds: Grounds,
    pub rules: &'a [String],
    pub anchored: Option<bool>,
    pub holds: &'a [Mark],
    pub revision: bool,
    pub judgement: &'a RawValue,
    pub evidence: &'a RawValue,
}

impl<'a> Judged<'a> {
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

    #[must_use]
    pub fn proves(&self) -> bool {
        self.verdict == Verdict::Pass
    }

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
