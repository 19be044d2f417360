//! JSON text whose parts are told with their places in it, so that it can be changed in one place
//! and stay as it was everywhere else.

use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value within a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name, in an object.
    pub name: String,
    /// Where it stands.
    pub span: Range<usize>,
}

/// The members of the object that stands at `span`, in order; none where it is no object, or
/// names one twice.
pub(super) fn members(text: &str, span: &Range<usize>) -> Option<Vec<Entry>> {
    let mut reader = serde_json::Deserializer::from_str(&text[span.clone()]);
    let found = reader.deserialize_map(Members).ok()?;
    Some(
        found
            .into_iter()
            .map(|(name, raw)| entry(text, name, raw))
            .collect(),
    )
}

/// The items of the array that stands at `span`; none where it is no array.
pub(super) fn items(text: &str, span: &Range<usize>) -> Option<Vec<Entry>> {
    let mut reader = serde_json::Deserializer::from_str(&text[span.clone()]);
    let found = reader.deserialize_seq(Items).ok()?;
    Some(
        found
            .into_iter()
            .map(|raw| entry(text, String::new(), raw))
            .collect(),
    )
}

/// The member of this name.
pub(super) fn member(text: &str, span: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let found = members(text, span)?
        .into_iter()
        .find(|entry| entry.name == name);
    found.map(|entry| entry.span)
}

/// The text that stands at `span`, if it is a string.
pub(super) fn string(text: &str, span: &Range<usize>) -> Option<String> {
    serde_json::from_str(&text[span.clone()]).ok()
}

/// The text with `new` behind the last part of the object or array at `span`.
pub(super) fn appended(text: &str, span: &Range<usize>, last: Option<usize>, new: &str) -> String {
    let close = span.end - 1;
    let outer = indent_at(text, span.start);
    let inner = format!("{outer}  ");
    let new = new.replace('\n', &format!("\n{inner}"));
    if let Some(end) = last {
        return format!("{},\n{inner}{new}{}", &text[..end], &text[end..]);
    }
    let (before, after) = (&text[..=span.start], &text[close..]);
    format!("{before}\n{inner}{new}\n{outer}{after}")
}

/// The blanks that the line begins with on which `at` stands.
fn indent_at(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[begin..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn entry(text: &str, name: String, raw: &RawValue) -> Entry {
    // It is a part of `text`, so its place is how far it begins behind it.
    let begin = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    Entry {
        name,
        span: begin..begin + raw.get().len(),
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = Vec::new();
        while let Some((name, raw)) = map.next_entry::<String, &RawValue>()? {
            if found.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom("a name stands twice"));
            }
            found.push((name, raw));
        }
        Ok(found)
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(raw) = seq.next_element()? {
            found.push(raw);
        }
        Ok(found)
    }
}
