//! The form of a ledger line, and the chain that binds the lines.
//!
//! ```text
//! {"seq":12,"at":"…Z","prev":"…","type":"attempt","salt":"…","digest":"…","body":{…}}
//! ```
//!
//! `seq` counts from 0. `digest` is the SHA-256 of salt and body, as written; `prev` is the
//! SHA-256 of the line before, without its body, and of zero bytes before the first. So the
//! chain covers every byte, and would still hold if a body were blotted out. A line is exactly
//! what [`Line::render`] writes: no other white space, order or field.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::event::{Event, EventType};
use crate::quest::Digest;

/// Randomness that keeps a blotted body from being guessed by its digest: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

/// A ledger line without its body.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Head {
    seq: u64,
    at: Timestamp,
    prev: Digest,
    #[serde(rename = "type")]
    kind: EventType,
    salt: Salt,
    digest: Digest,
}

/// A ledger line.
#[derive(Debug, Clone)]
pub struct Line {
    head: Head,
    body: Box<RawValue>,
}

/// Why a line is not the next of its ledger.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not a ledger line at all.
    #[error("it is not a ledger line: {0}")]
    Syntax(#[from] serde_json::Error),
    /// It says what a line says, but not as one is written.
    #[error("it is not written as a ledger line is")]
    Form,
    /// Its number is not the next.
    #[error("its number is {actual}, and {expected} is next")]
    Sequence {
        /// The number that is next.
        expected: u64,
        /// The number that it has.
        actual: u64,
    },
    /// It does not follow the line before.
    #[error("it does not follow the line before: the chain is broken")]
    Chain,
    /// Its body is not the one that was digested.
    #[error("its body was changed: the digest does not fit")]
    Body,
}

/// The end of a chain: what the next line must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    /// How many lines there are.
    pub length: u64,
    /// The hash of the last line without its body.
    pub head: Digest,
}

impl Tip {
    /// The end of an empty chain.
    #[must_use]
    pub fn start() -> Self {
        Self {
            length: 0,
            head: Digest::of(b""),
        }
    }
}

impl Line {
    /// The line that records `event` after `tip`.
    pub fn next(
        tip: Tip,
        at: Timestamp,
        salt: Salt,
        event: &Event,
    ) -> Result<Self, serde_json::Error> {
        let body = event.body()?;
        let head = Head {
            seq: tip.length,
            at,
            prev: tip.head,
            kind: event.kind(),
            salt,
            digest: body_digest(salt, &body),
        };
        Ok(Self { head, body })
    }

    /// The line as it is written, without the line feed.
    pub fn render(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string(&self.head)?;
        text.pop();
        text.push_str(",\"body\":");
        text.push_str(self.body.get());
        text.push('}');
        Ok(text)
    }

    /// Reads the line that must follow `tip`; every byte of it is accounted for.
    pub fn parse(tip: Tip, text: &str) -> Result<Self, LineError> {
        let (head_text, body_text) = split(text).ok_or(LineError::Form)?;
        let head: Head = serde_json::from_str(&head_text)?;
        let body: &RawValue = serde_json::from_str(body_text)?;
        if serde_json::to_string(&head)? != head_text || body.get() != body_text {
            return Err(LineError::Form);
        }
        if head.seq != tip.length {
            return Err(LineError::Sequence {
                expected: tip.length,
                actual: head.seq,
            });
        }
        if head.prev != tip.head {
            return Err(LineError::Chain);
        }
        if head.digest != body_digest(head.salt, body) {
            return Err(LineError::Body);
        }
        let body = body.to_owned();
        Ok(Self { head, body })
    }

    /// Reads a line again that was once read in its place.
    pub fn reread(text: &str) -> Result<Self, LineError> {
        let (head_text, _) = split(text).ok_or(LineError::Form)?;
        let head: Head = serde_json::from_str(&head_text)?;
        let tip = Tip {
            length: head.seq,
            head: head.prev,
        };
        Self::parse(tip, text)
    }

    /// The end of the chain after this line.
    pub fn tip(&self) -> Result<Tip, serde_json::Error> {
        let head = serde_json::to_string(&self.head)?;
        Ok(Tip {
            length: self.head.seq + 1,
            head: Digest::of(head.as_bytes()),
        })
    }

    /// When it was written.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.head.at
    }

    /// What it records.
    pub fn event(&self) -> Result<Event, serde_json::Error> {
        Event::parse(self.head.kind, &self.body)
    }
}

/// Parts a line into its head, closed again, and its body.
fn split(text: &str) -> Option<(String, &str)> {
    // No field of the head can hold a quotation mark, so the first one of these is its end.
    let (head, rest) = text.split_once(",\"body\":")?;
    Some((format!("{head}}}"), rest.strip_suffix('}')?))
}

fn body_digest(salt: Salt, body: &RawValue) -> Digest {
    Digest::of_parts([salt.to_string().as_bytes(), body.get().as_bytes()])
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl Serialize for Salt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Salt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <&str>::deserialize(deserializer)?;
        let mut bytes = [0; 16];
        hex::decode_to_slice(text, &mut bytes).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::Resumed;

    fn line(tip: Tip, streak: u32) -> Line {
        let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
        let event = Event::Resumed(Resumed { streak });
        Line::next(tip, at, Salt([7; 16]), &event).unwrap()
    }

    #[test]
    fn a_line_reads_back_and_its_successor_follows() {
        let first = line(Tip::start(), 25);
        let read = Line::parse(Tip::start(), &first.render().unwrap()).unwrap();
        assert_eq!(read.render().unwrap(), first.render().unwrap());
        let tip = read.tip().unwrap();
        let second = line(tip, 26).render().unwrap();
        assert!(Line::parse(tip, &second).is_ok());
        assert!(matches!(
            Line::parse(Tip::start(), &second),
            Err(LineError::Sequence { .. })
        ));
    }

    #[test]
    fn no_flipped_bit_goes_unseen() {
        let good = line(Tip::start(), 25).render().unwrap();
        let tip = Line::parse(Tip::start(), &good).unwrap().tip().unwrap();
        for byte in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone().into_bytes();
                bad[byte] ^= 1 << bit;
                let Ok(bad) = String::from_utf8(bad) else {
                    continue;
                };
                // The head of the last line is bound by whoever noted the tip.
                let seen = match Line::parse(Tip::start(), &bad) {
                    Err(_) => true,
                    Ok(line) => line.tip().unwrap() != tip,
                };
                assert!(seen, "bit {bit} of byte {byte}: {bad}");
            }
        }
    }

    #[test]
    fn another_spelling_of_the_same_line_is_refused() {
        let good = line(Tip::start(), 25).render().unwrap();
        for bad in [
            good.replace("{\"seq\":0", "{ \"seq\":0"),
            good.replace("\"seq\":0", "\"seq\":0,\"seq\":0"),
            good.replace(".678Z", ".6780Z"),
            good.replace("{\"streak\":25}", "{\"streak\": 25}"),
            format!("{good} "),
            good.replace(",\"body\"", ",\"more\":1,\"body\""),
        ] {
            assert_ne!(bad, good);
            assert!(Line::parse(Tip::start(), &bad).is_err(), "{bad}");
        }
    }
}
