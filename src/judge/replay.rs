//! Judges a recorded attempt again from its evidence alone.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::base::Digest;
use crate::gate::{Case, Gate, Judgement, house};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::is_masked;
use crate::judge::kind::SessionKind;
use crate::judge::panel::SessionGate;
use crate::judge::recorded::judge_from;
use crate::quest::{Quest, QuestId, Submission};
use crate::session::{Attempt, EvidenceStore, Manifest, Session, VerdictBasis};
use crate::world::evidence::{BadPack, BodyRef, Evidence, Recording, unpack};

/// Why an attempt cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Drive(#[from] JudgeError),
    /// The session has no such quest.
    #[error("quest {0} is not in this session; the attempt belongs to another one")]
    NoSuchQuest(QuestId),
    /// No earlier attempt sent what this one is said to repeat.
    #[error(
        "attempt {number} of quest {quest} is recorded as a repeat, but no earlier attempt is equal"
    )]
    NoRepeat { quest: QuestId, number: u32 },
    /// The recorded evidence is not evidence.
    #[error("cannot read the recorded evidence: {0}")]
    Evidence(#[source] serde_json::Error),
    /// A body that the evidence names is not stored.
    #[error("the body {digest} is missing from evidence/; restore it from a backup")]
    BodyMissing { digest: Digest },
    /// A stored body cannot be unpacked.
    #[error("the body {digest} in evidence/: {source}")]
    BodyDamaged {
        digest: Digest,
        #[source]
        source: BadPack,
    },
    /// A stored body is not the one that was recorded.
    #[error("the body {digest} in evidence/ was changed; restore it from a backup")]
    BodyChanged { digest: Digest },
    /// The gate asks what the evidence does not answer.
    #[error(
        "the evidence does not answer everything that the gate asks now: it was recorded under \
         other rules, or it was changed"
    )]
    Unanswered,
}

/// A recorded judgement that can be made again.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    pub submission: &'a Submission,
    pub evidence: &'a RawValue,
}

impl<'a> From<&'a Attempt> for Recorded<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self {
            submission: &attempt.submission,
            evidence: &attempt.evidence,
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

    #[must_use]
    pub fn gate(&self) -> &dyn Gate {
        &self.gate
    }

    /// What the gate says of `recorded`, from its own evidence alone.
    ///
    /// Judged by the program and the settings that recorded it, it is the recorded judgement,
    /// byte for byte when serialised.
    pub fn judge(&self, quest: &Quest, recorded: Recorded<'_>) -> Result<Judgement, ReplayError> {
        self.look(quest, recorded).map(|(judgement, _)| judgement)
    }

    pub fn look(
        &self,
        quest: &Quest,
        recorded: Recorded<'_>,
    ) -> Result<(Judgement, Recording), ReplayError> {
        let recording = self.recording(recorded.evidence)?;
        let case = Case {
            quest,
            submission: recorded.submission,
        };
        let judgement = judge_from(&self.gate, case, &recording);
        let judgement = judgement.ok_or(ReplayError::Unanswered)?;
        Ok((judgement, recording))
    }

    pub fn recording(&self, evidence: &RawValue) -> Result<Recording, ReplayError> {
        let evidence: Evidence =
            serde_json::from_str(evidence.get()).map_err(ReplayError::Evidence)?;
        let mut bodies = BTreeMap::new();
        for named in evidence.bodies() {
            bodies.insert(named.sha256, self.body(*named)?);
        }
        Ok(Recording { evidence, bodies })
    }

    fn body(&self, named: BodyRef) -> Result<Vec<u8>, ReplayError> {
        let digest = named.sha256;
        let packed = self.store.load(digest).map_err(JudgeError::from)?;
        let packed = packed.ok_or(ReplayError::BodyMissing { digest })?;
        let body = unpack(&packed, named.bytes)
            .map_err(|source| ReplayError::BodyDamaged { digest, source })?;
        if BodyRef::of(&body) == named {
            Ok(body)
        } else {
            Err(ReplayError::BodyChanged { digest })
        }
    }
}

/// What the gate says of a recorded attempt of any kind; see [`Replayer::judge`].
pub fn replay(session: &Session, attempt: &Attempt) -> Result<Judgement, ReplayError> {
    let standing = session
        .standing(attempt.quest)
        .map_err(JudgeError::from)?
        .ok_or(ReplayError::NoSuchQuest(attempt.quest))?;
    if is_masked(&attempt.submission) && attempt.rules == [house::FORGOTTEN_ADDRESS.id.as_str()] {
        return Ok(house::forgotten_address());
    }
    if let Submission::None(why) = &attempt.submission {
        return Ok(house::no_result(why));
    }
    if attempt.grounds == VerdictBasis::Repeat {
        let earlier = session
            .repeats(attempt.quest, attempt.submitted)
            .map_err(JudgeError::from)?;
        return match earlier.filter(|number| *number < attempt.number) {
            Some(number) => Ok(house::repeated_submission(number)),
            None => Err(ReplayError::NoRepeat {
                quest: attempt.quest,
                number: attempt.number,
            }),
        };
    }
    let quest = session.quest(&standing).map_err(JudgeError::from)?;
    Replayer::new(session.manifest(), session.evidence())?.judge(&quest, attempt.into())
}

#[cfg(test)]
mod tests;
