//! Judging a recorded attempt again, without a world.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::error::DriveError;
use super::kind::gate_of;
use super::observe::judge_from;
use crate::gate::{Case, Judgement, house};
use crate::quest::{Digest, QuestId, Submission};
use crate::session::{Attempt, Grounds, Session};
use crate::world::evidence::{BadPack, BodyRef, Evidence, Recording, unpack};

/// Why an attempt cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The session, or what it froze.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The session has no such quest.
    #[error("quest {0} is not in this session: its attempt is another session's")]
    NoSuchQuest(QuestId),
    /// No earlier attempt sent what this one is said to repeat.
    #[error("attempt {number} of quest {quest} is recorded as a repeat, and repeats nothing")]
    NoRepeat {
        /// The quest.
        quest: QuestId,
        /// The attempt.
        number: u32,
    },
    /// The recorded evidence is not evidence.
    #[error("the recorded evidence does not read: {0}")]
    Evidence(#[source] serde_json::Error),
    /// A body that the evidence names is not stored.
    #[error("the body {digest} is missing from evidence/: restore it from a copy")]
    BodyMissing {
        /// The body.
        digest: Digest,
    },
    /// A stored body cannot be unpacked.
    #[error("the body {digest} in evidence/: {source}")]
    BodyDamaged {
        /// The body.
        digest: Digest,
        /// What is wrong with it.
        #[source]
        source: BadPack,
    },
    /// A stored body is not the one that was recorded.
    #[error("the body {digest} in evidence/ was changed: restore it from a copy")]
    BodyChanged {
        /// The body.
        digest: Digest,
    },
    /// The gate asks what the evidence does not answer.
    #[error(
        "the evidence does not answer all that the gate asks now: it was recorded under other \
         rules, or was changed"
    )]
    Unanswered,
}

/// What the gate says of a recorded attempt, from the attempt's own evidence alone.
///
/// Judged by the program and the settings that recorded it, it is the recorded judgement, byte
/// for byte when serialised. Nothing is looked up and nothing is written.
pub fn replay(session: &Session, attempt: &Attempt) -> Result<Judgement, ReplayError> {
    let standing = session
        .board()
        .get(attempt.quest)
        .ok_or(ReplayError::NoSuchQuest(attempt.quest))?;
    if let Submission::None(why) = &attempt.submission {
        return Ok(house::no_result(why));
    }
    if attempt.grounds == Grounds::Repeat {
        let earlier = standing.repeats(attempt.submitted);
        return match earlier.filter(|number| *number < attempt.number) {
            Some(number) => Ok(house::repeated_submission(number)),
            None => Err(ReplayError::NoRepeat {
                quest: attempt.quest,
                number: attempt.number,
            }),
        };
    }
    let recording = recording(session, attempt)?;
    let gate = gate_of(session.manifest())?;
    let quest = session.quest(standing).map_err(DriveError::from)?;
    let case = Case {
        quest: &quest,
        submission: &attempt.submission,
    };
    judge_from(gate.as_ref(), case, &recording).ok_or(ReplayError::Unanswered)
}

/// The attempt's evidence with the stored bodies that it names, each held against its digest.
fn recording(session: &Session, attempt: &Attempt) -> Result<Recording, ReplayError> {
    let evidence: Evidence =
        serde_json::from_str(attempt.evidence.get()).map_err(ReplayError::Evidence)?;
    let mut bodies = BTreeMap::new();
    for named in evidence.bodies() {
        bodies.insert(named.sha256, body(session, *named)?);
    }
    Ok(Recording { evidence, bodies })
}

fn body(session: &Session, named: BodyRef) -> Result<Vec<u8>, ReplayError> {
    let digest = named.sha256;
    let packed = session.evidence().load(digest).map_err(DriveError::from)?;
    let packed = packed.ok_or(ReplayError::BodyMissing { digest })?;
    let body = unpack(&packed, named.bytes)
        .map_err(|source| ReplayError::BodyDamaged { digest, source })?;
    if BodyRef::of(&body) == named {
        Ok(body)
    } else {
        Err(ReplayError::BodyChanged { digest })
    }
}
