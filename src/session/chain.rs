//! The form of a ledger line, and the chain that binds the lines.
//!
//! ```text
//! {"seq":12,"at":"…Z","prev":"…","type":"attempt","salt":"…","digest":"…","body":{…}}
//! ```
//!
//! `seq` counts from 0. `digest` is the SHA-256 of salt and body, as written; `prev` is the
//! SHA-256 of the line before, without its body, and of zero bytes before the first. So the
//! chain covers every byte, and would still hold if a body were blotted out. A line is exactly
//! what [`Line::next`] writes: no other white space, order or field.
//!
//! A body that was blotted out is marked, with the digest of salt and of what stands there now:
//!
//! ```text
//! {"seq":12,…,"digest":"…","redacted":"…","body":{…}}
//! ```
//!
//! Anybody can write such a line; it counts only where a later `forgotten` names its digest.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::event::{Event, EventType};
use super::head;
use super::head::Head;
use crate::base::Digest;
pub use crate::base::clock::Salt;

/// A ledger line: its text, and what its head says.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    text: Cow<'a, str>,
    head: Head,
    /// How many bytes of the text are the head, without what closes it.
    head_length: usize,
    body_at: usize,
    redacted: Option<Digest>,
    tip: OnceCell<Tip>,
}

/// Why a line is not the next of its ledger.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("it is not written as a ledger line is")]
    Form,
    #[error("its number is {actual}, and {expected} is next")]
    Sequence { expected: u64, actual: u64 },
    #[error("it does not follow the line before: the chain is broken")]
    Chain,
    #[error("its body was changed: the digest does not fit")]
    Body,
}

/// The end of a chain: what the next line must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    pub length: u64,
    pub head: Digest,
}

impl Tip {
    #[must_use]
    pub fn start() -> Self {
        Self {
            length: 0,
            head: Digest::of(b""),
        }
    }
}

/// What stands between head and body, and what closes a line.
const BODY: &str = ",\"body\":";
/// What stands before the digest of a body that was blotted out.
const REDACTED: &str = ",\"redacted\":\"";
const CLOSE: &str = "}";

impl Line<'static> {
    pub fn next(
        tip: Tip,
        at: Timestamp,
        salt: Salt,
        event: &Event,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self::compose(tip, at, salt, event.kind(), &event.body()?))
    }

    /// The line that records an event of this type, whose body this is, after `tip`.
    pub fn next_of(
        tip: Tip,
        at: Timestamp,
        salt: Salt,
        kind: EventType,
        body: &impl Serialize,
    ) -> Result<Self, serde_json::Error> {
        let body = serde_json::to_string(body)?;
        Ok(Self::compose(tip, at, salt, kind, &body))
    }

    fn compose(tip: Tip, at: Timestamp, salt: Salt, kind: EventType, body: &str) -> Self {
        let head = Head {
            seq: tip.length,
            at,
            prev: tip.head,
            kind,
            salt,
            digest: body_digest(salt, body),
        };
        let mut text = head.to_string();
        let head_length = text.len();
        text.extend([BODY, body, CLOSE]);
        Self {
            text: text.into(),
            head,
            head_length,
            body_at: head_length + BODY.len(),
            redacted: None,
            tip: OnceCell::new(),
        }
    }
}

impl<'a> Line<'a> {
    /// Reads the line that must follow `tip`; every byte of it is accounted for.
    pub fn parse(tip: Tip, text: &'a str) -> Result<Self, LineError> {
        let line = Self::reread(text)?;
        if line.head.seq != tip.length {
            return Err(LineError::Sequence {
                expected: tip.length,
                actual: line.head.seq,
            });
        }
        if line.head.prev != tip.head {
            return Err(LineError::Chain);
        }
        Ok(line)
    }

    pub fn reread(text: &'a str) -> Result<Self, LineError> {
        let (head, rest) = Head::parse(text).ok_or(LineError::Form)?;
        let (redacted, said) = blot(rest).ok_or(LineError::Form)?;
        let body = said
            .strip_prefix(BODY)
            .and_then(|rest| rest.strip_suffix(CLOSE))
            .ok_or(LineError::Form)?;
        if redacted.unwrap_or(head.digest) != body_digest(head.salt, body) {
            return Err(LineError::Body);
        }
        // The first line says by what all others are believed.
        if redacted.is_some() && head.kind == EventType::Session {
            return Err(LineError::Body);
        }
        // Every body is an object, so no white space hides at its ends.
        if !(body.starts_with('{') && body.ends_with('}')) {
            return Err(LineError::Form);
        }
        Ok(Self {
            text: text.into(),
            head,
            head_length: text.len() - rest.len(),
            body_at: text.len() - said.len() + BODY.len(),
            redacted,
            tip: OnceCell::new(),
        })
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn tip(&self) -> Tip {
        *self.tip.get_or_init(|| {
            let head = &self.text.as_bytes()[..self.head_length];
            Tip {
                length: self.head.seq + 1,
                head: Digest::of_parts([head, CLOSE.as_bytes()]),
            }
        })
    }

    #[must_use]
    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    #[must_use]
    pub fn prev(&self) -> Digest {
        self.head.prev
    }

    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.head.at
    }

    pub fn event(&self) -> Result<Event, serde_json::Error> {
        Event::parse(self.head.kind, self.body())
    }

    #[must_use]
    pub fn kind(&self) -> EventType {
        self.head.kind
    }

    #[must_use]
    pub fn body(&self) -> &str {
        &self.text[self.body_at..self.text.len() - CLOSE.len()]
    }

    #[must_use]
    pub fn redacted(&self) -> Option<Digest> {
        self.redacted
    }

    #[must_use]
    pub fn with_body(&self, body: &str) -> Line<'static> {
        let digest = body_digest(self.head.salt, body);
        let mut text = self.text[..self.head_length].to_owned();
        text.extend([REDACTED, &digest.to_string(), "\"", BODY]);
        let body_at = text.len();
        text.extend([body, CLOSE]);
        Line {
            text: text.into(),
            head: self.head.clone(),
            head_length: self.head_length,
            body_at,
            redacted: Some(digest),
            tip: self.tip.clone(),
        }
    }
}

fn blot(rest: &str) -> Option<(Option<Digest>, &str)> {
    match rest.strip_prefix(REDACTED) {
        None => Some((None, rest)),
        Some(marked) => {
            let (digits, rest) = marked.split_once('"')?;
            Some((Some(head::digest(digits)?), rest))
        }
    }
}

fn body_digest(salt: Salt, body: &str) -> Digest {
    Digest::of_parts([salt.to_string().as_bytes(), body.as_bytes()])
}

impl JsonSchema for Line<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Line".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut line = Head::json_schema(generator);
        let redacted = json!({
            "description": "The digest of salt and body as they stand here, where the body was \
                            blotted out.",
            "$ref": generator.subschema_for::<Digest>().get("$ref"),
        });
        let properties = line.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(properties) = properties {
            properties.insert("redacted".to_owned(), redacted);
        }
        let events = Event::json_schema(generator);
        line.insert("oneOf".to_owned(), json!(events.get("oneOf")));
        line.insert(
            "description".to_owned(),
            json!("A line of the ledger: an event, bound to the line before it."),
        );
        line
    }
}
