//! Whether, and how, an address is on a page: plain, spelled, or unclear where it begins.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::Page;
use super::text::is_unspaced;
use crate::base::word_list::entries;
use crate::world::domain::RegistrableDomain;
use crate::world::mailbox::Mailbox;

/// How an address stands on a page; the best comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    Visible,
    /// A reader can see it, spelled so that harvesters do not find it, or so that it is not sure
    /// where it begins.
    Obfuscated,
    /// Only where no reader sees it.
    Hidden,
    Absent,
}

/// How `mailbox` stands on `page`: of all places only the best counts.
pub fn presence(page: &Page, mailbox: &Mailbox) -> Presence {
    let needle = Needle::of(mailbox);
    let is_in = |text: &String| needle.is_in(text);
    let mut shown = page.visible.iter().chain(&page.linked).chain(&page.unclear);
    if page.linked.iter().any(is_in) || (needle.is_plain() && page.visible.iter().any(is_in)) {
        Presence::Visible
    } else if shown.any(|text| needle.is_in(text) || spells(text, &needle)) {
        Presence::Obfuscated
    } else if page.hidden.iter().any(|text| is_hidden_in(text, &needle)) {
        Presence::Hidden
    } else {
        Presence::Absent
    }
}

fn is_hidden_in(text: &str, needle: &Needle) -> bool {
    needle.is_in(text)
        || spells(text, needle)
        || (text.contains('%') && needle.is_in(&percent_decode_str(text).decode_utf8_lossy()))
}

/// The addresses of `domain` that a reader of `page` can see or click: distinct, in the order
/// of the page and in lower case, at most `most`; and how many there are in all.
pub fn addresses_of(page: &Page, domain: &RegistrableDomain, most: usize) -> (Vec<String>, usize) {
    let mut first = Vec::new();
    let mut all = HashSet::new();
    for text in page.visible.iter().chain(&page.linked) {
        for (at, _) in text.match_indices('@') {
            let Some(mailbox) = around(text, at) else {
                continue;
            };
            if mailbox.domain().registrable().as_ref() != Some(domain) {
                continue;
            }
            let address = mailbox.to_string();
            if all.insert(address.clone()) && first.len() < most {
                first.push(address);
            }
        }
    }
    (first, all.len())
}

/// The address around the `@` at byte `at`.
fn around(text: &str, at: usize) -> Option<Mailbox> {
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

// Spelled addresses: `info [at] acme [dot] com`, `info(at)acme.com`, `info @ acme.com`,
// `info at acme dot com`, `info골뱅이acme.com`, `info★acme.com`, and full-width forms. The plain word
// `at` counts only with a spelled dot, or in capitals: "visit us at acme.com" spells nothing.

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
static AT: LazyLock<Vec<&str>> = LazyLock::new(|| entries(include_str!("words/at.txt")));
static DOT: LazyLock<Vec<&str>> = LazyLock::new(|| entries(include_str!("words/dot.txt")));

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
        .or_else(|| enclosed(start, &AT))
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

fn spelled_dot(lower: &str) -> Option<&str> {
    let spaced = lower.strip_prefix(' ');
    let start = spaced.unwrap_or(lower);
    if let Some(rest) = enclosed(start, &DOT).or_else(|| enclosed(start, &["."])) {
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

// `<b>Mail</b><span>info@acme.com</span>` reads `Mailinfo@acme.com`, unless an unknown style sheet
// sets the two apart: it is not certain that the page shows the longer address. That it shows the
// shorter one is less certain still, and does not count.

/// Takes out of a visible line the addresses through whose local part an edge runs, such that
/// what follows the edge is an address itself; gives each of them whole.
pub(super) fn part(line: String, edges: &[usize]) -> (String, Vec<String>) {
    let mut unclear = Vec::new();
    if edges.is_empty() || !line.contains('@') {
        return (line, unclear);
    }
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in line.match_indices('@') {
        let start = at - run(line[..at].bytes().rev());
        let before = edges.partition_point(|edge| *edge <= start);
        let until = edges.partition_point(|edge| *edge < at);
        let inside = edges.get(before..until).unwrap_or_default();
        if inside.is_empty() || start < from {
            continue;
        }
        let end = at + 1 + domain(&line[at + 1..]);
        unclear.push(line[start..end].to_owned());
        kept.push_str(&line[from..start]);
        from = end;
    }
    kept.push_str(&line[from..]);
    (kept.trim().to_owned(), unclear)
}

/// How many octets in a row may stand in a local part as people write it.
fn run(octets: impl Iterator<Item = u8>) -> usize {
    const MOST_LOCAL: usize = 64;
    octets
        .take(MOST_LOCAL)
        .take_while(|b| b.is_ascii_alphanumeric() || b"._+-".contains(b))
        .count()
}

/// How long the domain at the start of `text` is, in bytes, without the signs that end it.
fn domain(text: &str) -> usize {
    let in_domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let end = text.find(|c| !in_domain(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', '-']).len()
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

/// Schemes, as written before a colon, of addresses that no mail goes to. Labels that people
/// write before an address of mail, such as `tel:`, are none.
const NOT_MAIL: &[&str] = &[
    "acct", "ftp", "ftps", "git", "h323", "jabber", "ldap", "rsync", "scp", "sftp", "sip", "sips",
    "skype", "ssh", "stun", "svn", "turn", "xmpp",
];

pub(super) struct Needle {
    pub(super) local: String,
    /// The domain, as A-labels and, if that differs, as U-labels.
    pub(super) domains: Vec<String>,
}

impl Needle {
    /// The forms in which a page may show `mailbox`.
    pub(super) fn of(mailbox: &Mailbox) -> Self {
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
    /// last signs may belong to what stands around it.
    pub(super) fn is_plain(&self) -> bool {
        let local = self.local.as_bytes();
        let ends = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._+-'".contains(b);
        ends(local.first()) && ends(local.last()) && local.iter().all(plain)
    }

    /// Whether `text` contains the whole address, compared without case.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.match_indices('@').any(|(at, _)| {
            let Some(start) = at.checked_sub(self.local.len()) else {
                return false;
            };
            text.get(start..at)
                .is_some_and(|local| same(local, &self.local))
                && starts_alone(&text[..start])
                && !is_other_service(&text[..start])
                && self.domains.iter().any(|domain| {
                    after(&text[at + 1..], domain)
                        .is_some_and(|rest| ends_alone(rest, domain) && !is_remote_path(rest))
                })
        })
    }
}

fn same(text: &str, lower: &str) -> bool {
    text.eq_ignore_ascii_case(lower) || (!text.is_ascii() && text.to_lowercase() == lower)
}

/// What follows `lower`, if `text` starts with it but for case.
pub(super) fn after<'a>(text: &'a str, lower: &str) -> Option<&'a str> {
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

/// Whether nothing in `before`, which precedes a local part, belongs to it.
pub(super) fn starts_alone(before: &str) -> bool {
    let joined = before.trim_end_matches(['.', '-', '\'', '\u{2019}']);
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
        .is_some_and(|c| matches!(c, '@' | '_' | '+' | '%' | '&') || runs_on(c))
}

/// Whether what stands before a local part makes it the user of something other than mail.
pub(super) fn is_other_service(before: &str) -> bool {
    /// How far a URL is looked back for, in bytes.
    const MOST_LOOKED: usize = 512;
    let url = |b: &u8| b.is_ascii_graphic() && !b"<>\"'()[]{}|,;".contains(b);
    let token = before.bytes().rev().take(MOST_LOOKED);
    let token = &before[before.len() - token.take_while(|b| url(b)).count()..];
    if token.contains("://") {
        return true;
    }
    let Some(scheme) = before.strip_suffix(' ').unwrap_or(before).strip_suffix(':') else {
        return false;
    };
    NOT_MAIL.iter().any(|word| ends_with_word(scheme, word))
}

/// Whether a path on the host follows, as `scp` and git write it.
pub(super) fn is_remote_path(rest: &str) -> bool {
    let path = rest.strip_prefix(':');
    path.is_some_and(|path| path.starts_with(|c: char| !c.is_whitespace()))
}

/// Whether `text` ends with the word, and not with a longer one.
fn ends_with_word(text: &str, word: &str) -> bool {
    let start = text.len().checked_sub(word.len());
    let parts = start.and_then(|start| text.split_at_checked(start));
    parts.is_some_and(|(before, end)| {
        end.eq_ignore_ascii_case(word) && !before.ends_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// Whether nothing in `rest`, which follows `domain`, belongs to it.
pub(super) fn ends_alone(rest: &str, domain: &str) -> bool {
    let joined = rest.trim_start_matches(['.', '-', '_']);
    let joiners = &rest[..rest.len() - joined.len()];
    if joiners.len() > 1 && joiners.bytes().all(|byte| byte == b'.') {
        return true;
    }
    let Some(next) = joined.chars().next() else {
        return true;
    };
    let unspaced = joiners.is_empty() && domain.chars().next_back().is_some_and(is_unspaced);
    !(next == '@' || runs_on(next) || (unspaced && is_unspaced(next)))
}

/// Whether a character runs on into an address beside it.
pub(super) fn runs_on(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (!c.is_ascii() && (c.is_alphanumeric() || is_combining_mark(c)) && !is_unspaced(c))
}

#[cfg(test)]
mod tests_presence {
    use super::*;
    use crate::world::domain::HostName;
    use crate::world::page::tests::page;

    fn how(html: &str) -> Presence {
        presence(&page(html), &Mailbox::parse("info@acme.co").unwrap())
    }

    #[test]
    fn the_best_place_counts() {
        assert_eq!(how("<p>Info@ACME.co"), Presence::Visible);
        assert_eq!(
            how("<a href='mailto:info%40acme.co'>mail</a>"),
            Presence::Visible
        );
        assert_eq!(
            how("<p>info [at] acme [dot] co <!-- info@acme.co -->"),
            Presence::Obfuscated
        );
        assert_eq!(
            how("<p>info (at) acme.co<p>info@acme.co"),
            Presence::Visible
        );
        assert_eq!(how("<!-- info@acme.co -->"), Presence::Hidden);
        assert_eq!(how("<p hidden>info(at)acme.co</p>"), Presence::Hidden);
        assert_eq!(
            how("<a data-x='mailto%3Ainfo%40acme.co'>x</a>"),
            Presence::Hidden
        );
        assert_eq!(how("<p>info@acme.com"), Presence::Absent);
        assert_eq!(how("<p>info<p>@acme.co"), Presence::Absent);
        assert!(Presence::Visible < Presence::Absent);
    }

    fn how_is(address: &str, html: &str) -> Presence {
        presence(&page(html), &Mailbox::parse(address).unwrap())
    }

    #[test]
    fn labels_are_no_part_of_an_address() {
        for html in [
            "Tel. 02-123-4567 / info@acme.co.kr",
            "E-mail:info@acme.co.kr",
            "<b>E-mail:</b><span>info@acme.co.kr</span>",
            "<b>Mail</b> <span>info@acme.co.kr</span>",
            "<div style='display:flex'><b>Mail</b><span>info@acme.co.kr</span></div>",
            "<span style='float:left'>Mail</span><span>info@acme.co.kr</span>",
            "<b>info</b>@<i>acme.co.kr</i>",
            "Mail<a href='mailto:info@acme.co.kr'>info@acme.co.kr</a>",
            "in<wbr>fo@acme.co.kr",
        ] {
            assert_eq!(how_is("info@acme.co.kr", html), Presence::Visible, "{html}");
        }
        let html = "<b>Mail</b><span>info@acme.co.kr</span>";
        assert_eq!(how_is("info@acme.co.kr", html), Presence::Absent);
        assert_eq!(how_is("mailinfo@acme.co.kr", html), Presence::Obfuscated);
        assert_eq!(how_is("fo@acme.co.kr", html), Presence::Absent);
    }

    #[test]
    fn signs_that_may_be_a_labels_make_it_doubtful() {
        let plain = "a.b+c@acme.co.kr";
        assert_eq!(how_is(plain, "<p>a.b+c@acme.co.kr"), Presence::Visible);
        let inside = "o'neil@acme.co.kr";
        assert_eq!(how_is(inside, "<p>o'neil@acme.co.kr"), Presence::Visible);
        let odd = "tel|info@acme.co.kr";
        assert_eq!(how_is(odd, "<p>TEL|info@acme.co.kr"), Presence::Obfuscated);
        let linked = "<a href='mailto:tel|info@acme.co.kr'>x</a>";
        assert_eq!(how_is(odd, linked), Presence::Visible);
    }

    fn of_domain(html: &str, domain: &str, most: usize) -> (Vec<String>, usize) {
        let domain = HostName::parse(domain).unwrap().registrable().unwrap();
        addresses_of(&page(html), &domain, most)
    }

    #[test]
    fn addresses_of_the_domain_are_listed_once_each() {
        let html = "<p>A@acme.co, a@acme.co.<p>b@mail.acme.co로 <a href=mailto:c@acme.co>x</a>
                    x@acme.com y@notacme.co <p hidden>h@acme.co</p> @acme.co https://u@acme.co/";
        let (first, total) = of_domain(html, "acme.co", 2);
        assert_eq!(first, ["a@acme.co", "b@mail.acme.co"]);
        assert_eq!(total, 3);
    }

    #[test]
    fn international_domains_are_listed_as_a_labels() {
        let (first, _) = of_domain("<p>info@BÜCHER.de", "xn--bcher-kva.de", 5);
        assert_eq!(first, ["info@xn--bcher-kva.de"]);
    }

    #[test]
    fn pages_full_of_signs_end() {
        for text in ["@", "a@a.", "a", "가@가", ".@."] {
            let (first, total) = of_domain(&text.repeat(100_000), "acme.co", 5);
            assert_eq!((first.len(), total), (0, 0), "{text}");
        }
    }
}

#[cfg(test)]
mod tests_spelled {
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
        assert!(spelled("info@xn--bcher-kva.de", "info (at) bücher.de"));
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

#[cfg(test)]
mod tests_unclear {
    use super::*;

    fn parted(line: &str, edges: &[usize]) -> (String, Vec<String>) {
        part(line.to_owned(), edges)
    }

    #[test]
    fn an_edge_inside_a_local_part_makes_it_unclear() {
        let (line, unclear) = parted("a Mailinfo@acme.co. b@acme.co", &[6, 24]);
        assert_eq!(line, "a . b@acme.co");
        assert_eq!(unclear, ["Mailinfo@acme.co"]);
        let (line, unclear) = parted("a-b@acme.co", &[1, 2]);
        assert_eq!(line, "");
        assert_eq!(unclear, ["a-b@acme.co"]);
    }

    #[test]
    fn an_edge_elsewhere_does_not() {
        for edges in [&[][..], &[5], &[9], &[10], &[14], &[5, 9, 10]] {
            let (line, unclear) = parted("Mail:info@acme.co", edges);
            assert_eq!(line, "Mail:info@acme.co", "{edges:?}");
            assert_eq!(unclear, [""; 0]);
        }
        assert_eq!(parted("이메일info@acme.co", &[9]).1, [""; 0]);
        assert_eq!(parted("ab", &[1]).1, [""; 0]);
        assert_eq!(parted("@@", &[1]).1, [""; 0]);
        assert_eq!(parted("a @b.co", &[2]).1, [""; 0]);
    }
}

#[cfg(test)]
mod tests_whole {
    use super::*;

    fn found(address: &str, text: &str) -> bool {
        Needle::of(&Mailbox::parse(address).unwrap()).is_in(text)
    }

    #[test]
    fn neighbours_that_do_not_hide_an_address() {
        for text in [
            "info@acme.co",
            "INFO@Acme.CO",
            "TEL|info@acme.co",
            "E-mail:info@acme.co|FAX",
            "이메일info@acme.co로",
            "メールはセンターinfo@acme.coまで",
            "电邮info@acme.co。",
            "mail info@acme.co.",
            "info@acme.co...",
            "문의...info@acme.co",
            "<info@acme.co>",
            "(info@acme.co)",
            "'info@acme.co'",
            "mail='info@acme.co'",
            "a@b.c/info@acme.co/d@e.f",
            "-info@acme.co",
            "info@acme.co-",
            "✉info@acme.co☎",
            "อีเมลinfo@acme.co",
            "info@acme.co's",
            "x=info@acme.co?",
            "fo@acme.co info@acme.co",
            "info@acme.co,a@b.c",
            "*info@acme.co*",
            "—info@acme.co—",
            "info@acme.co.문의",
        ] {
            assert!(found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn neighbours_that_belong_to_another_address() {
        for text in [
            "info@acme.com",
            "info@acme.co.kr",
            "info@acme.co-op.com",
            "x-info@acme.co",
            "x.info@acme.co",
            "xinfo@acme.co",
            "1info@acme.co",
            "_info@acme.co",
            "a+info@acme.co",
            "r&info@acme.co",
            "o'info@acme.co",
            "іinfo@acme.co",
            "éinfo@acme.co",
            "e\u{301}info@acme.co",
            "αinfo@acme.co",
            "info@acme.cо",
            "info@acme.co\u{301}",
            "info@acme.coop",
            "info@acme.co1",
            "info@acme.co@b.c",
            "@info@acme.co",
            "https://info@acme.co/",
            "info@mail.acme.co",
            "info @acme.co",
            "info@ acme.co",
            "info",
            "@acme.co",
            "",
            "nfo@acme.co",
            "info@acme.c",
            "info@\u{212a}acme.co",
            "info@acme.co_x",
        ] {
            assert!(!found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn what_names_no_mailbox_is_none() {
        for text in [
            "git clone info@acme.co:acme/app.git",
            "ftp://guest:info@acme.co/pub",
            "https://acme.co/?q=info@acme.co",
            "sip:info@acme.co",
            "SIP: info@acme.co",
            "(xmpp:info@acme.co)",
        ] {
            assert!(!found("info@acme.co", text), "{text}");
        }
        for text in [
            "mailto:info@acme.co",
            "E-mail:info@acme.co",
            "gossip:info@acme.co",
            "https://acme.co info@acme.co",
            "https://acme.co|info@acme.co",
            "https://acme.co/메일info@acme.co",
            "Tel. 02-123-4567 / info@acme.co",
            "info@acme.co: mail",
            "info@acme.co:",
            "//info@acme.co",
        ] {
            assert!(found("info@acme.co", text), "{text}");
        }
    }

    #[test]
    fn an_address_with_odd_signs_is_not_plain() {
        let plain = |address: &str| Needle::of(&Mailbox::parse(address).unwrap()).is_plain();
        for address in [
            "info@a.co",
            "a.b+c@a.co",
            "a_b-c@a.co",
            "o'neil@a.co",
            "1@a.co",
        ] {
            assert!(plain(address), "{address}");
        }
        for address in [
            "tel|info@a.co",
            "*info@a.co",
            "-info@a.co",
            "'info@a.co",
            "info-@a.co",
        ] {
            assert!(!plain(address), "{address}");
        }
    }

    #[test]
    fn the_other_names_in_the_contract() {
        assert!(!found("fo@acme.co", "info@acme.co"));
        assert!(!found("acme@x.co", "x-acme@x.co"));
        assert!(found("x-acme@x.co", "x-acme@x.co"));
        assert!(!found("k@acme.co", "\u{212a}@acme.co"), "Kelvin sign");
    }

    #[test]
    fn international_domains_are_found_in_both_forms() {
        let address = "info@xn--bcher-kva.de";
        assert!(found(address, "info@xn--bcher-kva.de"));
        assert!(found(address, "info@BÜCHER.de"));
        assert!(!found(address, "info@bucher.de"));
        let korean = "info@acme.xn--3e0b707e";
        assert!(found(korean, "info@acme.한국 으로"));
        assert!(!found(korean, "info@acme.한국말"));
    }

    #[test]
    fn a_page_full_of_signs_ends() {
        assert!(!found("info@acme.co", &"@".repeat(2_000_000)));
        assert!(!found("info@acme.co", &"info@".repeat(400_000)));
        assert!(!found("info@acme.co", &"-".repeat(2_000_000)));
        assert!(!found("info@acme.co", &".info@acme.co-a".repeat(100_000)));
        assert!(!found("info@acme.co", &"://info@acme.co/".repeat(20_000)));
    }
}
