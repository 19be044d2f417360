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

mod schema;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::OnceCell;

use jiff::Timestamp;
use serde::Serialize;

use super::event::{Event, EventType};
use super::head::{self, Head};
use crate::base::Digest;
pub use crate::base::clock::Salt;

/// A ledger line: its text, and what its head says.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    text: Cow<'a, str>,
    head: Head,
    /// How many bytes of the text are the head, without what closes it.
    head_length: usize,
    /// Where the body begins, in bytes.
    body_at: usize,
    /// The digest of salt and body, where the body is not the one that was written.
    redacted: Option<Digest>,
    /// Asked for more than once, and a hash each time.
    tip: OnceCell<Tip>,
}

/// Why a line is not the next of its ledger.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is not written as a line is.
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

/// What stands between head and body, and what closes a line.
const BODY: &str = ",\"body\":";
/// What stands before the digest of a body that was blotted out.
const REDACTED: &str = ",\"redacted\":\"";
const CLOSE: &str = "}";

impl Line<'static> {
    /// The line that records `event` after `tip`.
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

    /// Reads a line again that was once read in its place.
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

    /// The line as it is written, without the line feed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The end of the chain after this line.
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

    /// Its number, from 0.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    /// The hash of the line before.
    #[must_use]
    pub fn prev(&self) -> Digest {
        self.head.prev
    }

    /// When it was written.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.head.at
    }

    /// What it records.
    pub fn event(&self) -> Result<Event, serde_json::Error> {
        Event::parse(self.head.kind, self.body())
    }

    /// The type of what it records.
    #[must_use]
    pub fn kind(&self) -> EventType {
        self.head.kind
    }

    /// Its body as it is written.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.text[self.body_at..self.text.len() - CLOSE.len()]
    }

    /// The digest of its body, where that is not the one that was written at first.
    #[must_use]
    pub fn redacted(&self) -> Option<Digest> {
        self.redacted
    }

    /// The same line with `body` in place of its own, and marked so. The chain does not change.
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

/// The mark of a body that was blotted out, where there is one, and what follows it.
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
