//! A text without what a server takes out of what it is told, and what no reader sees: so it
//! may come back on the page.

use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use unicode_normalization::UnicodeNormalization;

/// Character references for what stands in addresses; any other named one is taken out.
const NAMED: &[(&str, &str)] = &[
    ("commat", "@"),
    ("period", "."),
    ("lowbar", "_"),
    ("hyphen", "-"),
    ("dash", "-"),
    ("plus", "+"),
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
];

/// The longest character reference that is read, in bytes.
const LONGEST_REFERENCE: usize = 32;

/// The reading as text, without the zero bytes that UTF-16 puts between ASCII letters.
#[must_use]
pub fn without_zeroes(reading: &[u8]) -> String {
    let dense: Vec<u8> = reading.iter().copied().filter(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&dense).into_owned()
}

/// Lower case in compatibility forms, with character references decoded, and without charset
/// escapes, control characters, undecodable bytes, backslashes, quotation marks and characters
/// that no reader sees.
#[must_use]
pub fn folded(text: &str) -> String {
    let plain: String = dereferenced(&without_escapes(text)).nfkc().collect();
    let kept = |c: &char| {
        !(c.is_control() || is_swallowed(*c) || matches!(c, '\\' | '"' | '\'' | '\u{fffd}'))
    };
    plain.to_lowercase().chars().filter(kept).collect()
}

/// The text without its tags, as PHP's `strip_tags` and its kin leave it.
#[must_use]
pub fn untagged(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        kept.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Whether a page that repeats the character shows nothing of it.
#[must_use]
pub fn is_swallowed(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// The text without the sequences that switch a charset (ISO/IEC 2022 §13.2): ESC, any
/// intermediate bytes, one final byte.
fn without_escapes(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.trim_start_matches(|c| (' '..='/').contains(&c));
        kept.push_str(
            end.strip_prefix(|c| ('0'..='~').contains(&c))
                .unwrap_or(end),
        );
    }
    kept
}

/// The text with its character references decoded.
fn dereferenced(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match reference(piece) {
            Some((Some(c), rest)) => {
                out.push(c);
                out.push_str(rest);
            }
            Some((None, rest)) => out.push_str(rest),
            None => {
                out.push('&');
                out.push_str(piece);
            }
        }
    }
    out
}

/// The character that a reference stands for, none for one that is not known, and what follows.
fn reference(after: &str) -> Option<(Option<char>, &str)> {
    if let Some(digits) = after.strip_prefix('#') {
        let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16),
            None => (digits, 10),
        };
        let rest = digits.trim_start_matches(|c: char| c.is_digit(radix));
        let digits = &digits[..digits.len() - rest.len()];
        let code = u32::from_str_radix(digits, radix).ok();
        let rest = rest.strip_prefix(';').unwrap_or(rest);
        return (!digits.is_empty()).then(|| (code.and_then(char::from_u32), rest));
    }
    let (name, rest) = after.split_once(';')?;
    let is_name = (1..=LONGEST_REFERENCE).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let known = NAMED.iter().find(|(known, _)| *known == name);
    is_name.then(|| (known.and_then(|(_, sign)| sign.chars().next()), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_come_back_is_taken_out() {
        for (text, left) in [
            ("A\u{200b}b\u{ad}c\u{fe0f}", "abc"),
            ("a\u{1b}(Bb\u{1b}$(Dc\u{1b}", "abc"),
            ("a\\b\"c'd\u{1}\u{fffd}", "abcd"),
            ("a&commat;b&#46;c&#x2E;d&#64e", "a@b.c.d@e"),
            ("a&shy;b&zwj;c", "abc"),
            ("\u{ff41}\u{ff20}", "a@"),
        ] {
            assert_eq!(folded(text), left, "{text:?}");
        }
    }

    #[test]
    fn what_comes_back_stays() {
        for text in ["r&d", "a&b=c;d e", "a.b+c@acme.co.kr", "한빛", "&;", "&#;"] {
            assert_eq!(folded(text), text);
        }
        assert_eq!(untagged("a<b>c</b>d"), "acd");
        assert_eq!(untagged("a > b <"), "a > b ");
    }
}
