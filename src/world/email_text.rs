//! Addresses in text, however they are spelled.
//!
//! The gate looks for one address where a reader may see it, [`prune`] masks everybody else's in
//! recorded pages, and `forget` looks for one address anywhere. All of them read text by
//! [`read`], so that a spelling which counts for the gate is found by the others too.
//!
//! [`prune`]: crate::world::evidence::prune

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use itertools::{Either, Itertools as _};
use regex::bytes::Regex;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};

use crate::base::text::invisible;
use crate::base::words::{Row, rows};
use crate::world::mailbox::Mailbox;

const OPENING: &[char] = &['(', '[', '{', '<', '【', '〔', '「', '『', '《', '〈', '«'];
const CLOSING: &[char] = &[')', ']', '}', '>', '】', '〕', '」', '』', '》', '〉', '»'];
const WRAPPING: &[char] = &['_', '-', '*', '|', '~', '=', '#', '"', '\'', '/', '+', ':'];

/// Signs by their first character, the longest first, so that none hides a longer one.
#[derive(Default)]
struct Words(FxHashMap<char, Vec<String>>);

impl Words {
    fn put(&mut self, word: String) {
        if let Some(first) = word.chars().next() {
            self.0.entry(first).or_default().push(word);
        }
    }

    /// Those with which a text may start whose first character is `first`.
    fn at(&self, first: char) -> impl Iterator<Item = &str> {
        let words = self.0.get(&first).into_iter().flatten();
        words.map(String::as_str)
    }

    /// The same for a text in any case.
    fn folded_at(&self, text: &str) -> impl Iterator<Item = &str> {
        let first = text.chars().next().and_then(|c| c.to_lowercase().next());
        first.into_iter().flat_map(|first| self.at(first))
    }
}

/// The signs that stand for a character.
#[derive(Default)]
struct Signs {
    /// In brackets.
    enclosed: Words,
    /// As a word of its own.
    prose: Words,
    /// Without anything around them.
    alone: Words,
    /// The same where a reader sees them; in source text they have uses of their own.
    shown: Words,
}

#[derive(Debug, Clone, Deserialize)]
struct Sign {
    text: String,
    #[serde(default)]
    reach: Reach,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reach {
    #[default]
    Enclosed,
    Prose,
    Alone,
    Shown,
}

impl Signs {
    fn read(table: &str) -> Self {
        let mut rows = rows::<Sign>(table);
        rows.sort_by_key(|row| Reverse(row.word.text.len()));
        let mut signs = Self::default();
        for Row { word, .. } in rows {
            match word.reach {
                Reach::Enclosed => {}
                Reach::Prose => signs.prose.put(word.text.clone()),
                Reach::Alone => signs.alone.put(word.text.clone()),
                Reach::Shown => {
                    signs.shown.put(word.text);
                    continue;
                }
            }
            signs.enclosed.put(word.text);
        }
        signs
    }
}

/// The one sign that is a word of prose, too.
const AT_WORD: &str = "at";

const AT_TABLE: &str = include_str!("words/at.toml");
const DOT_TABLE: &str = include_str!("words/dot.toml");

static AT: LazyLock<Signs> = LazyLock::new(|| Signs::read(AT_TABLE));
static DOT: LazyLock<Words> = LazyLock::new(|| Signs::read(DOT_TABLE).enclosed);

static AT_IN_SOURCE: LazyLock<Regex> = LazyLock::new(|| at_pattern(SOURCE));
static AT_SHOWN: LazyLock<Regex> = LazyLock::new(|| at_pattern(SHOWN));

/// What every text has of which [`decode_sign`] makes an `@`, or that protects an address; and some
/// others.
fn at_pattern(reading: Reading) -> Regex {
    let escaped = |text: String| regex::escape(&text);
    let any = |words: &Words| words.0.values().flatten().cloned().map(escaped).join("|");
    let one_of = |signs: &[char]| signs.iter().map(char::to_string).map(escaped).join("|");
    let prose = AT.prose.0.values().flatten().cloned();
    // Source text is full of the word, and is not read for it.
    let prose = prose.filter(|word| reading.shown || word != AT_WORD);
    let (enclosed, prose) = (any(&AT.enclosed), prose.map(escaped).join("|"));
    let (mut opening, mut closing) = (one_of(OPENING), one_of(CLOSING));
    let mut alone = any(&AT.alone);
    if reading.shown {
        alone = format!("{alone}|{}", any(&AT.shown));
        let wrapping = one_of(WRAPPING);
        opening = format!("{opening}|{wrapping}");
        closing = format!("{closing}|{wrapping}");
    }
    let blank = r"[ \u{a0}]";
    let encoded =
        r"@|\u{ff20}|\u{fe6b}|%(25)*(40|ef)|&(amp;)*(#|commat;)|\\[ux]|cfemail|email-protection";
    let pattern = format!(
        "(?i){encoded}|{alone}|{blank}({prose}){blank}\
         |({opening}|&lt;){blank}*({enclosed}){blank}*({closing}|&gt;)"
    );
    Regex::new(&pattern).expect("the words are escaped")
}

/// Whether source text may hold an address, in any spelling or protected. Says yes too often, never
/// too seldom.
pub fn may_hold_address(source: &[u8]) -> bool {
    AT_IN_SOURCE.is_match(source)
}

const NAMED: [(&str, char); 10] = [
    ("commat;", '@'),
    ("period;", '.'),
    ("lowbar;", '_'),
    ("hyphen;", '-'),
    ("dash;", '-'),
    ("plus;", '+'),
    ("nbsp;", ' '),
    ("quot;", '"'),
    ("lt;", '<'),
    ("gt;", '>'),
];

#[derive(Clone, Copy)]
pub struct Reading {
    encoded: bool,
    /// `=40` is decoded, which in HTML is a value of an attribute.
    quoted: bool,
    /// A word counts between two equal signs too, and a star or a dot as `@`: `info_at_acme.com`.
    shown: bool,
}

pub const SHOWN: Reading = Reading {
    encoded: false,
    quoted: false,
    shown: true,
};
pub const SOURCE: Reading = Reading {
    encoded: true,
    quoted: false,
    shown: false,
};
/// Any text at all. What is shown is read apart: in `look_at_me@acme.com` nothing is spelled.
const ANY: [Reading; 2] = [
    Reading {
        encoded: true,
        quoted: true,
        shown: false,
    },
    Reading {
        encoded: true,
        quoted: true,
        shown: true,
    },
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As itself, or encoded.
    Plain,
    Spelled,
    /// As a word of prose: ` at `, ` dot `.
    Word,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub meant: char,
    pub how: How,
    pub span: Range<usize>,
}

/// What `text` means, character by character; what leaves no mark is left out.
///
/// Bytes that are no UTF-8 stand for themselves: pages in other encodings write addresses in
/// ASCII all the same.
pub fn read(text: &[u8], reading: Reading) -> Vec<Unit> {
    let mut units = Vec::with_capacity(text.len());
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        read_part(chunk.valid(), start, reading, &mut units);
        start += chunk.valid().len();
        for _ in chunk.invalid() {
            units.push(Unit {
                meant: char::REPLACEMENT_CHARACTER,
                how: How::Plain,
                span: start..start + 1,
            });
            start += 1;
        }
    }
    units
}

fn read_part(text: &str, start: usize, reading: Reading, units: &mut Vec<Unit>) {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let spelled = decode_sign(&text[at..], first, reading);
        let (meant, how, length) = spelled.unwrap_or((first, How::Plain, first.len_utf8()));
        let mut span = at..at + length;
        at = span.end;
        if invisible(meant) {
            continue;
        }
        // One sign may stand for several characters, of which each is spelled by all of it.
        for meant in plain_chars(meant) {
            let mut how = how;
            if meant == '@' || how != How::Plain {
                while let Some(blank) = units.pop_if(|unit| is_blank(unit.meant)) {
                    span.start = blank.span.start - start;
                    how = if how == How::Plain { How::Spelled } else { how };
                }
                let left = text[at..].trim_start_matches(is_blank);
                if left.len() < text.len() - at && how == How::Plain {
                    how = How::Spelled;
                }
                at = text.len() - left.len();
                span.end = at;
            }
            let span = start + span.start..start + span.end;
            units.push(Unit { meant, how, span });
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

fn plain_chars(c: char) -> impl Iterator<Item = char> {
    if c.is_ascii() {
        return Either::Left(std::iter::once(c.to_ascii_lowercase()));
    }
    let dot = |c| if c == '\u{3002}' { '.' } else { c };
    Either::Right(std::iter::once(c).nfkc().map(dot).map(|c| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) => lower,
            _ => c,
        }
    }))
}

/// The character that is spelled at the start of `text`, and how long that is.
fn decode_sign(text: &str, first: char, reading: Reading) -> Option<(char, How, usize)> {
    // In source text, most signs begin nothing.
    let begins = |c| matches!(c, ' ' | '(' | '[' | '{' | '<' | '%' | '&' | '\\' | '=');
    let may_begin = || reading.shown || !first.is_ascii() || begins(first);
    if first.is_ascii_alphanumeric() || !may_begin() && !AT.alone.0.contains_key(&first) {
        return None;
    }
    if let Some((sign, length)) = decode_enclosed(text, reading) {
        return Some((sign, How::Spelled, length));
    }
    let alone = |words: &'static Words| words.at(first).find(|word| text.starts_with(word));
    let shown = || alone(&AT.shown).filter(|_| reading.shown);
    if let Some(word) = alone(&AT.alone).or_else(shown) {
        return Some(('@', How::Spelled, word.len()));
    }
    let joined = |dot: &&str| text.starts_with(dot) && !dot.is_ascii();
    if let Some(dot) = DOT.at(first).find(joined) {
        return Some(('.', How::Spelled, dot.len()));
    }
    if first == ' ' {
        return decode_word(text);
    }
    let decoded = match first {
        '=' if reading.quoted => decode_quoted_printable(text),
        _ if !reading.encoded => None,
        '%' => decode_percent(text),
        '&' => reference(text),
        '\\' => decode_escape(text),
        _ => None,
    };
    decoded.map(|(sign, length)| (sign, How::Plain, length))
}

/// A word for `@` or a dot in brackets, or between two equal signs, and how long that is.
fn decode_enclosed(text: &str, reading: Reading) -> Option<(char, usize)> {
    let bracket = |text: &str, signs: &[char], entity: &str| -> Option<usize> {
        match text.chars().next()? {
            '&' if reading.encoded => text.starts_with(entity).then_some(entity.len()),
            c => signs.contains(&c).then_some(c.len_utf8()),
        }
    };
    let opens = |text: &str| bracket(text, OPENING, "&lt;");
    let closes = |text: &str| bracket(text, CLOSING, "&gt;");
    let sign = text.chars().next()?;
    let wrapped = reading.shown && WRAPPING.contains(&sign);
    let mut inner = text;
    while let Some(length) = opens(inner) {
        inner = &inner[length..];
    }
    if inner.len() == text.len() {
        inner = text.strip_prefix(sign).filter(|_| wrapped)?;
    }
    let inner = inner.trim_start_matches(is_blank);
    let length = |word: &str| {
        let rest = after(inner, word)?.trim_start_matches(is_blank);
        let rest = if wrapped {
            rest.strip_prefix(sign)?
        } else {
            let rest = &rest[closes(rest)?..];
            closes(rest).map_or(rest, |second| &rest[second..])
        };
        Some(text.len() - rest.len())
    };
    let at = AT.enclosed.folded_at(inner).find_map(length);
    let dot = || DOT.folded_at(inner).chain(["."]).find_map(length);
    at.map(|length| ('@', length))
        .or_else(|| dot().map(|length| ('.', length)))
}

/// ` at ` or ` dot ` at the start of `text`, and how long that is. ` at ` and ` dot ` are words of
/// prose; ` arobase ` is not.
fn decode_word(text: &str) -> Option<(char, How, usize)> {
    let inner = text.trim_start_matches(is_blank);
    let length = |word: &str| {
        let left = after(inner, word)?;
        let rest = left.trim_start_matches(is_blank);
        (rest.len() < left.len()).then(|| text.len() - rest.len())
    };
    let mut ats = AT.prose.folded_at(inner).chain(AT.alone.folded_at(inner));
    let at = ats.find_map(|word| {
        let how = if word == AT_WORD {
            How::Word
        } else {
            How::Spelled
        };
        Some(('@', how, length(word)?))
    });
    let dot = || DOT.folded_at(inner).find_map(length);
    at.or_else(|| dot().map(|length| ('.', How::Word, length)))
}

/// `=40` and `=2E`, as quoted-printable text has them; other codes occur in too many other texts.
fn decode_quoted_printable(text: &str) -> Option<(char, usize)> {
    match text.get(1..3)?.to_ascii_lowercase().as_str() {
        "40" => Some(('@', 3)),
        "2e" => Some(('.', 3)),
        _ => None,
    }
}

fn decode_percent(text: &str) -> Option<(char, usize)> {
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

/// The character of `&#64;`, `&#x40;` or `&commat;`, and the length of the reference. Its `&`
/// may be encoded any number of times.
pub fn reference(text: &str) -> Option<(char, usize)> {
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
    let found = NAMED.iter().find_map(named);
    found.or_else(|| (length(rest) > 1).then(|| ('&', length(rest))))
}

fn decode_escape(text: &str) -> Option<(char, usize)> {
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

/// Whether an address, in its normal form, is one that is looked for.
pub type Wanted<'a> = dyn Fn(&str) -> bool + 'a;

const MOST: usize = 255;

/// The parts of `text` that spell an address for which `wanted` says yes, in order.
///
/// Of a longer address, as `ann.jo@acme.com` and `jo@acme.com.au` are of `jo@acme.com`, no part
/// is another address.
pub fn mentions(text: &str, wanted: &Wanted<'_>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for reading in ANY {
        let units = read(text.as_bytes(), reading);
        let signs = units.iter().enumerate();
        let signs = signs.filter(|(_, unit)| unit.meant == '@');
        let spans = signs.filter_map(|(sign, _)| mention(&units, sign, wanted));
        found.extend(
            spans.map(|range| units[range.start].span.start..units[range.end - 1].span.end),
        );
    }
    found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    found.retain(|span| {
        let new = span.start >= end;
        end = end.max(span.end);
        new
    });
    found
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
    // The text around one mention may spell another now.
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

/// Whether a text may hold an address, plain or spelled. Says yes too often, never too seldom.
pub fn may_spell(text: &str) -> bool {
    if text.contains('@') {
        return true;
    }
    let text = &*compatibility_form(text);
    if !AT_SHOWN.is_match(text.as_bytes()) {
        return false;
    }
    let mut signs = text
        .char_indices()
        .filter(|(_, c)| !c.is_alphanumeric() || !c.is_ascii());
    signs.any(|(at, first)| {
        let spelled = decode_sign(&text[at..], first, SHOWN);
        first == '@' || first != '#' && spelled.is_some_and(|(sign, ..)| sign == '@')
    })
}

/// Whether `text` spells the address: `info [at] acme [dot] com`, `info(at)acme.com`,
/// `info @ acme.com`, `info at acme dot com`, `info골뱅이acme.com`, `info★acme.com`, and full-width
/// forms. The plain word `at` counts only with a spelled dot, or in capitals: "visit us at
/// acme.com" spells nothing.
pub fn spells(text: &str, needle: &Needle) -> bool {
    let text = compatibility_form(text);
    if matches!(text, Cow::Owned(_)) && needle.is_in(&text) {
        return true;
    }
    let first = needle.local.split('.').next().unwrap_or_default();
    if first.is_empty() || !text.to_lowercase().contains(first) {
        return false;
    }
    let units = read(text.as_bytes(), SHOWN);
    let mut signs = units.iter().enumerate();
    signs.any(|(at, sign)| {
        let clear = sign.how != How::Word || text[sign.span.clone()].trim() == "AT";
        sign.meant == '@' && needle.is_around(&text, &units, at, clear)
    })
}

fn compatibility_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// How many of `units` write `name`, and whether one of its dots is spelled.
fn match_name<'u>(
    units: impl Iterator<Item = &'u Unit>,
    name: impl Iterator<Item = char>,
) -> Option<(usize, bool)> {
    let mut units = units.peekable();
    let (mut count, mut spelled) = (0, false);
    for expected in name {
        let around = expected == '.';
        let before = around && units.next_if(|unit| is_blank(unit.meant)).is_some();
        let unit = units.next().filter(|unit| unit.meant == expected)?;
        let after = around && units.next_if(|unit| is_blank(unit.meant)).is_some();
        spelled |= around && unit.how != How::Plain;
        count += 1 + usize::from(before) + usize::from(after);
    }
    Some((count, spelled))
}

/// Whether `units`, which lead away from an address, begin with a dot that is spelled, or that a
/// space parts from it: then the address goes on.
fn goes_on<'u>(units: impl Iterator<Item = &'u Unit>, is_left: bool) -> bool {
    let mut units = units.peekable();
    let near = units.next_if(|unit| is_blank(unit.meant)).is_some();
    let Some(dot) = units.next().filter(|unit| unit.meant == '.') else {
        return false;
    };
    let far = units.next_if(|unit| is_blank(unit.meant)).is_some();
    let apart = dot.how != How::Plain || if is_left { far } else { near };
    apart && (is_left || units.next().is_some_and(|unit| runs_on(unit.meant)))
}

pub fn around(text: &str, at: usize) -> Option<Mailbox> {
    const MOST_LOCAL: usize = 64;
    const MOST_DOMAIN: usize = 253;
    let in_local = |b: &u8| b.is_ascii_alphanumeric() || b"._+-%&'".contains(b);
    let before = text[..at].bytes().rev().take(MOST_LOCAL + 1);
    let local_length = before.take_while(|b| in_local(b)).count();
    let in_domain = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let after = text[at + 1..].char_indices();
    let wide = after
        .take(MOST_DOMAIN + 1)
        .take_while(|(_, c)| in_domain(c))
        .last()
        .map_or(0, |(start, c)| start + c.len_utf8());
    if local_length == 0 || local_length > MOST_LOCAL || wide == 0 {
        return None;
    }
    let local = text[at - local_length..at].trim_start_matches(['.', '-', '\'']);
    let before = &text[..at - local.len()];
    if !starts_alone(before) {
        return None;
    }
    let wide = &text[at + 1..at + 1 + wide];
    let narrow = wide.find(|c: char| !c.is_ascii()).unwrap_or(wide.len());
    // A neighbour in Hangul may follow an ASCII domain, or belong to an international one.
    [&wide[..narrow], wide].into_iter().find_map(|name| {
        let name = name.trim_end_matches(['.', '-']);
        let rest = &text[at + 1 + name.len()..];
        let ascii = idna::domain_to_ascii(name).ok()?;
        let mailbox = Mailbox::parse(&format!("{local}@{ascii}")).ok()?;
        let known = mailbox.domain().registrable().is_some();
        let mail = || !is_remote_path(rest) && !is_other_service(before);
        (known && ends_alone(rest, name) && mail()).then_some(mailbox)
    })
}

// A whole address: the local part may not continue to the left, nor the domain to the right.
// RFC 5322 §3.2.3 lets an atom hold `|`, `=`, `/`, `*`, `#` and similar signs too, but texts use
// them to separate an address from its label, so these do not hide it. Letters, digits, `_`, `+`,
// `%` and `&` do, and so do `.`, `-` and `'` when something that does precedes them. Scripts
// written without spaces (Han, kana, Hangul, Thai) never run on into an address; other letters,
// such as Cyrillic ones that look like Latin, do. For the same reason a local part with other
// signs than `.`, `_`, `+`, `-` and `'`, or with any sign at an end, is not plain in running text.
//
// What is written like an address but names no mailbox does not count: the user of a URL, of
// `scp`'s `git@host:path`, or after the scheme of another service (`sip:1000@host`).

/// Schemes, as written before a colon, of addresses that no mail goes to, and the fields of a mail's
/// header that hold no address (RFC 5322 §3.6.4). Labels that people
/// write before an address of mail, such as `tel:`, are none.
const NOT_MAIL: &[&str] = &[
    "acct",
    "ftp",
    "ftps",
    "git",
    "h323",
    "in-reply-to",
    "in-reply-to",
    "jabber",
    "ldap",
    "message-id",
    "message-id",
    "references",
    "references",
    "rsync",
    "scp",
    "sftp",
    "sip",
    "sips",
    "skype",
    "ssh",
    "stun",
    "svn",
    "turn",
    "xmpp",
];

pub struct Needle {
    local: String,
    /// The domain, as A-labels and, if that differs, as U-labels.
    domains: Vec<String>,
}

impl Needle {
    /// The forms in which a page may show `mailbox`.
    pub fn of(mailbox: &Mailbox) -> Self {
        let ascii = mailbox.domain().as_str().to_ascii_lowercase();
        let (unicode, _) = idna::domain_to_unicode(&ascii);
        let mut domains = vec![ascii];
        if unicode != domains[0] {
            domains.push(unicode);
        }
        Self {
            local: mailbox.local().to_lowercase(),
            domains,
        }
    }

    /// Whether a running text that contains the whole address shows it plainly, or its first or
    /// last signs may belong to the text around it.
    pub fn is_plain(&self) -> bool {
        let local = self.local.as_bytes();
        let ends = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._+-'".contains(b);
        ends(local.first()) && ends(local.last()) && local.iter().all(plain)
    }

    fn is_around(&self, text: &str, units: &[Unit], at: usize, clear: bool) -> bool {
        let before = units[..at].iter().rev();
        let Some((count, _)) = match_name(before, self.local.chars().rev()) else {
            return false;
        };
        let (left, right) = (&units[..at - count], &units[at + 1..]);
        starts_alone(&text[..units[at - count].span.start])
            && !goes_on(left.iter().rev(), true)
            && self.domains.iter().any(|domain| {
                match_name(right.iter(), domain.chars()).is_some_and(|(count, spelled)| {
                    (spelled || clear)
                        && ends_alone(&text[right[count - 1].span.end..], domain)
                        && !goes_on(right[count..].iter(), false)
                })
            })
    }

    pub fn is_in(&self, text: &str) -> bool {
        text.match_indices('@').any(|(at, _)| {
            let Some(start) = at.checked_sub(self.local.len()) else {
                return false;
            };
            text.get(start..at)
                .is_some_and(|local| after(local, &self.local) == Some(""))
                && starts_alone(&text[..start])
                && !is_other_service(&text[..start])
                && self.domains.iter().any(|domain| {
                    after(&text[at + 1..], domain)
                        .is_some_and(|rest| ends_alone(rest, domain) && !is_remote_path(rest))
                })
        })
    }
}

/// What follows `lower`, if `text` starts with it but for case.
fn after<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
    if lower.is_ascii() {
        let start = text.get(..lower.len())?;
        return start
            .eq_ignore_ascii_case(lower)
            .then(|| &text[lower.len()..]);
    }
    let mut rest = text.chars();
    for expected in lower.chars() {
        let mut found = rest.next()?.to_lowercase();
        if found.next() != Some(expected) || found.next().is_some() {
            return None;
        }
    }
    Some(rest.as_str())
}

/// What joins the words of an address, or looks like it: a full-width dot is one for a reader, and
/// some servers send the mail there.
fn is_joint(c: char) -> bool {
    matches!(c, '.' | '-' | '_' | '\u{203f}' | '\u{ff3f}') || is_dot(c) || is_hyphen(c)
}

fn is_dot(c: char) -> bool {
    matches!(
        c,
        '.' | '\u{2024}' | '\u{3002}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}'
    )
}

fn is_hyphen(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}' | '\u{2011}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}'
    )
}

fn is_at(c: char) -> bool {
    matches!(c, '@' | '\u{fe6b}' | '\u{ff20}')
}

/// Whether nothing in `before`, which precedes a local part, belongs to it.
fn starts_alone(before: &str) -> bool {
    let ends = |c| is_joint(c) && c != '_' || matches!(c, '\'' | '\u{2019}');
    let joined = before.trim_end_matches(ends);
    let joiners = &before[joined.len()..];
    if joiners.len() > 1 && joiners.bytes().all(|byte| byte == b'.') {
        return true; // An ellipsis: no atom has two dots in a row.
    }
    if before.ends_with("://") {
        return false; // The user of a URL.
    }
    !joined
        .chars()
        .next_back()
        .is_some_and(|c| is_at(c) || matches!(c, '_' | '+' | '\u{ff0b}' | '%' | '&') || runs_on(c))
}

/// Whether the text before a local part makes it the user of something other than mail.
fn is_other_service(before: &str) -> bool {
    const MOST_LOOKED: usize = 512;
    let url = |b: &u8| b.is_ascii_graphic() && !b"<>\"'()[]{}|,;".contains(b);
    let token = before.bytes().rev().take(MOST_LOOKED);
    let token = &before[before.len() - token.take_while(|b| url(b)).count()..];
    if token.contains("://") {
        return true;
    }
    let before = before.strip_suffix('<').unwrap_or(before).trim_end();
    let Some(scheme) = before.strip_suffix([':', '：']).map(str::trim_end) else {
        return false;
    };
    NOT_MAIL.iter().any(|word| ends_with_word(scheme, word))
}

/// Whether a path on the host follows, as `scp` and git write it.
fn is_remote_path(rest: &str) -> bool {
    let path = rest.strip_prefix(':');
    path.is_some_and(|path| path.starts_with(|c: char| !c.is_whitespace()))
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    let parts = start.and_then(|start| text.split_at_checked(start));
    parts.is_some_and(|(before, end)| {
        end.eq_ignore_ascii_case(word) && !before.ends_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// Whether nothing in `rest`, which follows `domain`, belongs to it.
fn ends_alone(rest: &str, domain: &str) -> bool {
    let blanks = rest.trim_start_matches(is_blank);
    if blanks.len() < rest.len() {
        // ` .com`, but not ` ...` or ` .NET`.
        let mut after = blanks.chars();
        return !(after.next().is_some_and(is_dot)
            && after.next().is_some_and(|c| c.is_ascii_lowercase()));
    }
    let joined = rest.trim_start_matches(is_joint);
    let joiners = &rest[..rest.len() - joined.len()];
    if joiners.len() > 1 && joiners.bytes().all(|byte| byte == b'.') {
        return true;
    }
    let Some(next) = joined.chars().next() else {
        return true;
    };
    // An ideographic full stop ends a sentence, unless a domain seems to go on.
    if joiners.contains(['\u{3002}', '\u{ff61}']) && !next.is_ascii_lowercase() {
        return true;
    }
    let unspaced = joiners.is_empty() && domain.chars().next_back().is_some_and(is_unspaced);
    !(is_at(next) || runs_on(next) || (unspaced && is_unspaced(next)))
}

/// Whether a character would become part of an address next to it.
fn runs_on(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c))
}

/// Whether the character is of a script that joins words or particles without a space.
pub fn is_unspaced(c: char) -> bool {
    // The prolonged sound mark is of no script of its own.
    matches!(c, 'ー' | 'ｰ')
        || matches!(
            c.script(),
            Script::Han
                | Script::Hangul
                | Script::Hiragana
                | Script::Katakana
                | Script::Bopomofo
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        )
}
