//! Where a text mentions an address, in whatever spelling.

use std::ops::Range;

use super::spelt::{Unit, units};
use crate::world::mailbox::Mailbox;

/// Whether an address, in its normal form, is one that is looked for.
pub type Wanted<'a> = dyn Fn(&str) -> bool + 'a;

const MOST: usize = 255;

/// The parts of `text` that spell an address for which `wanted` says yes, in order.
///
/// Of a longer address, as `ann.jo@acme.com` and `jo@acme.com.au` are of `jo@acme.com`, no part
/// is another address.
#[must_use]
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
#[must_use]
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
