//! Settings that a person adds before anything is judged: sites that `scan` did not read, and the
//! operator's key.
//!
//! ```text
//! {"anchors":[{"quest":1,"anchor":{"site":"acme.co.kr"}}],"operator_key":"ed25519:…","by":"kim"}
//! ```
//!
//! Existing settings are never replaced: a quest keeps its first site, and a session keeps its key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::{DecisionPolicy, OperatorKey, Seal, decided};
use super::state::IllegalEvent;
use crate::base::Digest;
use crate::quest::{Anchor, QuestId};

/// The body of `amended`: settings that `scan --update` added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Amended {
    /// What the list names for quests scanned without it, in the order of the quests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<AddedAnchor>,
    /// The public half of the operator's key, which is required from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_key: Option<OperatorKey>,
    /// Who added it.
    pub by: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// What is known of a quest that was scanned without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddedAnchor {
    /// The quest.
    pub quest: QuestId,
    /// What is known of it.
    pub anchor: Anchor,
}

decided!(Amended = "amended");

impl Amended {
    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty() && self.operator_key.is_none()
    }

    /// Refuses an impossible event in a session whose key is `key`.
    pub(super) fn check(
        &self,
        has_judged: bool,
        key: Option<OperatorKey>,
    ) -> Result<(), IllegalEvent> {
        let is_ordered = self
            .anchors
            .is_sorted_by(|one, next| one.quest < next.quest);
        if self.is_empty() || !is_ordered {
            return Err("an amendment adds something, and names quests in order");
        }
        if has_judged {
            return Err("settings are added before anything is judged");
        }
        if key.is_some() && self.operator_key.is_some() {
            return Err("the operator's key cannot be replaced");
        }
        Ok(())
    }
}

impl DecisionPolicy {
    /// Applies an event that may add the key. `after` is the hash of the line before it.
    pub fn amend(&mut self, amended: &Amended, after: Digest) {
        if self.key.is_none() && self.admits(amended, after) {
            self.key = amended.operator_key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Verdict;
    use crate::session::open::tests::{at, attempt, made, made_under_key, operator_key, salt};
    use crate::session::{Event, Session, SessionError, SigningKey, VerdictBasis};

    fn sites(quests: &[usize]) -> Amended {
        let anchors = quests.iter().map(|quest| AddedAnchor {
            quest: QuestId::from_index(*quest).unwrap(),
            anchor: Anchor::Site("acme.co.kr".to_owned()),
        });
        Amended {
            anchors: anchors.collect(),
            by: "kim".to_owned(),
            ..Amended::default()
        }
    }

    fn key(bytes: [u8; 32]) -> Amended {
        Amended {
            operator_key: Some(SigningKey::read(&bytes).unwrap().public()),
            by: "kim".to_owned(),
            ..Amended::default()
        }
    }

    fn append(session: &mut Session, event: Event) -> Result<(), SessionError> {
        session.append(&mut (at, salt), |_, _| Ok((vec![event], ())))
    }

    #[track_caller]
    fn refused(session: &mut Session, amended: Amended) {
        let before = session.head();
        let refused = append(session, Event::Amended(Box::new(amended)));
        assert!(
            matches!(refused, Err(SessionError::Illegal(_))),
            "{refused:?}"
        );
        assert_eq!(session.head(), before);
    }

    fn site_of(session: &Session, index: usize) -> Option<Anchor> {
        let record = session.quest_record(QuestId::from_index(index).unwrap());
        let record = record.unwrap().unwrap();
        session.reader().unwrap().quest(&record).unwrap().anchor
    }

    #[test]
    fn adds_a_site_once_and_only_before_a_judgement() {
        let three = made(3);
        let mut session = Session::open(&three.dir).unwrap();
        for impossible in [sites(&[]), sites(&[1, 0]), sites(&[1, 1]), sites(&[3])] {
            refused(&mut session, impossible);
        }
        append(&mut session, Event::Amended(Box::new(sites(&[0, 2])))).unwrap();
        assert!(site_of(&session, 0).is_some() && site_of(&session, 1).is_none());
        refused(&mut session, sites(&[2]));
        append(&mut session, Event::Amended(Box::new(sites(&[1])))).unwrap();
        // What the index holds follows from the ledger.
        assert_eq!(session.projection().unwrap().totals(), &session.totals());
        assert_eq!(session.fold().unwrap().tip().head, session.head());
        assert_eq!(session.repairs(), []);

        let judged = made(2);
        let mut session = Session::open(&judged.dir).unwrap();
        let failed = attempt(&session, 0, Verdict::Fail, VerdictBasis::World);
        append(&mut session, failed).unwrap();
        refused(&mut session, sites(&[1]));
        refused(&mut session, key([7; 32]));
    }

    #[test]
    fn rejects_a_submission_judged_before_a_site_was_added() {
        let made = made(2);
        let mut session = Session::open(&made.dir).unwrap();
        let record = |session: &Session| session.quest_record(QuestId::FIRST).unwrap().unwrap();
        let before = record(&session);
        append(&mut session, Event::Amended(Box::new(sites(&[1])))).unwrap();
        assert!(before.is_judged_by(&record(&session)));
        append(&mut session, Event::Amended(Box::new(sites(&[0])))).unwrap();
        assert!(!before.is_judged_by(&record(&session)));
    }

    #[test]
    fn an_added_key_is_final_and_required_afterwards() {
        let made = made(2);
        let mut session = Session::open(&made.dir).unwrap();
        append(&mut session, Event::Amended(Box::new(key([7; 32])))).unwrap();
        assert_eq!(session.operator_key().unwrap(), key([7; 32]).operator_key);
        // Neither of these counts without the signature.
        for unsigned in [key([8; 32]), sites(&[0])] {
            append(&mut session, Event::Amended(Box::new(unsigned))).unwrap();
        }
        assert_eq!(session.operator_key().unwrap(), key([7; 32]).operator_key);
        assert_eq!(site_of(&session, 0), None);
        assert_eq!(session.totals().counts.unsealed, 2);
        let policy = session.projection().unwrap().policy();
        let signed = |amended, head| policy.seal(amended, head, &operator_key()).unwrap();
        let replaced = signed(key([8; 32]), session.head());
        refused(&mut session, replaced);
        let added = signed(sites(&[0]), session.head());
        append(&mut session, Event::Amended(Box::new(added))).unwrap();
        assert!(site_of(&session, 0).is_some());
    }

    #[test]
    fn requires_a_frozen_key_to_sign_additions() {
        let made = made_under_key(&[vec![]]);
        let mut session = Session::open(&made.dir).unwrap();
        append(&mut session, Event::Amended(Box::new(sites(&[0])))).unwrap();
        assert_eq!(site_of(&session, 0), None);
        let policy = session.config().policy;
        let signed = policy.seal(sites(&[0]), session.head(), &operator_key());
        let signed = Event::Amended(Box::new(signed.unwrap()));
        append(&mut session, signed).unwrap();
        assert!(site_of(&session, 0).is_some());
    }
}
