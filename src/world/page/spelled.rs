//! Addresses that are spelled so that harvesters do not find them.
//!
//! `info [at] acme [dot] com`, `info(at)acme.com`, `info @ acme.com`, `info at acme dot com`,
//! `info골뱅이acme.com`, `info★acme.com`, and full-width forms (`ｉｎｆｏ＠ａｃｍｅ．ｃｏ`). The plain word
//! `at` counts only with a spelled dot, or in capitals: “visit us at acme.com” spells nothing.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::whole::{Needle, after, ends_alone, runs_on, starts_alone};

const OPENING: &[char] = &['(', '[', '{', '<', '【', '〔', '「', '『', '《', '〈', '«'];
const CLOSING: &[char] = &[')', ']', '}', '>', '】', '〕', '」', '』', '》', '〉', '»'];
/// Signs that stand on both sides of a spelled word.
const WRAPPING: &[char] = &['_', '-', '*', '|', '~', '=', '#', '"', '\'', '/', '+', ':'];
/// Signs that stand for `@` by themselves.
const STARS: &[char] = &['★', '☆', '●', '◎', '■', '◆', '※', '#'];
/// Words for `@` that are clear without brackets.
const CLEAR_AT: &[&str] = &[
    "골뱅이",
    "アットマーク",
    "アット",
    "&#64;",
    "&#x40;",
    "&commat;",
    "%40",
];
/// Words for `@` in brackets.
const AT: &[&str] = &[
    "at",
    "a",
    "@",
    "ät",
    "æt",
    "ad",
    "arroba",
    "chiocciola",
    "klammeraffe",
    "앳",
    "엣",
    "골뱅이",
    "アットマーク",
    "アット",
];
/// Words for a dot.
const DOT: &[&str] = &[
    "dot",
    "d0t",
    "punkt",
    "punto",
    "point",
    "ponto",
    "점",
    "닷",
    "도트",
    "ドット",
    "点",
];

/// Whether a text may hold an address, plain or spelled. Says yes too often, never too seldom.
pub(super) fn may_spell(text: &str) -> bool {
    if text.contains('@') {
        return true;
    }
    let lower = folded(text).to_ascii_lowercase();
    let mut clear = CLEAR_AT.iter();
    lower.contains(['@', '★', '☆', '●', '◎', '■', '◆', '※'])
        || clear.any(|word| lower.contains(word))
        || AT.iter().filter(|word| word.len() > 1).any(|word| {
            lower.match_indices(word).any(|(at, _)| {
                let around = |c: char| !runs_on(c);
                lower[..at].ends_with(around) && lower[at + word.len()..].starts_with(around)
            })
        })
        || ["(a)", "[a]", "{a}"]
            .iter()
            .any(|form| lower.contains(form))
}

/// Whether `text` spells the address in one of these ways.
pub(super) fn spells(text: &str, needle: &Needle) -> bool {
    let folded = folded(text);
    if matches!(folded, Cow::Owned(_)) && needle.is_in(&folded) {
        return true;
    }
    let lower = folded.to_ascii_lowercase();
    let first = needle.local.split('.').next().unwrap_or_default();
    if first.is_empty() {
        return false;
    }
    lower.match_indices(first).any(|(at, _)| {
        starts_alone(&lower[..at])
            && !continues_to_the_left(&lower[..at])
            && dotted(&lower[at..], &needle.local).is_some_and(|(rest, _)| {
                let original = &folded[folded.len() - rest.len()..];
                at_sign(rest, original).is_some_and(|(sign, rest)| {
                    needle.domains.iter().any(|domain| {
                        dotted(rest, domain).is_some_and(|(rest, spelled)| {
                            (spelled || sign == Sign::Clear)
                                && ends_alone(rest, domain)
                                && !continues_to_the_right(rest)
                        })
                    })
                })
            })
    })
}

/// Compatibility forms made plain.
fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// How sure it is that a sign stands for `@`.
#[derive(PartialEq, Eq)]
enum Sign {
    Clear,
    Word,
}

/// What follows a sign for `@` at the start of `lower`.
fn at_sign<'a>(lower: &'a str, original: &str) -> Option<(Sign, &'a str)> {
    let spaced = lower.strip_prefix(' ');
    let start = spaced.unwrap_or(lower);
    let clear = start
        .strip_prefix('@')
        .or_else(|| {
            start
                .strip_prefix(STARS)
                .filter(|rest| !rest.starts_with("at"))
        })
        .or_else(|| enclosed(start, AT))
        .or_else(|| CLEAR_AT.iter().find_map(|word| start.strip_prefix(word)));
    if let Some(rest) = clear {
        return Some((Sign::Clear, rest.strip_prefix(' ').unwrap_or(rest)));
    }
    let rest = spaced?.strip_prefix("at ")?;
    let sign = if original.starts_with(" AT ") {
        Sign::Clear
    } else {
        Sign::Word
    };
    Some((sign, rest))
}

/// What follows one of `words` in brackets, or between two equal signs.
fn enclosed<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let (open, inner) = text.split_at_checked(text.chars().next()?.len_utf8())?;
    let bracket = open.starts_with(OPENING);
    if !bracket && !open.starts_with(WRAPPING) {
        return None;
    }
    let inner = if bracket {
        inner.trim_start_matches(OPENING)
    } else {
        inner
    };
    let inner = inner.strip_prefix(' ').unwrap_or(inner);
    words.iter().find_map(|word| {
        let rest = inner.strip_prefix(word)?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if bracket {
            let rest = rest.strip_prefix(CLOSING)?;
            Some(rest.strip_prefix(CLOSING).unwrap_or(rest))
        } else {
            rest.strip_prefix(open)
        }
    })
}

/// What follows a spelled dot.
fn spelled_dot(lower: &str) -> Option<&str> {
    let spaced = lower.strip_prefix(' ');
    let start = spaced.unwrap_or(lower);
    if let Some(rest) = enclosed(start, DOT).or_else(|| enclosed(start, &["."])) {
        return Some(rest.strip_prefix(' ').unwrap_or(rest));
    }
    DOT.iter().find_map(|word| {
        let rest = start.strip_prefix(word)?;
        if word.is_ascii() {
            spaced.and(rest.strip_prefix(' '))
        } else {
            Some(rest.strip_prefix(' ').unwrap_or(rest))
        }
    })
}

/// What follows a plain dot, which spaces may surround.
fn plain_dot(lower: &str) -> Option<&str> {
    let rest = lower.strip_prefix(' ').unwrap_or(lower).strip_prefix('.')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// What follows `name`, and whether one of its dots is spelled.
fn dotted<'a>(lower: &'a str, name: &str) -> Option<(&'a str, bool)> {
    let mut rest = lower;
    let mut spelled = false;
    for (index, label) in name.split('.').enumerate() {
        if index > 0 {
            rest = match spelled_dot(rest) {
                Some(rest) => {
                    spelled = true;
                    rest
                }
                None => plain_dot(rest)?,
            };
        }
        rest = after(rest, label)?;
    }
    Some((rest, spelled))
}

/// Whether a dot, spelled or with a space before it, joins what follows to `before`.
fn continues_to_the_left(before: &str) -> bool {
    let bare = before.strip_suffix(' ').unwrap_or(before);
    if bare.ends_with(" .") {
        return true;
    }
    let word = bare
        .strip_suffix(CLOSING)
        .or_else(|| bare.strip_suffix(WRAPPING));
    let word = word.unwrap_or(bare);
    let enclosed = word.len() < bare.len();
    let word = word.trim_end_matches(' ');
    DOT.iter().any(|dot| {
        word.strip_suffix(dot).is_some_and(|rest| {
            rest.ends_with(OPENING)
                || (enclosed && rest.ends_with(WRAPPING))
                || (bare.len() < before.len() && rest.ends_with(' '))
        })
    })
}

/// Whether a dot, spelled or with a space before it, joins `rest` to what precedes it.
fn continues_to_the_right(rest: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(runs_on);
    spelled_dot(rest).is_some_and(goes_on)
        || (rest.starts_with(" .") && plain_dot(rest).is_some_and(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mailbox::Mailbox;

    fn spelled(address: &str, text: &str) -> bool {
        let found = spells(text, &Needle::of(&Mailbox::parse(address).unwrap()));
        assert!(!found || may_spell(text), "{text} would not be kept");
        found
    }

    #[test]
    fn spelled_addresses_are_found() {
        for text in [
            "info [at] acme [dot] com",
            "info(at)acme.com",
            "info @ acme.com",
            "info at acme dot com",
            "Info AT Acme DOT Com",
            "info[골뱅이]acme.com",
            "info골뱅이acme.com",
            "info 골뱅이 acme 닷 com",
            "info(a)acme.com",
            "info＠acme.com",
            "ｉｎｆｏ＠ａｃｍｅ．ｃｏｍ",
            "info{AT}acme{DOT}com",
            "info_at_acme_dot_com",
            "info AT acme.com",
            "info((at))acme.com",
            "info <at> acme <dot> com",
            "info★acme.com",
            "info&#64;acme.com",
            "info @ acme . com",
            "info (at) acme.com.",
            "이메일: info[at]acme.com 입니다",
            "info -at- acme.com",
            "info[@]acme[.]com",
            "info( at )acme( dot )com",
            "info@acme [dot] com",
            "info(ät)acme.com",
        ] {
            assert!(spelled("info@acme.com", text), "{text}");
        }
        assert!(spelled(
            "jo.doe@acme.com",
            "jo [dot] doe [at] acme [dot] com"
        ));
        assert!(spelled("jo.doe@acme.com", "jo.doe (at) acme.com"));
        assert!(spelled(
            "info@xn--bcher-kva.example",
            "info (at) bücher.example"
        ));
    }

    #[test]
    fn what_spells_nothing_or_another_address_is_not() {
        for text in [
            "info at acme.com",
            "visit info at acme com",
            "info [at] acme [dot] com [dot] kr",
            "info(at)acme.com.kr",
            "info @ acme.co",
            "xinfo(at)acme.com",
            "x.info(at)acme.com",
            "x [dot] info [at] acme [dot] com",
            "x dot info at acme dot com",
            "x . info @ acme.com",
            "info at acme dot com dot kr",
            "info @ acme . com . kr",
            "info(at]",
            "info(bat)acme.com",
            "infoatacmedotcom",
            "info (at) acme.community",
            "information (at) acme.com",
            "info (at acme.com",
            "info attacme.com",
            "",
            "info",
            "info [at]",
        ] {
            assert!(!spelled("info@acme.com", text), "{text}");
        }
        assert!(!spelled("us@acme.com", "find us at acme.com"));
    }

    #[test]
    fn prose_is_not_kept() {
        assert!(!may_spell("var attribute = 'data'; format(b)"));
        assert!(may_spell("x (at) y"));
    }

    #[test]
    fn hostile_texts_end() {
        let needle = Needle::of(&Mailbox::parse("a.a@acme.com").unwrap());
        for text in ["a", "a.", "a [dot] ", "(((", "a@", "a(at)", " . ", "-", "ﷺ"] {
            assert!(!spells(&text.repeat(200_000), &needle), "{text}");
        }
    }
}
