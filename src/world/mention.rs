//! Where a text mentions an address, in whatever spelling.

use std::ops::Range;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use unicode_normalization::UnicodeNormalization as _;

use crate::world::mailbox::Mailbox;

/// Whether an address, in its normal form, is one that is looked for.
pub type Wanted<'a> = dyn Fn(&str) -> bool + 'a;

const MOST: usize = 255;

/// The parts of `text` that spell an address for which `wanted` says yes, in order.
///
/// Of a longer address, as `ann.jo@acme.com` and `jo@acme.com.au` are of `jo@acme.com`, no part
/// is another address.
pub fn mentions(text: &str, wanted: &Wanted<'_>) -> Vec<Range<usize>> {
    let units = units(text);
    let signs = units.iter().enumerate();
    let signs = signs.filter(|(_, unit)| unit.meant == '@');
    let found = signs.filter_map(|(sign, _)| mention(&units, sign, wanted));
    found
        .map(|range| units[range.start].span.start..units[range.end - 1].span.end)
        .collect()
}

/// The text with `mask` in place of each of [`mentions`]; none when there is none.
pub fn without(text: &str, wanted: &Wanted<'_>, mask: &str) -> Option<String> {
    let mentions = mentions(text, wanted);
    if mentions.is_empty() {
        return None;
    }
    let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
    for span in mentions {
        masked.push_str(text.get(from..span.start).unwrap_or_default());
        masked.push_str(mask);
        from = span.end;
    }
    masked.push_str(&text[from..]);
    // What stood around one mention may spell another now.
    let again = without(&masked, wanted, mask);
    Some(again.unwrap_or(masked))
}

fn mention(units: &[Unit], sign: usize, wanted: &Wanted<'_>) -> Option<Range<usize>> {
    let right = units[sign + 1..].iter().take(MOST);
    let right: String = right
        .map(|unit| unit.meant)
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
        .collect();
    starts(units, sign).find_map(|start| {
        let local: String = units[start..sign].iter().map(|unit| unit.meant).collect();
        let length = ends(&right).find_map(|(domain, known_longer)| {
            match Mailbox::parse(&format!("{local}@{domain}")) {
                Ok(mailbox) if wanted(&mailbox.to_string()) => Some(Some(domain.chars().count())),
                Ok(_) if known_longer => Some(None),
                _ => None,
            }
        });
        length.flatten().map(|length| start..sign + 1 + length)
    })
}

/// Where an address may begin whose `@` is at `sign`: behind what no local part holds, or behind
/// a sign that few do.
fn starts(units: &[Unit], sign: usize) -> impl Iterator<Item = usize> {
    let local = |unit: &Unit| {
        unit.meant.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(unit.meant)
    };
    let run = units[..sign]
        .iter()
        .rev()
        .take(MOST)
        .take_while(|unit| local(unit));
    let first = sign - run.count();
    let joins = |unit: &Unit| unit.meant.is_ascii_alphanumeric() || "._+-%".contains(unit.meant);
    let lone = |start: usize| {
        units[first..start]
            .iter()
            .all(|unit| "._+-%".contains(unit.meant))
    };
    let starts = (first..sign)
        .filter(move |start| *start == first || !joins(&units[start - 1]) || lone(*start));
    starts.collect::<Vec<_>>().into_iter()
}

/// The domains that `right` may begin with, the longest first, each with whether it is written
/// so as a whole: then no shorter one is meant.
fn ends(right: &str) -> impl Iterator<Item = (&str, bool)> {
    let whole = right.trim_end_matches(['.', '-']);
    let ends = whole.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
    ends.map(move |end| (&whole[..end], end == whole.len()))
}

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
    use proptest::prelude::*;

    fn masked(text: &str) -> Option<String> {
        without(text, &|address| address == "jo@acme.com", "_")
    }

    #[test]
    fn whatever_stands_around_it_the_address_is_found() {
        for (text, expected) in [
            ("jo@acme.com", "_"),
            ("<mailto:Jo@Acme.com?subject=x>", "<mailto:_?subject=x>"),
            ("a=1&email=jo%40acme.com&b=2", "a=1&email=_&b=2"),
            (
                "https%3A%2F%2Fx.de%2F%3Fto%3Djo%40acme.com%26y",
                "https%3A%2F%2Fx.de%2F%3Fto%3D_%26y",
            ),
            ("write to jo@acme.com.", "write to _."),
            ("jo@acme.com.Telefon: 7", "_.Telefon: 7"),
            ("메일jo@acme.com로", "메일_로"),
            (
                "{\\\"to\\\":\\\"jo\\u0040acme.com\\\"}",
                "{\\\"to\\\":\\\"_\\\"}",
            ),
            ("'jo@acme.com'", "'_'"),
            ("..jo@acme.com", ".._"),
            ("jo@acme.com,jo@acme.com", "_,_"),
            ("mail: jo [at] acme [dot] com!", "mail: _!"),
            ("https://jo@acme.com/", "https://_/"),
        ] {
            assert_eq!(masked(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn another_address_is_left_alone() {
        for text in [
            "ann.jo@acme.com",
            "banjo@acme.com",
            "a-jo@acme.com",
            "jo@acme.com.au",
            "jo@mail.acme.com",
            "jo@acme.company",
            "jo+x@acme.com",
            "jo@acme",
            "joacme.com",
            "@",
            "",
        ] {
            assert_eq!(masked(text), None, "{text}");
        }
    }

    #[test]
    fn a_domain_is_the_same_in_both_of_its_spellings() {
        let wanted = Mailbox::parse("jo@bücher.de").unwrap().to_string();
        assert_eq!(wanted, "jo@xn--bcher-kva.de");
        for text in [
            "jo@bücher.de",
            "JO@BÜCHER.DE",
            "jo@xn--bcher-kva.de",
            "jo%40b%C3%BCcher.de",
        ] {
            let masked = without(text, &|address| address == wanted, "_");
            assert_eq!(masked.as_deref(), Some("_"), "{text}");
        }
    }

    fn spelled(c: char) -> impl Strategy<Value = String> {
        let code = u32::from(c);
        prop::sample::select(vec![
            c.to_string(),
            c.to_uppercase().to_string(),
            format!("%{code:02x}"),
            format!("%25{code:02X}"),
            format!("&#{code};"),
            format!("&#x{code:x};"),
            format!("&amp;#{code};"),
            format!("\\u{code:04x}"),
            format!("\\\\u{code:04X}"),
            format!("\u{200b}{c}"),
        ])
    }

    fn address() -> impl Strategy<Value = String> {
        let chars: Vec<_> = "jo@acme.com".chars().map(spelled).collect();
        chars.prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn no_spelling_of_it_is_left(
            before in "[^a-z0-9._+%\\-&\\\\]{0,8}",
            address in address(),
            after in "[^a-z0-9.;\\-]{0,8}",
        ) {
            let text = format!("{before} {address} {after}");
            let masked = masked(&text).expect("a mention");
            prop_assert!(masked.contains('_'));
            prop_assert!(!masked.to_lowercase().contains("jo@acme.com"));
            let wanted = |address: &str| address == "jo@acme.com";
            prop_assert!(mentions(&masked, &wanted).is_empty());
        }

        #[test]
        fn any_text_is_read(text in ".{0,80}") {
            masked(&text);
        }

        #[test]
        fn any_near_text_is_read(text in "[jo@acme.com%25&#64;\\\\u0040 \\[\\]at(dot)]{0,60}") {
            masked(&text);
        }
    }

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
