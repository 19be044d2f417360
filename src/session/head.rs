//! The head of a ledger line: everything before its body, in one fixed form.
//!
//! ```text
//! {"seq":12,"at":"…Z","prev":"…","type":"attempt","salt":"…","digest":"…"
//! ```
//!
//! What reads is what writes: no other order, white space or spelling of a value.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;

use super::event::EventType;
use crate::base::Digest;
use crate::base::clock::Salt;

/// A ledger line without its body.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub(super) struct Head {
    /// Its number, from 0.
    pub(super) seq: u64,
    /// When it was written.
    pub(super) at: Timestamp,
    /// The hash of the line before without its body.
    pub(super) prev: Digest,
    // Said with the body that it goes with.
    #[schemars(skip)]
    pub(super) kind: EventType,
    /// What is digested before the body.
    pub(super) salt: Salt,
    /// The digest of salt and body as they were written.
    pub(super) digest: Digest,
}

impl Head {
    /// Reads the head that `text` begins with; gives also what follows it.
    pub(super) fn parse(text: &str) -> Option<(Self, &str)> {
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
            kind: EventType::named(value(",\"type\":\"", '"')?)?,
            salt: Salt(hexadecimal(value(",\"salt\":\"", '"')?)?),
            digest: digest(value(",\"digest\":\"", '"')?)?,
        };
        Some((head, rest))
    }
}

impl fmt::Display for Head {
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

pub(super) fn digest(text: &str) -> Option<Digest> {
    hexadecimal(text).map(Digest::from_bytes)
}

/// Bytes as two lower-case digits each. Every line has 160 of them, so they are looked up.
fn hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let (mut bytes, mut seen) = ([0; N], 0);
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (NIBBLES[usize::from(*high)], NIBBLES[usize::from(*low)]);
        seen |= high | low;
        *byte = high << 4 | low & 0xF;
    }
    (seen < NO_DIGIT).then_some(bytes)
}

const NO_DIGIT: u8 = 0x10;

const NIBBLES: [u8; 256] = {
    let mut nibbles = [NO_DIGIT; 256];
    let mut value: u8 = 0;
    while value < 16 {
        nibbles[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    nibbles
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_head() -> impl Strategy<Value = Head> {
        let kind = prop::sample::select(EventType::ALL.as_slice());
        let at = 0..253_402_207_200_000_i64;
        (
            any::<u64>(),
            at,
            any::<[[u8; 32]; 2]>(),
            kind,
            any::<[u8; 16]>(),
        )
            .prop_map(|(seq, at, [prev, digest], kind, salt)| Head {
                seq,
                at: Timestamp::from_millisecond(at).unwrap(),
                prev: Digest::from_bytes(prev),
                kind,
                salt: Salt(salt),
                digest: Digest::from_bytes(digest),
            })
    }

    #[test]
    fn digits_are_lower_case_and_of_the_right_number() {
        assert_eq!(hexadecimal("00ff1a"), Some([0x00, 0xFF, 0x1A]));
        for bad in [
            "00ff1", "00ff1a0", "00ff1A", "00ff1g", "00ff1/", "00ff1:", "00ffé", "",
        ] {
            assert_eq!(hexadecimal::<3>(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(head in any_head(), rest in ".*") {
            let text = format!("{head}{rest}");
            prop_assert_eq!(Head::parse(&text), Some((head, rest.as_str())));
        }

        #[test]
        fn what_reads_is_written_so(head in any_head(), at in 0usize..260, other in any::<char>()) {
            let mut text: Vec<char> = head.to_string().chars().collect();
            let at = at % text.len();
            text[at] = other;
            let text: String = text.into_iter().collect();
            if let Some((read, rest)) = Head::parse(&text) {
                prop_assert_eq!(format!("{read}{rest}"), text);
            }
        }

        #[test]
        fn no_text_panics(text in ".*") {
            prop_assert_eq!(Head::parse(&text), None);
        }
    }
}
