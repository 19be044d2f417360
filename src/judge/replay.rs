//! Judges what a session recorded again, from its evidence alone.
//!
//! `audit`, `carry`, the review queue and the page all read recorded judgements here. Judged by the
//! program and the settings that recorded it, a judgement is the recorded one, byte for byte.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::gate::{Case, Gate, Judgement, common_rules};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::is_masked;
use crate::judge::kind::SessionKind;
use crate::judge::panel::SessionGate;
use crate::judge::recorded::judge_from;
use crate::quest::{Quest, QuestId, Submission, Verdict};
use crate::session::{Attempt, EvidenceStore, Manifest, Mark, Resolution, VerdictBasis};
use crate::world::evidence::{BadPack, BodyRef, Evidence, Recording, unpack};

/// Why a judgement cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error("cannot read the recorded evidence: {0}")]
    Evidence(#[source] serde_json::Error),
    #[error("the body {digest} is missing from evidence/; restore it from a backup")]
    BodyMissing { digest: Digest },
    #[error("the body {digest} in evidence/: {source}")]
    BodyDamaged {
        digest: Digest,
        #[source]
        source: BadPack,
    },
    #[error("the body {digest} in evidence/ was changed; restore it from a backup")]
    BodyChanged { digest: Digest },
    #[error(
        "the evidence does not answer everything that the gate asks now: it was recorded under \
         other rules, or it was changed"
    )]
    Unanswered,
}

/// A judgement as a line of the ledger records it: of an attempt, or of a REVIEW judged again.
#[derive(Debug, Clone, Copy)]
pub struct LedgerJudgement<'a> {
    pub quest: QuestId,
    pub submission: &'a Submission,
    pub submitted: Option<Digest>,
    pub verdict: Verdict,
    pub grounds: VerdictBasis,
    pub rules: &'a [String],
    pub anchored: Option<bool>,
    pub holds: &'a [Mark],
    pub revision: bool,
    pub judgement: &'a RawValue,
    pub evidence: &'a RawValue,
}

impl<'a> From<&'a Attempt> for LedgerJudgement<'a> {
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

impl<'a> LedgerJudgement<'a> {
    /// What became of a REVIEW whose last attempt sent `submission`.
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

    /// Whether `judgement` is the recorded one, byte for byte.
    pub fn is(&self, judgement: &Judgement) -> bool {
        serde_json::to_string(judgement).is_ok_and(|text| text == self.judgement.get())
    }

    /// The judgement that needs no gate: the submission says that nothing was found, repeats the
    /// attempt `earlier`, or held an address that was forgotten.
    ///
    /// Whether it held one cannot be seen in what is left of it, so that the record is believed: a
    /// FAIL is all that it can claim.
    pub fn without_gate(&self, earlier: Option<u32>) -> Option<(Judgement, VerdictBasis)> {
        let forgotten = common_rules::forgotten_address();
        if is_masked(self.submission) && self.is(&forgotten) {
            return Some((forgotten, VerdictBasis::Submission));
        }
        match self.submission {
            Submission::None(why) => Some((common_rules::no_result(why), VerdictBasis::NoResult)),
            Submission::Fields(_) => {
                let repeated = common_rules::repeated_submission(earlier?);
                Some((repeated, VerdictBasis::Repeat))
            }
        }
    }
}

/// Makes the judgements of one session again. Nothing is looked up and nothing is written.
pub struct Replayer {
    gate: SessionGate,
    store: EvidenceStore,
}

impl Replayer {
    pub fn new(manifest: &Manifest, store: EvidenceStore) -> Result<Self, JudgeError> {
        let gate = SessionKind::load(manifest)?.gate;
        Ok(Self { gate, store })
    }

    pub fn gate(&self) -> &dyn Gate {
        &self.gate
    }

    /// What the session says of `record` again; `earlier` is the attempt that it repeats.
    pub fn replay(
        &self,
        quest: &Quest,
        record: &LedgerJudgement<'_>,
        earlier: Option<u32>,
    ) -> Result<Judgement, ReplayError> {
        match record.without_gate(earlier) {
            Some((judgement, _)) => Ok(judgement),
            None => self.judge(quest, record).map(|(judgement, _)| judgement),
        }
    }

    /// What the gate says of `record`, with the evidence that it says so by.
    pub fn judge(
        &self,
        quest: &Quest,
        record: &LedgerJudgement<'_>,
    ) -> Result<(Judgement, Recording), ReplayError> {
        let recording = self.recording(record.evidence)?;
        let case = Case {
            quest,
            submission: record.submission,
        };
        let judgement = judge_from(&self.gate, case, &recording);
        Ok((judgement.ok_or(ReplayError::Unanswered)?, recording))
    }

    /// The recorded evidence with the bodies that it names.
    pub fn recording(&self, evidence: &RawValue) -> Result<Recording, ReplayError> {
        let evidence: Evidence =
            serde_json::from_str(evidence.get()).map_err(ReplayError::Evidence)?;
        let mut bodies = BTreeMap::new();
        for named in evidence.bodies() {
            let digest = named.sha256;
            let packed = self.store.load(digest).map_err(JudgeError::from)?;
            let packed = packed.ok_or(ReplayError::BodyMissing { digest })?;
            let body = unpack(&packed, named.bytes)
                .map_err(|source| ReplayError::BodyDamaged { digest, source })?;
            if BodyRef::of(&body) != *named {
                return Err(ReplayError::BodyChanged { digest });
            }
            bodies.insert(digest, body);
        }
        Ok(Recording { evidence, bodies })
    }
}
