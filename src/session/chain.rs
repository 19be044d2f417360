//! The form of a ledger line, and the hash chain of the lines.
//!
//! ```text
//! {"seq":12,"at":"…Z","prev":"…","type":"attempt","salt":"…","digest":"…","body":{…}}
//! ```
//!
//! `seq` counts from 0. `digest` is the SHA-256 of salt and body as written. `prev` is the SHA-256 of
//! the previous line without its body; for the first line, of zero bytes. So the chain covers every
//! byte, and still holds if a body is removed. A line has exactly the form that [`Line::next`]
//! writes: no other white space, order or field.
//!
//! A removed body is marked with the digest of the salt and the new body:
//!
//! ```text
//! {"seq":12,…,"digest":"…","redacted":"…","body":{…}}
//! ```
//!
//! Anybody can write such a line. It is valid only if a later `forgotten` event names its digest.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::event::{Event, EventType};
pub use crate::base::clock::Salt;
use crate::base::{Digest, lower_hex};

/// A ledger line: its text and its parsed header.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    text: Cow<'a, str>,
    head: LineHeader,
    /// The length of the header in the text, without the closing brace.
    header_length: usize,
    body_at: usize,
    redacted: Option<Digest>,
    tip: OnceCell<Tip>,
}

#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("it is not formatted as a ledger line")]
    Form,
    #[error("its number is {actual}, but {expected} is next")]
    Sequence { expected: u64, actual: u64 },
    #[error("it does not follow the line before: the chain is broken")]
    Chain,
    #[error("its body was changed: the digest does not match")]
    Body,
}

/// The end of a chain, which the next line must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tip {
    pub length: u64,
    pub head: Digest,
}

impl Tip {
    pub fn start() -> Self {
        Self {
            length: 0,
            head: Digest::of(b""),
        }
    }
}

/// The text between header and body, and the text that closes a line.
const BODY: &str = ",\"body\":";
/// The mark before the digest of a redacted body.
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
        let body = event.body()?;
        let head = LineHeader {
            seq: tip.length,
            at,
            prev: tip.head,
            kind: event.kind(),
            salt,
            digest: body_digest(salt, &body),
        };
        let mut text = head.to_string();
        let header_length = text.len();
        text.extend([BODY, &body, CLOSE]);
        Ok(Self {
            text: text.into(),
            head,
            header_length,
            body_at: header_length + BODY.len(),
            redacted: None,
            tip: OnceCell::new(),
        })
    }
}

impl<'a> Line<'a> {
    /// Parses the line after `tip`, and checks every byte of it.
    pub fn parse(tip: Tip, text: &'a str) -> Result<Self, LineError> {
        let line = Self::parse_unchained(text)?;
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

    pub fn parse_unchained(text: &'a str) -> Result<Self, LineError> {
        let (head, rest) = LineHeader::parse(text).ok_or(LineError::Form)?;
        let (redacted, said) = split_redaction(rest).ok_or(LineError::Form)?;
        let body = said
            .strip_prefix(BODY)
            .and_then(|rest| rest.strip_suffix(CLOSE))
            .ok_or(LineError::Form)?;
        if redacted.unwrap_or(head.digest) != body_digest(head.salt, body) {
            return Err(LineError::Body);
        }
        // The first line binds `session.json`, on which all other checks depend, so it cannot be
        // redacted.
        if redacted.is_some() && head.kind == EventType::Session {
            return Err(LineError::Body);
        }
        // A body is an object without white space around it.
        if !(body.starts_with('{') && body.ends_with('}')) {
            return Err(LineError::Form);
        }
        Ok(Self {
            text: text.into(),
            head,
            header_length: text.len() - rest.len(),
            body_at: text.len() - said.len() + BODY.len(),
            redacted,
            tip: OnceCell::new(),
        })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn tip(&self) -> Tip {
        *self.tip.get_or_init(|| {
            let head = &self.text.as_bytes()[..self.header_length];
            Tip {
                length: self.head.seq + 1,
                head: Digest::of_parts([head, CLOSE.as_bytes()]),
            }
        })
    }

    pub fn seq(&self) -> u64 {
        self.head.seq
    }

    pub fn prev(&self) -> Digest {
        self.head.prev
    }

    pub fn at(&self) -> Timestamp {
        self.head.at
    }

    pub fn event(&self) -> Result<Event, serde_json::Error> {
        Event::parse(self.head.kind, self.body())
    }

    pub fn kind(&self) -> EventType {
        self.head.kind
    }

    pub fn body(&self) -> &str {
        &self.text[self.body_at..self.text.len() - CLOSE.len()]
    }

    pub fn redacted(&self) -> Option<Digest> {
        self.redacted
    }

    pub fn with_body(&self, body: &str) -> Line<'static> {
        let digest = body_digest(self.head.salt, body);
        let mut text = self.text[..self.header_length].to_owned();
        text.extend([REDACTED, &digest.to_string(), "\"", BODY]);
        let body_at = text.len();
        text.extend([body, CLOSE]);
        Line {
            text: text.into(),
            head: self.head.clone(),
            header_length: self.header_length,
            body_at,
            redacted: Some(digest),
            tip: self.tip.clone(),
        }
    }
}

fn split_redaction(rest: &str) -> Option<(Option<Digest>, &str)> {
    match rest.strip_prefix(REDACTED) {
        None => Some((None, rest)),
        Some(marked) => {
            let (digits, rest) = marked.split_once('"')?;
            Some((Some(digest(digits)?), rest))
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
        let mut line = LineHeader::json_schema(generator);
        let redacted = json!({
            "description": "The digest of the salt and the redacted body, if the body was redacted.",
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

/// A ledger line without its body, in one fixed form: no other order, white space or spelling of
/// a value is read than is written.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
struct LineHeader {
    /// Its number, from 0.
    seq: u64,
    /// When it was written.
    at: Timestamp,
    /// The hash of the line before without its body.
    prev: Digest,
    // The schema lists each type together with its body.
    #[schemars(skip)]
    kind: EventType,
    /// What is digested before the body.
    salt: Salt,
    /// The digest of salt and body as they were written.
    digest: Digest,
}

impl LineHeader {
    /// Parses the header at the start of `text`, and returns the rest too.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let mut rest = text;
        let mut value = |before: &str, after: char| {
            let (value, left) = rest.strip_prefix(before)?.split_once(after)?;
            rest = left;
            Some(value)
        };
        let head = Self {
            seq: number(value("{\"seq\":", ',')?)?,
            at: time(value("\"at\":\"", '"')?)?,
            prev: digest(value(",\"prev\":\"", '"')?)?,
            kind: value(",\"type\":\"", '"')?.parse().ok()?,
            salt: Salt(lower_hex(value(",\"salt\":\"", '"')?)?),
            digest: digest(value(",\"digest\":\"", '"')?)?,
        };
        Some((head, rest))
    }
}

impl fmt::Display for LineHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seq, at, prev, .. } = self;
        write!(f, "{{\"seq\":{seq},\"at\":\"{at}\",\"prev\":\"{prev}\"")?;
        let (kind, salt, digest) = (self.kind.name(), self.salt, self.digest);
        write!(
            f,
            ",\"type\":\"{kind}\",\"salt\":\"{salt}\",\"digest\":\"{digest}\""
        )
    }
}

fn number(text: &str) -> Option<u64> {
    let plain = text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first));
    plain.then(|| text.parse().ok())?
}

fn time(text: &str) -> Option<Timestamp> {
    let at: Timestamp = text.parse().ok()?;
    (at.to_string() == text).then_some(at)
}

fn digest(text: &str) -> Option<Digest> {
    lower_hex(text).map(Digest::from_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::session::event::{Resumed, Started};

    fn line(tip: Tip, streak: u32) -> Line<'static> {
        let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
        let event = Event::Resumed(Resumed { streak });
        Line::next(tip, at, Salt([7; 16]), &event).unwrap()
    }

    #[test]
    fn a_line_and_its_successor_round_trip() {
        let first = line(Tip::start(), 25);
        let read = Line::parse(Tip::start(), first.text()).unwrap();
        assert_eq!(read.text(), first.text());
        assert_eq!(read.tip(), first.tip());
        let second = line(read.tip(), 26);
        assert!(Line::parse(read.tip(), second.text()).is_ok());
        assert!(matches!(
            Line::parse(Tip::start(), second.text()),
            Err(LineError::Sequence { .. })
        ));
    }

    #[test]
    fn detects_every_flipped_bit() {
        let whole = line(Tip::start(), 25);
        let redacted = whole.with_body("{\"streak\":7}");
        for good in [&whole, &redacted] {
            for at in 0..good.text().len() * 8 {
                let mut bad = good.text().to_owned().into_bytes();
                bad[at / 8] ^= 1 << (at % 8);
                let Ok(bad) = String::from_utf8(bad) else {
                    continue;
                };
                // The head of the last line is bound only by a noted tip.
                let seen = match Line::parse(Tip::start(), &bad) {
                    Err(_) => true,
                    Ok(line) => line.tip() != good.tip() || line.redacted() != good.redacted(),
                };
                assert!(seen, "bit {at}: {bad}");
            }
        }
    }

    #[test]
    fn a_redacted_line_keeps_its_tip_and_its_mark() {
        let whole = line(Tip::start(), 25);
        let redacted = whole.with_body("{\"streak\":7}");
        let read = Line::parse(Tip::start(), redacted.text()).unwrap();
        assert_eq!(read.tip(), whole.tip());
        assert_eq!(read.redacted(), redacted.redacted());
        assert!(read.redacted().is_some() && whole.redacted().is_none());
        assert!(matches!(
            read.event(),
            Ok(Event::Resumed(Resumed { streak: 7 }))
        ));
        let (head, rest) = redacted.text().split_once(",\"redacted\"").unwrap();
        let unmarked = format!("{head}{}", &rest[rest.find(",\"body\"").unwrap()..]);
        let unmarked = Line::parse(Tip::start(), &unmarked);
        assert!(matches!(unmarked, Err(LineError::Body)));
        let again = read.with_body("{\"streak\":8}");
        let read = Line::parse(Tip::start(), again.text()).unwrap();
        assert_eq!((read.tip(), read.body()), (whole.tip(), "{\"streak\":8}"));
    }

    #[test]
    fn rejects_a_redacted_first_line() {
        let at = "2026-01-02T03:04:05.678Z".parse().unwrap();
        let manifest = Digest::of(b"one");
        let event = Event::Session(Started { manifest });
        let first = Line::next(Tip::start(), at, Salt([7; 16]), &event);
        let other = serde_json::json!({ "manifest": Digest::of(b"two") }).to_string();
        let redacted = first.unwrap().with_body(&other);
        assert!(Line::parse(Tip::start(), redacted.text()).is_err());
    }

    #[test]
    fn rejects_other_spellings_of_a_line() {
        let line = line(Tip::start(), 25);
        let good = line.text();
        for bad in [
            good.replace("{\"seq\":0", "{ \"seq\":0"),
            good.replace("\"seq\":0", "\"seq\":0,\"seq\":0"),
            good.replace(".678Z", ".6780Z"),
            good.replace("{\"streak\":25}", "{\"streak\": 25}"),
            format!("{good} "),
            good.replace(",\"body\"", ",\"more\":1,\"body\""),
            good.replace("\"seq\":0", "\"seq\":00"),
            good.replace("\"seq\":0", "\"seq\":+0"),
            good.replacen("e3b0", "E3B0", 1),
            good.replace("0707", "0A0a"),
            good.replace("resumed", "paused"),
        ] {
            assert_ne!(bad, good);
            assert!(Line::parse(Tip::start(), &bad).is_err(), "{bad}");
        }
    }

    fn any_head() -> impl Strategy<Value = LineHeader> {
        let kind = prop::sample::select(EventType::ALL);
        let at = 0..253_402_207_200_000_i64;
        (
            any::<u64>(),
            at,
            any::<[[u8; 32]; 2]>(),
            kind,
            any::<[u8; 16]>(),
        )
            .prop_map(|(seq, at, [prev, digest], kind, salt)| LineHeader {
                seq,
                at: Timestamp::from_millisecond(at).unwrap(),
                prev: Digest::from_bytes(prev),
                kind,
                salt: Salt(salt),
                digest: Digest::from_bytes(digest),
            })
    }

    proptest! {
        #[test]
        fn written_lines_round_trip(head in any_head(), rest in ".*") {
            let text = format!("{head}{rest}");
            prop_assert_eq!(LineHeader::parse(&text), Some((head, rest.as_str())));
        }

        #[test]
        fn parsed_lines_have_the_written_form(head in any_head(), at in 0usize..260, other in any::<char>()) {
            let mut text: Vec<char> = head.to_string().chars().collect();
            let at = at % text.len();
            text[at] = other;
            let text: String = text.into_iter().collect();
            if let Some((read, rest)) = LineHeader::parse(&text) {
                prop_assert_eq!(format!("{read}{rest}"), text);
            }
        }
    }
}
