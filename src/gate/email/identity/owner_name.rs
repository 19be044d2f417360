//! Whether the text in the place of an owner's name is the company's name, and not a text
//! that the name occurs in: a headline, a credit, a list of brands, another company's longer
//! name.

#[cfg(test)]
mod tests;

use super::company_name::{self, CompanyName, Folded};
use crate::base::word_list::word_lists;
use crate::world::page::{OwnerPlace, OwnerText};

/// Whether `text` at `place` is the company's name.
///
/// In titles, headings, logos and declared names it is one of the parts that signs such as `|`
/// and `–` make. In a line of a header, footer, copyright or address it is what an owner's label
/// names, what follows a copyright sign, or the line's beginning if the rest is no list of
/// further names.
pub fn names(place: OwnerPlace, text: &str, name: &CompanyName) -> bool {
    // A word in brackets may be the city, which lines like these hold of anybody who lives there.
    let name = &match place {
        OwnerPlace::Footer | OwnerPlace::Address => name.without_places(),
        _ => name.clone(),
    };
    is_name(text, name)
        || match place {
            // A headline may begin with whom it is about.
            OwnerPlace::Heading => text
                .split(['|', '｜', '│', 'ㅣ'])
                .any(|part| is_name(part, name)),
            OwnerPlace::Title
            | OwnerPlace::SiteName
            | OwnerPlace::Logo
            | OwnerPlace::Organization => parts(text).any(|part| is_name(part, name)),
            OwnerPlace::Copyright => {
                let own = without_credit(text);
                line_names(text, name) || own.len() < text.len() && line_names(own, name)
            }
            OwnerPlace::Header | OwnerPlace::Footer | OwnerPlace::Address => line_names(text, name),
        }
}

/// The parts of a title, which signs part, and hyphens between spaces.
pub(super) fn parts(title: &str) -> impl Iterator<Item = &str> {
    let signs = [
        '|', '｜', '–', '—', '·', ':', '：', '»', '«', '›', '>', '<', '│', 'ㅣ', '•', '～', '〜',
        '／',
    ];
    title
        .split(signs)
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" / "))
}

fn line_names(line: &str, name: &CompanyName) -> bool {
    values(line)
        .into_iter()
        .any(|Labelled { label, value, next }| match label {
            None => value_names(
                value,
                next.is_some_and(|label| is_listed(&FOLLOWING, label)),
                name,
            ),
            Some(label) => is_listed(&LABELS, label) && value_names(value, true, name),
        })
}

/// A value of a line, the label that a colon parts from it, and the one of the next value.
pub(super) struct Labelled<'a> {
    pub(super) label: Option<&'a str>,
    pub(super) value: &'a str,
    pub(super) next: Option<&'a str>,
}

pub(super) fn values(line: &str) -> Vec<Labelled<'_>> {
    let pieces: Vec<&str> = line.split([':', '：']).collect();
    let mut label = None;
    let mut values = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let (value, next) = if index + 1 < pieces.len() {
            tail_label(piece, index == 0)
        } else {
            (*piece, None)
        };
        values.push(Labelled { label, value, next });
        label = next;
    }
    values
}

/// The text before a label at the end of `piece`, and the label: what follows the last sign
/// that parts, or the last word where that is a known label. An owner's label may be the last word
/// of another's (`Payment company`), so such a word counts behind a value alone.
fn tail_label(piece: &str, is_first: bool) -> (&str, Option<&str>) {
    let trimmed = piece.trim_end();
    let sign = trimmed
        .char_indices()
        .rev()
        .find(|(_, c)| is_between(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let whole = &trimmed[sign..];
    let word = trimmed
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_whitespace())
        .map_or(0, |(at, c)| at + c.len_utf8());
    let last = &trimmed[word.max(sign)..];
    let is_firms = !is_first && is_listed(&FIRMS, last);
    if !is_listed(&LABELS, whole) && (is_firms || is_listed(&FOLLOWING, last)) {
        (&trimmed[..word.max(sign)], Some(last))
    } else {
        (&trimmed[..sign], Some(whole))
    }
}

/// The fewest digits of a text that is no list of names: a postal code or a telephone number
/// has more of them than a brand.
const MIN_DIGITS: usize = 5;

/// Whether `rest` is where the firm that a line begins with is found, and not further firms. A
/// house number alone tells so only of a name with its legal form, and where nothing follows.
fn is_address(first: &str, rest: &str) -> bool {
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    let words = Folded::new(first);
    let is_formal = company_name::stripped(words.words()).len() < words.words().len();
    digits >= MIN_DIGITS
        || rest.contains('@')
        || digits > 0 && is_formal && !rest.contains(is_between)
}

/// Whether an unlabelled text, or one that an owner's label names, begins with the name and
/// goes on with what follows an owner's name.
fn value_names(value: &str, is_known: bool, name: &CompanyName) -> bool {
    let cut = cut_label(value);
    let is_known = is_known || cut.len() < value.len() || is_copyright(cut);
    let cut = if is_copyright(cut) {
        behind_years(cut)
    } else {
        cut
    };
    let first = cut.split(is_between).next().unwrap_or_default();
    let rest = cut[first.len()..].trim_matches(|c: char| is_between(c) || c.is_whitespace());
    if !is_known && !rest.is_empty() && !is_address(first, rest) {
        return false;
    }
    let dots = first.match_indices(". ").map(|(at, _)| &first[..at]);
    std::iter::once(first)
        .chain(dots.filter(|_| is_known))
        .chain(first.split(" - ").next())
        .any(|text| is_name(text, name))
}

/// A copyright line without its sign and years, where a comma follows them: `© 2024, Acme`.
fn behind_years(line: &str) -> &str {
    match line.split_once(',') {
        Some((head, rest))
            if without_copyright_signs(head)
                .split_whitespace()
                .all(is_trimming) =>
        {
            rest.trim_start()
        }
        _ => line,
    }
}

/// The text before the first known label without a colon (`상호 한빛 대표 홍길동`); an
/// owner's label at the beginning is passed over.
pub(super) fn cut_label(value: &str) -> &str {
    let value = value.trim();
    let mut start = 0;
    let mut at = 0;
    for word in value.split_whitespace() {
        let from = at + value[at..].find(word).unwrap_or_default();
        at = from + word.len();
        if from == 0 && is_listed(&LABELS, word) {
            start = at;
        } else if from > start && is_listed(&FOLLOWING, word) {
            return &value[start..from];
        }
    }
    &value[start..]
}

fn is_copyright(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut signs = ["©", "ⓒ", "copyright", "(c)", "rights reserved"].into_iter();
    signs.any(|sign| lower.contains(sign))
}

/// Whether `text` is the name, its legal form, years and [`TRIMMINGS`] aside.
pub(super) fn is_name(text: &str, name: &CompanyName) -> bool {
    if name.is_spelled(text) {
        return true;
    }
    let plain = without_copyright_signs(text);
    let is_signed = is_copyright(text);
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    while words.last().is_some_and(|word| is_trimming(word)) {
        words.pop();
    }
    // "Website by" credits who made a site; "© 2026 by" names who owns it.
    let leads =
        |word: &&str| is_trimming(word) && (is_signed || !CREDITING.contains(&bare(word).as_str()));
    let first = words.iter().position(|word| !leads(word));
    let core = words.split_off(first.unwrap_or(words.len())).join(" ");
    name.is_spelled(&core)
        || PARTICLES
            .iter()
            .filter_map(|particle| core.strip_suffix(particle))
            .any(|core| name.is_spelled(core))
}

pub(super) fn without_copyright_signs(text: &str) -> String {
    let text = text.replace(['©', 'ⓒ', '™', '®', '℗'], " ");
    text.replace("(c)", " ").replace("(C)", " ")
}

word_lists! {
    CREDITS = "../lists/credits.txt";
    LABELS = "../lists/owner_labels.txt";
    FIRMS = "../lists/firm_labels.txt";
    FOLLOWING = "../lists/following_labels.txt";
    TRIMMINGS = "../lists/trimmings.txt";
    NOBODY = "../lists/nobody.txt";
    THINGS = "../lists/things.txt";
    SMALL_PRINT = "../lists/small_print.txt";
    RESERVED = "../lists/rights_reserved.txt";
    CREDITING = "../lists/crediting.txt";
    PARTICLES = "../lists/particles.txt";
}

pub(super) fn without_credit(line: &str) -> &str {
    let lower = line.to_ascii_lowercase();
    let begins_word = |at: usize| !line[..at].ends_with(char::is_alphanumeric);
    let starts = CREDITS.iter().filter_map(|credit| {
        let mut found = lower.match_indices(credit).map(|(at, _)| at);
        found.find(|at| begins_word(*at))
    });
    starts.min().map_or(line, |at| &line[..at])
}

/// Whether a sign parts one piece of a line from the next.
pub(super) fn is_between(c: char) -> bool {
    matches!(
        c,
        '|' | '｜' | ',' | ';' | '·' | '•' | '/' | '│' | 'ㅣ' | '–' | '—' | '、' | '，' | '＊'
    )
}

fn is_listed(list: &[&str], label: &str) -> bool {
    let label = bare(label);
    list.contains(&label.as_str())
}

pub(super) fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// Whether a word is a trimming, a year or years, or nothing but signs.
pub(super) fn is_trimming(word: &str) -> bool {
    let bare = bare(word);
    let of_years = |c: char| c.is_ascii_digit() || matches!(c, '-' | '–' | '~' | '.');
    let is_years = bare.chars().all(of_years);
    is_years && !word.contains(['(', ')']) && bare.len() != 1 || TRIMMINGS.contains(&bare.as_str())
}

/// The owner that a text claims, if it claims one.
pub(super) fn claim(owner: &OwnerText) -> Option<String> {
    let text = owner.text.as_str();
    match owner.place {
        OwnerPlace::SiteName | OwnerPlace::Organization => named(text),
        OwnerPlace::Copyright => holder(text),
        OwnerPlace::Footer | OwnerPlace::Address => firm(text),
        OwnerPlace::Title | OwnerPlace::Heading | OwnerPlace::Logo | OwnerPlace::Header => None,
    }
}

pub(super) fn named(text: &str) -> Option<String> {
    let is_nobodys = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        is_trimming(word) || NOBODY.contains(&word.to_lowercase().as_str())
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.iter().position(|word| !is_nobodys(word))?;
    let last = words.iter().rposition(|word| !is_nobodys(word))?;
    Some(words[first..=last].join(" "))
}

fn holder(line: &str) -> Option<String> {
    let own = without_credit(line);
    let sign = own
        .char_indices()
        .find(|(at, c)| {
            let tail = &own.as_bytes()[*at..];
            let starts = |sign: &[u8]| {
                tail.get(..sign.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(sign))
            };
            matches!(c, '©' | 'ⓒ') || starts(b"(c)") || starts(b"copyright")
        })
        .map_or(0, |(at, _)| at);
    let words = own[..sign].split(|c: char| !c.is_alphanumeric());
    let mut before = words.filter(|word| !word.is_empty()).peekable();
    let is_of_a_thing = before.peek().is_some()
        && before.all(|word| THINGS.contains(&word.to_lowercase().as_str()));
    if is_of_a_thing {
        return None;
    }
    let plain = without_reservation(&without_copyright_signs(own));
    let pieces: Vec<String> = plain
        .split(is_between)
        .flat_map(|piece| piece.split(" - "))
        .filter(|piece| !is_small_print(piece))
        .filter_map(|piece| named(cut_label(piece)))
        .filter(|piece| !piece.starts_with(|c: char| c.is_ascii_digit() || c == '+'))
        .collect();
    (!pieces.is_empty()).then(|| pieces.join(" | "))
}

fn without_reservation(line: &str) -> String {
    let mut left = line.to_owned();
    for phrase in RESERVED.iter() {
        let lower = left.to_lowercase();
        let Some(at) = lower.find(phrase) else {
            continue;
        };
        // The lower case of a text may have another length.
        let end = at + phrase.len();
        if lower.len() == left.len() && left.is_char_boundary(at) && left.is_char_boundary(end) {
            left.replace_range(at..end, " | ");
        }
    }
    left
}

fn is_small_print(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    SMALL_PRINT.iter().any(|word| lower.contains(word))
}

fn firm(line: &str) -> Option<String> {
    let labelled = values(line).into_iter().find_map(|value| {
        let is_company = |label: &str| {
            let label = label.trim().to_lowercase();
            matches!(label.as_str(), "company" | "company name")
        };
        let label = value.label?;
        (is_listed(&FIRMS, label) || is_company(label)).then_some(value.value)
    });
    let behind_word = || {
        let (label, value) = line.split_once(char::is_whitespace)?;
        is_listed(&FIRMS, label).then_some(value)
    };
    let value = labelled.or_else(behind_word)?;
    let first = cut_label(value).split(is_between).next()?;
    named(first)
}
