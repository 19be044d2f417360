//! Repeats recorded judgements from their evidence.
//!
//! `audit`, `carry`, the review queue and the page use this. The same program with the same settings
//! makes the recorded judgement again, byte for byte.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::gate::{Case, Gate, Judgement, common_rules};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::is_masked;
use crate::judge::kind::SessionKind;
use crate::judge::panel::SessionGate;
use crate::judge::recorded::judge_from;
use crate::quest::{Quest, Seen, Submission};
use crate::session::{Attempt, EvidenceStore, Manifest, Resolution, VerdictBasis};
use crate::world::evidence::{BadPack, BodyRef, Evidence, Recording, unpack};

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

/// The attempt of a REVIEW, with the judgement that resolved it instead of its own.
///
/// Everything that repeats a judgement takes an attempt, so the same rules apply to a resolution.
#[must_use]
pub fn resolved(attempt: Attempt, resolution: &Resolution) -> Attempt {
    Attempt {
        verdict: resolution.verdict,
        grounds: resolution.grounds,
        rules: resolution.rules.clone(),
        holds: resolution.holds.clone(),
        seen: seen_in(&resolution.judgement),
        revision: false,
        judgement: resolution.judgement.clone(),
        evidence: resolution.evidence.clone(),
        ..attempt
    }
}

/// How the pages of a recorded judgement were seen.
fn seen_in(judgement: &RawValue) -> Option<Seen> {
    let judgement: Judgement = serde_json::from_str(judgement.get()).ok()?;
    judgement.seen
}

/// Whether `judgement` is the recorded one, byte for byte.
pub(super) fn is_recorded(attempt: &Attempt, judgement: &Judgement) -> bool {
    serde_json::to_string(judgement).is_ok_and(|text| text == attempt.judgement.get())
}

/// The judgement that needs no gate: the submission says that nothing was found, repeats the attempt
/// `earlier`, contained a forgotten address, or would break earlier PASSes.
///
/// The masked submission does not prove that it contained one. The record is trusted, because it can
/// only be a FAIL.
pub(super) fn without_gate(
    attempt: &Attempt,
    earlier: Option<u32>,
) -> Option<(Judgement, VerdictBasis)> {
    // `Submitted::without_gate` decides in the same order.
    let forgotten = common_rules::forgotten_address();
    if is_masked(&attempt.submission) && is_recorded(attempt, &forgotten) {
        return Some((forgotten, VerdictBasis::Submission));
    }
    // It rests on the accepted tree and on earlier PASSes as they were then.
    if let Ok(judgement) = serde_json::from_str::<Judgement>(attempt.judgement.get())
        && common_rules::is_of_rule(&judgement, &common_rules::BREAKS_PASSED)
    {
        return Some((judgement, VerdictBasis::World));
    }
    match &attempt.submission {
        Submission::None(why) => Some((common_rules::no_result(why), VerdictBasis::NoResult)),
        Submission::Fields(_) => {
            let repeated = common_rules::repeated_submission(earlier?);
            Some((repeated, VerdictBasis::Repeat))
        }
    }
}

/// Repeats the judgements of one session, without lookups or writes.
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

    /// Judges `attempt` again. `earlier` is the attempt that it repeats.
    pub fn replay(
        &self,
        quest: &Quest,
        attempt: &Attempt,
        earlier: Option<u32>,
    ) -> Result<Judgement, ReplayError> {
        match without_gate(attempt, earlier) {
            Some((judgement, _)) => Ok(judgement),
            None => self.judge(quest, attempt).map(|(judgement, _)| judgement),
        }
    }

    /// Judges `attempt` with the gate, and returns the evidence too.
    pub fn judge(
        &self,
        quest: &Quest,
        attempt: &Attempt,
    ) -> Result<(Judgement, Recording), ReplayError> {
        let recording = self.recording(&attempt.evidence)?;
        let case = Case::new(quest, &attempt.submission);
        let judgement = judge_from(&self.gate, case, &recording);
        Ok((judgement.ok_or(ReplayError::Unanswered)?, recording))
    }

    pub fn recording(&self, evidence: &RawValue) -> Result<Recording, ReplayError> {
        let evidence = serde_json::from_str(evidence.get()).map_err(ReplayError::Evidence)?;
        with_bodies(evidence, &self.store)
    }
}

pub(super) fn with_bodies(
    evidence: Evidence,
    store: &EvidenceStore,
) -> Result<Recording, ReplayError> {
    let mut bodies = BTreeMap::new();
    for named in evidence.bodies() {
        let digest = named.sha256;
        let packed = store.load(digest).map_err(JudgeError::from)?;
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
