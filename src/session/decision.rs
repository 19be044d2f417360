//! What a person decides: how a REVIEW is settled, and that a PASS is disputed.
//!
//! ```text
//! {"quests":[{"quest":3,"attempt":1}],"decision":"accepted","by":"kim","note":"called them",
//!  "seal":{"after":"<the hash of the line before>","signature":"<128 hexadecimal digits>"}}
//! {"quest":5,"by":"kim","note":"bounced on 3 May"}
//! ```
//!
//! If the session froze the operator's key, a decision without a `seal` by that key has no effect.
//! It is counted, and `audit` reports it. A seal covers the session, the place in the ledger and the
//! body, so it cannot be reused.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::base::{Digest, lower_hex, serde_as_text};
use crate::quest::QuestId;

/// How a person settles a REVIEW. The state stays REVIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Decision {
    Accepted,
    Rejected,
    /// An earlier decision is withdrawn: the REVIEW is open again.
    Reopened,
}

impl Decision {
    pub fn name(self) -> &'static str {
        self.into()
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

/// The body of an event that records a person's decision.
pub trait Decided {
    /// The event's type.
    fn kind(&self) -> &'static str;

    fn seal(&self) -> Option<&Seal>;

    fn set_seal(&mut self, seal: Seal);

    /// The body as JSON without its seal, which is what a seal signs.
    fn unsealed(&self) -> Result<String, serde_json::Error>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionPolicy {
    pub session: Digest,
    pub key: Option<OperatorKey>,
}

impl DecisionPolicy {
    /// The decision, sealed if there is a `key`; `None` if it would have no effect.
    pub fn sealed<T: Decided>(
        &self,
        decided: T,
        after: Digest,
        key: Option<&SigningKey>,
    ) -> Result<Option<T>, serde_json::Error> {
        let decided = match key {
            Some(key) => self.seal(decided, after, key)?,
            None => decided,
        };
        Ok(self.admits(&decided, after).then_some(decided))
    }

    pub fn seal<T: Decided>(
        &self,
        mut decided: T,
        after: Digest,
        key: &SigningKey,
    ) -> Result<T, serde_json::Error> {
        self.put_seal(&mut decided, after, key)?;
        Ok(decided)
    }

    pub fn put_seal(
        &self,
        decided: &mut dyn Decided,
        after: Digest,
        key: &SigningKey,
    ) -> Result<(), serde_json::Error> {
        let signature = key.sign(&self.message(decided, after)?);
        decided.set_seal(Seal { after, signature });
        Ok(())
    }

    pub fn admits(&self, decided: &dyn Decided, after: Digest) -> bool {
        let Some(key) = &self.key else {
            return true;
        };
        decided.seal().is_some_and(|seal| {
            let message = self.message(decided, seal.after);
            let signed = |message: Vec<u8>| key.verifies(&message, &seal.signature);
            seal.after == after && message.is_ok_and(signed)
        })
    }

    fn message(&self, body: &dyn Decided, after: Digest) -> Result<Vec<u8>, serde_json::Error> {
        let (kind, bare, session) = (body.kind(), body.unsealed()?, self.session);
        Ok(format!("comail {kind} 1\n{session}\n{after}\n{bare}").into_bytes())
    }
}

/// Implements [`Decided`] for the bodies of events with these names.
macro_rules! decided {
    ($($body:ty = $kind:literal),+) => {$(
        impl $crate::session::Decided for $body {
            fn kind(&self) -> &'static str {
                $kind
            }

            fn seal(&self) -> Option<&$crate::session::Seal> {
                self.seal.as_ref()
            }

            fn set_seal(&mut self, seal: $crate::session::Seal) {
                self.seal = Some(seal);
            }

            fn unsealed(&self) -> Result<String, serde_json::Error> {
                serde_json::to_string(&Self { seal: None, ..self.clone() })
            }
        }
    )+};
}
pub(super) use decided;

decided!(Settlement = "settled", Dispute = "disputed");

/// The public half of the operator's key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^ed25519:[0-9a-f]{64}$"))]
pub struct OperatorKey([u8; 32]);

pub struct SigningKey(Ed25519KeyPair);

/// A signature by the operator's key; 128 hexadecimal digits in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9a-f]{128}$"))]
pub struct Signature([u8; 64]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error(
        "it holds no Ed25519 key: make one with `head -c 32 /dev/urandom > FILE`, or with `openssl \
         genpkey -algorithm ed25519 -out FILE`"
    )]
    File,
    #[error("expected `ed25519:` and 64 hexadecimal digits")]
    Public,
    #[error("expected 128 hexadecimal digits")]
    Signature,
}

const PREFIX: &str = "ed25519:";
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

impl SigningKey {
    pub fn read(bytes: &[u8]) -> Result<Self, BadKey> {
        if bytes.len() == 32 {
            let pair = Ed25519KeyPair::from_seed_unchecked(bytes);
            return pair.map(Self).map_err(|_| BadKey::File);
        }
        let text = str::from_utf8(bytes).map_err(|_| BadKey::File)?;
        let inner = text
            .trim()
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.strip_suffix(END))
            .ok_or(BadKey::File)?;
        let inner: String = inner.split_whitespace().collect();
        let document = STANDARD.decode(inner).map_err(|_| BadKey::File)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&document);
        pair.map(Self).map_err(|_| BadKey::File)
    }

    pub fn public(&self) -> OperatorKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        OperatorKey(bytes)
    }

    pub fn sign(&self, message: &[u8]) -> Signature {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.0.sign(message).as_ref());
        Signature(bytes)
    }
}

impl OperatorKey {
    pub fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        key.verify(message, &signature.0).is_ok()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public())
    }
}

impl fmt::Display for OperatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", hex::encode(self.0))
    }
}

impl fmt::Debug for OperatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for OperatorKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let digits = text.strip_prefix(PREFIX).ok_or(BadKey::Public)?;
        lower_hex(digits).map(Self).ok_or(BadKey::Public)
    }
}

serde_as_text!(OperatorKey);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl TryFrom<String> for Signature {
    type Error = BadKey;

    fn try_from(text: String) -> Result<Self, BadKey> {
        lower_hex(&text).map(Self).ok_or(BadKey::Signature)
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        hex::encode(signature.0)
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

    fn policy() -> DecisionPolicy {
        DecisionPolicy {
            session: Digest::of(b"session"),
            key: Some(key().public()),
        }
    }

    #[test]
    fn a_seal_covers_place_body_and_session() {
        let here = Digest::of(b"line 7");
        let sealed = policy().seal(settlement("called"), here, &key()).unwrap();
        assert!(policy().admits(&sealed, here));
        assert!(
            !policy().admits(&sealed, Digest::of(b"line 8")),
            "elsewhere"
        );
        let other = Settlement {
            note: "did not call".to_owned(),
            ..sealed.clone()
        };
        assert!(!policy().admits(&other, here), "another body");
        let elsewhere = DecisionPolicy {
            session: Digest::of(b"another"),
            ..policy()
        };
        assert!(!elsewhere.admits(&sealed, here), "another session");
    }

    #[test]
    fn rejects_unsealed_decisions_when_a_key_is_frozen() {
        let here = Digest::of(b"line 7");
        assert!(!policy().admits(&settlement(""), here));
        let stranger = SigningKey::read(&[8; 32]).unwrap();
        let forged = policy().seal(settlement(""), here, &stranger).unwrap();
        assert!(!policy().admits(&forged, here));
        let keyless = DecisionPolicy {
            key: None,
            ..policy()
        };
        assert!(keyless.admits(&settlement(""), here));
    }

    /// RFC 8032 §7.1, test 2: the seed, the public key and the signature under 0x72.
    const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    const SIGNED: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
        085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

    fn pem() -> String {
        let document = format!("302e020100300506032b657004220420{SEED}");
        let inner = STANDARD.encode(hex::decode(document).unwrap());
        format!("{BEGIN}\n{inner}\n{END}\n")
    }

    #[test]
    fn reads_both_forms_of_a_private_key() {
        let seed = hex::decode(SEED).unwrap();
        for file in [seed, pem().into_bytes()] {
            let key = SigningKey::read(&file).unwrap();
            assert_eq!(key.public().to_string(), format!("ed25519:{PUBLIC}"));
            assert_eq!(format!("{:?}", key.sign(&[0x72])), SIGNED);
        }
    }

    #[test]
    fn rejects_invalid_keys() {
        for file in [&b"short"[..], &[7; 31], &[7; 33], b"", BEGIN.as_bytes()] {
            assert!(SigningKey::read(file).is_err(), "{file:?}");
        }
        let truncated = pem().replace("MC4C", "MC4D");
        assert!(SigningKey::read(truncated.as_bytes()).is_err());
        for text in [
            PUBLIC,
            "ed25519:3d40",
            &format!("ed25519:{}", PUBLIC.to_uppercase()),
        ] {
            assert_eq!(text.parse::<OperatorKey>(), Err(BadKey::Public), "{text}");
        }
    }

    #[test]
    fn keys_and_signatures_round_trip() {
        let key: OperatorKey = format!("ed25519:{PUBLIC}").parse().unwrap();
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<OperatorKey>(&json).unwrap(), key);
        let signature = SigningKey::read(&[7; 32]).unwrap().sign(b"x");
        let json = serde_json::to_string(&signature).unwrap();
        assert_eq!(serde_json::from_str::<Signature>(&json).unwrap(), signature);
        assert!(serde_json::from_str::<Signature>("\"00\"").is_err());
    }
}
