//! A text as it is meant: what each character stands for, however it is spelled.
//!
//! `%40`, `%2540`, `=40`, `&#64;`, `&#x40;`, `&commat;`, `\u0040`, `\u{40}`, `＠`, `﹫`, `[at]`,
//! `&lt;at&gt;` and ` @ ` all mean `@`.
//! A decoder may be generous here: what it makes of a text is only ever compared.

use std::ops::Range;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use unicode_normalization::UnicodeNormalization as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) meant: char,
    pub(super) span: Range<usize>,
}

const NAMED: [(&str, char); 8] = [
    ("commat;", '@'),
    ("period;", '.'),
    ("lowbar;", '_'),
    ("hyphen;", '-'),
    ("dash;", '-'),
    ("plus;", '+'),
    ("nbsp;", ' '),
    ("quot;", '"'),
];
const CLOSING: [char; 5] = [')', ']', '}', '>', '»'];
const AT: [&str; 5] = ["at", "@", "a", "골뱅이", "ät"];
const DOT: [&str; 4] = ["dot", ".", "punkt", "point"];

/// What `text` means, character by character, in lower case; what leaves no mark is left out.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let invisible = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let mut units: Vec<Unit> = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let spelled = match first {
            '%' => percent(rest),
            '&' => enclosed(rest).or_else(|| reference(rest)),
            '=' => quoted(rest),
            '\\' => escape(rest),
            '(' | '[' | '{' | '<' | '«' | ' ' => word(rest),
            '골' => rest.starts_with(AT[3]).then_some(('@', AT[3].len())),
            _ => None,
        };
        let (meant, length) = spelled.unwrap_or((first, first.len_utf8()));
        let mut span = at..at + length;
        at = span.end;
        if invisible.contains(meant) {
            continue;
        }
        // One sign may stand for several characters, of which each is spelled by all of it.
        for meant in plain(meant) {
            if meant == '@' || spelled.is_some() && meant == '.' {
                while let Some(blank) = units.pop_if(|unit| is_blank(unit.meant)) {
                    span.start = blank.span.start;
                }
                let left = text[at..].trim_start_matches(is_blank);
                at = text.len() - left.len();
                span.end = at;
            }
            let span = span.clone();
            units.push(Unit { meant, span });
        }
    }
    units
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

fn plain(c: char) -> impl Iterator<Item = char> {
    let dot = |c| if c == '\u{3002}' { '.' } else { c };
    std::iter::once(c).nfkc().map(dot).map(|c| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) => lower,
            _ => c,
        }
    })
}

/// `=40` and `=2E`, as quoted-printable text has them; other codes stand in too much that is none.
fn quoted(text: &str) -> Option<(char, usize)> {
    let code = text.get(1..3)?;
    match code.to_ascii_lowercase().as_str() {
        "40" => Some(('@', 3)),
        "2e" => Some(('.', 3)),
        _ => None,
    }
}

fn enclosed(text: &str) -> Option<(char, usize)> {
    let inner = text.strip_prefix("&lt;")?.trim_start_matches(is_blank);
    let one = |word: &&str| {
        let same = inner.get(..word.len())?.to_lowercase() == **word;
        let after = inner.get(word.len()..).filter(|_| same)?;
        let rest = after.trim_start_matches(is_blank).strip_prefix("&gt;")?;
        Some(text.len() - rest.len())
    };
    let at = AT.iter().find_map(one).map(|end| ('@', end));
    at.or_else(|| DOT.iter().find_map(one).map(|end| ('.', end)))
}

fn percent(text: &str) -> Option<(char, usize)> {
    let (first, mut length) = percent_byte(text)?;
    let more = match first {
        0..=0x7F => 0,
        0xC2..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF4 => 3,
        _ => return None,
    };
    let mut bytes = vec![first];
    for _ in 0..more {
        let (byte, read) = percent_byte(&text[length..])?;
        bytes.push(byte);
        length += read;
    }
    let meant = str::from_utf8(&bytes).ok()?.chars().next()?;
    Some((meant, length))
}

fn percent_byte(text: &str) -> Option<(u8, usize)> {
    let mut rest = text.strip_prefix('%')?;
    let digits = |text: &str| -> Option<u8> {
        let pair = text.get(..2)?;
        let plain = pair.bytes().all(|byte| byte.is_ascii_hexdigit());
        plain.then(|| u8::from_str_radix(pair, 16).ok())?
    };
    while let Some(inner) = rest.strip_prefix("25")
        && digits(inner).is_some()
    {
        rest = inner;
    }
    let byte = digits(rest)?;
    Some((byte, text.len() - rest.len() + 2))
}

/// `&#64;`, `&#x40;` or `&commat;`, the sign before it encoded any number of times.
fn reference(text: &str) -> Option<(char, usize)> {
    let mut rest = text.strip_prefix('&')?;
    while let Some(inner) = rest.strip_prefix("amp;") {
        rest = inner;
    }
    let length = |rest: &str| text.len() - rest.len();
    if let Some(number) = rest.strip_prefix('#') {
        let (number, radix) = match number.strip_prefix(['x', 'X']) {
            Some(number) => (number, 16),
            None => (number, 10),
        };
        let end = number.find(|c: char| !c.is_digit(radix));
        let (digits, left) = number.split_at(end.unwrap_or(number.len()));
        let meant = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
        let left = left.strip_prefix(';').unwrap_or(left);
        return Some((meant, length(left)));
    }
    let named = |(name, meant): &(&str, char)| {
        let same = rest.get(..name.len())?.eq_ignore_ascii_case(name);
        same.then(|| (*meant, length(&rest[name.len()..])))
    };
    NAMED
        .iter()
        .find_map(named)
        .or_else(|| (length(rest) > 1).then(|| ('&', length(rest))))
}

fn escape(text: &str) -> Option<(char, usize)> {
    let rest = text.trim_start_matches('\\');
    let slashes = text.len() - rest.len();
    let hexadecimal = |digits: usize| {
        let spelled = rest.get(1..=digits)?;
        let code = u32::from_str_radix(spelled, 16).ok()?;
        Some((char::from_u32(code)?, slashes + 1 + digits))
    };
    let braced = || {
        let (code, _) = rest.strip_prefix("u{")?.split_once('}')?;
        let meant = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
        Some((meant, slashes + code.len() + 3))
    };
    match rest.chars().next()? {
        'u' => braced().or_else(|| hexadecimal(4)),
        'x' => hexadecimal(2),
        'n' | 'r' | 't' | 'b' | 'f' => Some((' ', slashes + 1)),
        sign @ ('"' | '\'' | '/') => Some((sign, slashes + 1)),
        _ => None,
    }
}

fn word(text: &str) -> Option<(char, usize)> {
    let bare = text.starts_with(' ');
    let mut chars = text.chars();
    chars.next()?;
    let inner = chars.as_str().trim_start_matches(is_blank);
    let one = |word: &&str| {
        let same = inner.get(..word.len())?.to_lowercase() == **word;
        let after = inner.get(word.len()..).filter(|_| same)?;
        let rest = after.trim_start_matches(is_blank);
        let ends = if bare {
            rest.len() < after.len() && word.len() > 1
        } else {
            rest.starts_with(CLOSING)
        };
        let closing = rest.chars().next().filter(|_| !bare);
        let end = text.len() - rest.len() + closing.map_or(0, char::len_utf8);
        ends.then_some(end)
    };
    let at = AT.iter().find_map(one).map(|end| ('@', end));
    at.or_else(|| DOT.iter().find_map(one).map(|end| ('.', end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> String {
        units(text).iter().map(|unit| unit.meant).collect()
    }

    #[test]
    fn every_spelling_means_the_same() {
        for spelled in [
            "jo@acme.com",
            "Jo@ACME.com",
            "jo%40acme.com",
            "jo%2540acme%2ecom",
            "%6a%6F@acme.com",
            "jo&#64;acme&period;com",
            "jo&#x40;acme&#46;com",
            "jo&amp;#64;acme.com",
            "jo&commat;acme.com",
            "jo\\u0040acme.com",
            "jo\\\\u0040acme\\x2Ecom",
            "ｊｏ＠ａｃｍｅ．ｃｏｍ",
            "𝐣𝐨@acme.com",
            "ⓙⓞ@acme.com",
            "jo@𝐚𝐜𝐦𝐞.com",
            "jo﹫acme.com",
            "jo@acme․com",
            "jo@acme。com",
            "jo=40acme=2Ecom",
            "jo\\u{40}acme.com",
            "jo &lt;at&gt; acme&lt;DOT&gt;com",
            "jo [at] acme (dot) com",
            "jo @ acme.com",
            "jo at acme dot com",
            "jo골뱅이acme.com",
            "j\u{ad}o@ac\u{200b}me.com",
        ] {
            assert_eq!(meant(spelled), "jo@acme.com", "{spelled}");
        }
        assert_eq!(meant("%C3%BC"), "ü");
        assert_eq!(meant("100% & more \\ %zz &unknown; %e2%28"), {
            "100% & more \\ %zz &unknown; %e2("
        });
        assert_eq!(meant("ﬁ = 4 &lt;b&gt; \\u{zz}"), "fi = 4 &lt;b&gt; \\u{zz}");
    }

    #[test]
    fn the_spans_are_those_of_the_text() {
        let text = "a jo&#64;x.de";
        let spelled: Vec<_> = units(text)
            .iter()
            .map(|unit| &text[unit.span.clone()])
            .collect();
        assert_eq!(spelled[4..6], ["&#64;", "x"]);
    }
}
