//! JSON whose strings hold what is no text, read as text.
//!
//! JSON (RFC 8259 §8.2) may escape half of a surrogate pair, as Python does with each byte of a
//! file name that is no UTF-8; a reader of texts then refuses all of it.

use std::borrow::Cow;

/// How many characters an escape such as `\ud800` has.
const LONG: usize = 6;

/// What the escape of U+FFFD is.
const REPLACED: &str = r"\ufffd";

/// The bytes of a JSON document as a text, with U+FFFD for every byte that belongs to none and
/// for every escape of half a surrogate pair.
#[must_use]
pub fn whole_text(json: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(json) {
        Cow::Borrowed(text) => paired(text),
        Cow::Owned(text) => Cow::Owned(paired(&text).into_owned()),
    }
}

/// The document, with escapes of U+FFFD for those of half a surrogate pair.
fn paired(json: &str) -> Cow<'_, str> {
    let (mut whole, mut kept, mut at) = (String::new(), 0, 0);
    while let Some(before) = json[at..].find('\\') {
        at += before;
        at += match (half(&json[at..]), json.get(at + LONG..).and_then(half)) {
            (Some(Half::First), Some(Half::Second)) => 2 * LONG,
            (Some(_), _) => {
                whole.push_str(&json[kept..at]);
                whole.push_str(REPLACED);
                kept = at + LONG;
                LONG
            }
            // The escaped character may be a backslash, which escapes nothing then.
            (None, _) => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    whole.push_str(&json[kept..]);
    Cow::Owned(whole)
}

enum Half {
    First,
    Second,
}

/// Which half of a surrogate pair is escaped where the text begins.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix(r"\u")?.get(..LONG - 2)?;
    // A sign before the digits would be a number too.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_a_pair_is_not() {
        for (json, whole) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDBFF\uDFFF""#, r#""\uDBFF\uDFFF""#),
            (r#""\udc00\ud800""#, r#""\ufffd\ufffd""#),
            (r#""\ud800\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00\ude00x""#, r#""\ud83d\ude00\ufffdx""#),
            (r#""\ud83dx\ude00""#, r#""\ufffdx\ufffd""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud83d\\ude00""#, r#""\ufffd\\ude00""#),
            (r#""\u00e9\n\ud7ff\ue000""#, r#""\u00e9\n\ud7ff\ue000""#),
        ] {
            assert_eq!(whole_text(json.as_bytes()), whole, "{json}");
        }
        assert_eq!(whole_text(b"\"\xff\\udfff\""), "\"\u{fffd}\\ufffd\"");
    }

    #[test]
    fn what_is_cut_short_stays_as_it_is() {
        for json in [
            r"",
            r"\",
            r"\u",
            r"\ud80",
            r"\ud80é",
            r"\u+d80",
            r"\é\",
            "\\u\u{10ffff}",
        ] {
            assert_eq!(whole_text(json.as_bytes()), json, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_document_that_can_be_read_says_the_same(text: String, other: String) {
            let json = serde_json::json!({text: other}).to_string();
            proptest::prop_assert_eq!(whole_text(json.as_bytes()), json.as_str());
        }

        #[test]
        fn every_string_of_escapes_can_be_read(codes: Vec<u16>) {
            let escape = |code: &u16| format!("\\u{code:04x}");
            let json = format!("\"{}\"", codes.iter().map(escape).collect::<String>());
            let read: String = serde_json::from_str(&whole_text(json.as_bytes())).unwrap();
            proptest::prop_assert_eq!(read, String::from_utf16_lossy(&codes));
        }
    }
}
