//! The last JSON object in a text with anything around it.

use serde_json::Value;

use crate::quest::ijson;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LastObject {
    None,
    Object(Value),
    Bad(String),
}

/// Finds the last top-level JSON object that is complete. An object that breaks off at the end of
/// the text does not count.
pub(super) fn last_object(text: &str) -> LastObject {
    let bytes = text.as_bytes();
    let (mut at, mut last) = (0, None);
    while let Some(open) = bytes[at..].iter().position(|byte| *byte == b'{') {
        let open = at + open;
        match object_end(bytes, open) {
            Ok(end) => {
                last = Some(open..end);
                at = end;
            }
            Err(Stop::Broken(place)) => at = place.max(open + 1),
            Err(Stop::CutOff) => break,
        }
    }
    match last.map(|range| ijson::value(&text[range])) {
        None => LastObject::None,
        Some(Ok(value)) => LastObject::Object(value),
        Some(Err(error)) => LastObject::Bad(error.to_string()),
    }
}

#[derive(Debug, Clone, Copy)]
enum Stop {
    Broken(usize),
    CutOff,
}

#[derive(Debug, Clone, Copy)]
enum Expect {
    Name { or_end: bool },
    Value { or_end: bool },
    Next,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Object,
    List,
}

fn object_end(bytes: &[u8], open: usize) -> Result<usize, Stop> {
    let mut inside = vec![Inside::Object];
    let mut expect = Expect::Name { or_end: true };
    let mut at = open + 1;
    loop {
        at = skip_space(bytes, at)?;
        let within = inside.last().copied();
        match (expect, bytes[at], within) {
            (Expect::Name { .. }, b'"', _) => {
                at = skip_space(bytes, string_end(bytes, at)?)?;
                if bytes[at] != b':' {
                    return Err(Stop::Broken(at));
                }
                at += 1;
                expect = Expect::Value { or_end: false };
            }
            (Expect::Name { or_end: true } | Expect::Next, b'}', Some(Inside::Object))
            | (Expect::Value { or_end: true } | Expect::Next, b']', Some(Inside::List)) => {
                inside.pop();
                at += 1;
                if inside.is_empty() {
                    return Ok(at);
                }
                expect = Expect::Next;
            }
            (Expect::Next, b',', within) => {
                at += 1;
                expect = match within {
                    Some(Inside::Object) => Expect::Name { or_end: false },
                    _ => Expect::Value { or_end: false },
                };
            }
            (Expect::Value { .. }, b'{', _) => {
                inside.push(Inside::Object);
                at += 1;
                expect = Expect::Name { or_end: true };
            }
            (Expect::Value { .. }, b'[', _) => {
                inside.push(Inside::List);
                at += 1;
                expect = Expect::Value { or_end: true };
            }
            (Expect::Value { .. }, _, _) => {
                at = scalar_end(bytes, at)?;
                expect = Expect::Next;
            }
            _ => return Err(Stop::Broken(at)),
        }
    }
}

fn skip_space(bytes: &[u8], from: usize) -> Result<usize, Stop> {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let rest = bytes.get(from..).unwrap_or_default();
    let skipped = rest.iter().position(|byte| !space(byte));
    skipped.map(|skipped| from + skipped).ok_or(Stop::CutOff)
}

fn string_end(bytes: &[u8], open: usize) -> Result<usize, Stop> {
    let mut at = open + 1;
    loop {
        match bytes.get(at) {
            None => return Err(Stop::CutOff),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(byte) if *byte < b' ' => return Err(Stop::Broken(at)),
            Some(_) => at += 1,
        }
    }
}

fn scalar_end(bytes: &[u8], open: usize) -> Result<usize, Stop> {
    if bytes[open] == b'"' {
        return string_end(bytes, open);
    }
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = bytes[open..].iter().position(|byte| !part(byte));
    let end = open + length.ok_or(Stop::CutOff)?;
    let scalar = serde_json::from_slice::<Value>(&bytes[open..end]);
    // A number too large to be one is no worse than a name that stands twice: it is refused later.
    match scalar {
        Err(error) if !error.to_string().starts_with("number out of range") => {
            Err(Stop::Broken(open))
        }
        _ => Ok(end),
    }
}

#[cfg(test)]
mod tests;
