//! What a person decides: how a REVIEW is settled, and that a PASS is disputed.
//!
//! ```text
//! {"quests":[{"quest":3,"attempt":1}],"decision":"accepted","by":"kim","note":"called them",
//!  "seal":{"after":"<the hash of the line before>","signature":"<128 hexadecimal digits>"}}
//! {"quest":5,"by":"kim","note":"bounced on 3 May"}
//! ```
//!
//! Where the session froze the operator's key, what bears no `seal` by it was decided by nobody:
//! it is counted, told by `audit`, and changes nothing. A seal binds session, place in the
//! ledger and body, so that none can be used again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operator_key::{OperatorKey, Signature, SigningKey};
use crate::base::Digest;
use crate::quest::QuestId;

/// How a person settles a REVIEW. The state stays REVIEW.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The answer is right.
    Accepted,
    /// The answer is wrong.
    Rejected,
    /// An earlier decision is taken back: it is to be settled anew.
    Reopened,
}

impl Decision {
    /// Its name, as the ledger spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Reopened => "reopened",
        }
    }
}

/// The body of `settled`: a person's decision on one REVIEW or on several at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settlement {
    /// The quests, in order.
    pub quests: Vec<SettledQuest>,
    /// The decision on each of them.
    pub decision: Decision,
    /// Who decided.
    pub by: String,
    /// Why.
    pub note: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// A quest that is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettledQuest {
    /// The quest.
    pub quest: QuestId,
    /// The attempt that was looked at.
    pub attempt: u32,
}

/// The body of `disputed`: the world later contradicted what counts as right, as by a bounce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dispute {
    /// The quest.
    pub quest: QuestId,
    /// Who says so.
    pub by: String,
    /// What happened.
    pub note: String,
    /// The operator's seal, where the session froze a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// The operator's signature, and the place in the ledger for which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// The hash of the line before.
    pub after: Digest,
    /// The signature.
    pub signature: Signature,
}

/// What only a person may record.
pub trait Decided: Serialize + Clone {
    /// What keeps one kind from passing for another.
    const KIND: &'static str;

    /// Its seal.
    fn seal(&self) -> Option<&Seal>;

    /// The same under this seal, or under none.
    #[must_use]
    fn under(self, seal: Option<Seal>) -> Self;
}

/// A session, as seals are bound to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Court {
    /// The digest of `session.json`.
    pub session: Digest,
    /// The key that the session froze.
    pub key: Option<OperatorKey>,
}

impl Court {
    /// `decided` with its seal, for the line that follows the one with the hash `after`.
    pub fn seal<T: Decided>(
        &self,
        decided: T,
        after: Digest,
        key: &SigningKey,
    ) -> Result<T, serde_json::Error> {
        let message = self.message(&decided, after)?;
        let signature = key.sign(&message);
        Ok(decided.under(Some(Seal { after, signature })))
    }

    /// Whether `decided` counts where it stands: after the line with the hash `after`.
    #[must_use]
    pub fn admits<T: Decided>(&self, decided: &T, after: Digest) -> bool {
        let Some(key) = &self.key else {
            return true;
        };
        decided.seal().is_some_and(|seal| {
            let message = self.message(decided, seal.after);
            let signed = |message: Vec<u8>| key.verifies(&message, &seal.signature);
            seal.after == after && message.is_ok_and(signed)
        })
    }

    fn message<T: Decided>(&self, body: &T, after: Digest) -> Result<Vec<u8>, serde_json::Error> {
        let bare = serde_json::to_string(&body.clone().under(None))?;
        let session = self.session;
        Ok(format!("comail {} 1\n{session}\n{after}\n{bare}", T::KIND).into_bytes())
    }
}

impl Decided for Settlement {
    const KIND: &'static str = "settled";

    fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    fn under(self, seal: Option<Seal>) -> Self {
        Self { seal, ..self }
    }
}

impl Decided for Dispute {
    const KIND: &'static str = "disputed";

    fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    fn under(self, seal: Option<Seal>) -> Self {
        Self { seal, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settlement(note: &str) -> Settlement {
        Settlement {
            quests: vec![SettledQuest {
                quest: QuestId::FIRST,
                attempt: 1,
            }],
            decision: Decision::Accepted,
            by: "kim".to_owned(),
            note: note.to_owned(),
            seal: None,
        }
    }

    fn key() -> SigningKey {
        SigningKey::read(&[7; 32]).unwrap()
    }

    fn court() -> Court {
        Court {
            session: Digest::of(b"session"),
            key: Some(key().public()),
        }
    }

    #[test]
    fn a_seal_holds_at_its_place_for_its_body_and_session() {
        let here = Digest::of(b"line 7");
        let sealed = court().seal(settlement("called"), here, &key()).unwrap();
        assert!(court().admits(&sealed, here));
        assert!(!court().admits(&sealed, Digest::of(b"line 8")), "elsewhere");
        let other = Settlement {
            note: "did not call".to_owned(),
            ..sealed.clone()
        };
        assert!(!court().admits(&other, here), "another body");
        let elsewhere = Court {
            session: Digest::of(b"another"),
            ..court()
        };
        assert!(!elsewhere.admits(&sealed, here), "another session");
    }

    #[test]
    fn where_a_key_was_frozen_nothing_unsealed_counts() {
        let here = Digest::of(b"line 7");
        assert!(!court().admits(&settlement(""), here));
        let stranger = SigningKey::read(&[8; 32]).unwrap();
        let forged = court().seal(settlement(""), here, &stranger).unwrap();
        assert!(!court().admits(&forged, here));
        let keyless = Court {
            key: None,
            ..court()
        };
        assert!(keyless.admits(&settlement(""), here));
    }
}
