//! Whether, and how, an address is on a page: plain, spelled, or unclear where it begins.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use percent_encoding::percent_decode_str;

use super::Page;
use crate::base::words::{Row, rows};
use crate::world::domain::RegistrableDomain;
use crate::world::email_text::{Needle, around, spells};
use crate::world::mailbox::Mailbox;

/// How a page shows an address; the best comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Presence {
    Visible,
    /// A reader can see it, spelled so that harvesters do not find it, or so that it is not sure
    /// where it begins.
    Obfuscated,
    Hidden,
    Absent,
}

/// How `page` shows `mailbox`: of all places, only the best counts.
pub fn presence(page: &Page, mailbox: &Mailbox) -> Presence {
    let needle = Needle::of(mailbox);
    // Japanese text may have the sign in its own width, which readers and mail programs take for it.
    let is_in = |text: &String| needle.is_in(&text.replace('\u{ff20}', "@"));
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

/// Takes out of a visible line the addresses of which some is in `drawn`, and gives those that are
/// not in it whole.
pub(super) fn without_drawn(line: String, drawn: &[Range<usize>]) -> (String, Vec<String>) {
    let mut taken = Vec::new();
    if drawn.is_empty() || !line.contains('@') {
        return (line, taken);
    }
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in line.match_indices('@') {
        let start = at - run(line[..at].bytes().rev());
        let end = at + 1 + domain(&line[at + 1..]);
        let touches = |one: &Range<usize>| one.start < end && start < one.end;
        if start < from || !drawn.iter().any(touches) {
            continue;
        }
        taken.push(line[start..end].to_owned());
        kept.push_str(&line[from..start]);
        from = end;
    }
    kept.push_str(&line[from..]);
    (kept, taken)
}

// `in`, a line break, `fo@acme.co`: a reader may see one address that a break parts, or a word above
// another. Which of them is meant is unclear unless the line above is a label or a sentence.

/// Takes out of two lines that a break parts, `above` and `line`, the address that it may part;
/// gives what it may be.
pub(super) fn across(above: &mut String, line: &mut String) -> Vec<String> {
    from_above(above, line)
        .or_else(|| into_line(above, line))
        .unwrap_or_default()
}

/// An address at the start of `line` that may begin above.
fn from_above(above: &str, line: &mut String) -> Option<Vec<String>> {
    let at = line
        .find('@')
        .filter(|at| run(line[..*at].bytes().rev()) == *at)?;
    let found = around(line, at)?;
    let word = above.rsplit(' ').next().unwrap_or_default();
    // A line that is the address's own domain is not its beginning.
    let site = word.strip_prefix("www.").unwrap_or(word);
    if site == found.domain().as_str() || !may_go_on(above, word, at) {
        return None;
    }
    let end = at + 1 + domain(&line[at + 1..]);
    let found = vec![line[..end].to_owned(), format!("{word}{}", &line[..end])];
    *line = line[end..].trim_start().to_owned();
    Some(found)
}

/// Whether `word`, the last of the line above a local part of so many bytes, may be its beginning.
fn may_go_on(above: &str, word: &str, local: usize) -> bool {
    /// A local part that is so short may well be the rest of one.
    const SHORT: usize = 3;
    let bare = word.trim_end_matches(['.', '-', '_', '+']);
    let plain = bare.bytes().any(|b| b.is_ascii_lowercase())
        && bare
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._+-".contains(&b));
    let label = || MAIL_LABELS.iter().any(|row| row.word.text == bare);
    // `Mail: john.` is no sentence.
    let is_labelled = above[..above.len() - word.len()]
        .trim_end()
        .ends_with([':', '：']);
    let joined = bare.len() < word.len() && (!word.ends_with('.') || is_labelled);
    plain && (joined || (word.len() == above.len() || local <= SHORT) && !label())
}

/// An address at the end of `above` whose domain may go on in `line`.
fn into_line(above: &mut String, line: &str) -> Option<Vec<String>> {
    const MOST_LETTERS: usize = 4;
    let at = above.rfind('@')?;
    let length = domain(&above[at + 1..]);
    let joint = &above[at + 1 + length..];
    let shorter = around(above, at)?;
    let first = line.chars().next()?;
    let token = line.split(' ').next().unwrap_or_default();
    let goes_on = match joint {
        "" if first == '.' || first == '-' => true,
        "" => token == line && token.len() <= MOST_LETTERS && !token.contains('.'),
        "." | "-" => first.is_ascii_lowercase(),
        _ => return None,
    };
    let joined = format!("{above}{token}");
    let longer = around(&joined, at).filter(|longer| goes_on && *longer != shorter)?;
    let local = run(above[..at].bytes().rev());
    above.truncate(at - local);
    above.truncate(above.trim_end().len());
    Some(vec![shorter.to_string(), longer.to_string()])
}

/// Reads lines that breaks part, with an empty one where a gap is: what they show, and the
/// addresses of which it is unclear where they begin or end.
pub(super) fn broken(lines: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut shown, mut unclear) = (Vec::<String>::new(), Vec::new());
    let mut near = false;
    for mut line in lines {
        if let Some(above) = shown.last_mut().filter(|_| near) {
            unclear.extend(across(above, &mut line));
        }
        near = !line.is_empty();
        if near {
            shown.push(line);
        }
    }
    shown.retain(|line| !line.is_empty());
    (shown, unclear)
}

const LABEL_TABLE: &str = include_str!("../words/mail_labels.toml");

static MAIL_LABELS: LazyLock<Vec<Row>> = LazyLock::new(|| rows(LABEL_TABLE));

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::base::words::{Text, check};
    use crate::world::domain::HostName;
    use crate::world::page::tests::page;

    fn how(html: &str) -> Presence {
        presence(&page(html), &Mailbox::parse("info@acme.co").unwrap())
    }

    #[test]
    fn the_best_place_counts() {
        assert_eq!(how("<p>Info@ACME.co"), Presence::Visible);
        assert_eq!(how("<p>メール：info＠acme.co まで"), Presence::Visible);
        assert_eq!(how("<p>ｉｎｆｏ＠ａｃｍｅ．ｃｏ"), Presence::Obfuscated);
        assert_eq!(how("<p>info＠acme.com"), Presence::Absent);
        assert_eq!(how("<p>acme.co<br>info@acme.co"), Presence::Visible);
        assert_eq!(how("<p>max.co<br>info@acme.co"), Presence::Obfuscated);
        let below_link = |href| how(&format!("<a href='{href}'>max.co</a><br>info@acme.co"));
        assert_eq!(below_link("https://www.max.co/"), Presence::Visible);
        assert_eq!(below_link("https://max.com/"), Presence::Obfuscated);
        let below_host = how("<a href='http://max/'>max</a><br>info@acme.co");
        assert_eq!(below_host, Presence::Obfuscated);
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

    #[test]
    fn a_break_may_part_an_address_from_its_beginning_or_end() {
        let across = |above: &str, line: &str| {
            let (mut above, mut line) = (above.to_owned(), line.to_owned());
            let unclear = across(&mut above, &mut line);
            (above, line, unclear)
        };
        for (above, line, unclear) in rows! {
            "in", "fo@acme.co x" => "fo@acme.co info@acme.co";
            "write to in", "fo@acme.co" => "fo@acme.co info@acme.co";
            "Mail: john.", "doe@acme.co" => "doe@acme.co john.doe@acme.co";
            "john.", "doe@acme.co" => "doe@acme.co john.doe@acme.co";
            "Our e-", "mail@acme.co" => "mail@acme.co e-mail@acme.co";
            "to info@acme.co", ".kr" => "info@acme.co info@acme.co.kr";
            "info@acme.co.", "kr or" => "info@acme.co info@acme.co.kr";
            "info@acme.co", "m" => "info@acme.co info@acme.com";
            "info@acme.co-", "op.com" => "info@acme.co info@acme.co-op.com";
        } {
            let (_, _, found) = across(above, line);
            assert_eq!(found.join(" "), unclear, "{above} / {line}");
        }
        for (above, line) in [
            ("e-mail", "info@acme.co"),
            ("Contact us", "info@acme.co"),
            ("Seoul.", "info@acme.co"),
            ("please write.", "info@acme.co"),
            ("Mail:", "fo@acme.co"),
            ("Presse", "pr@acme.co"),
            ("서울", "info@acme.co"),
            ("info@acme.co", "www.acme.co"),
            ("info@acme.co.", "We reply"),
            ("info@acme.co.kr", "tel 1"),
            ("a@b.co info", "x@"),
            ("", "info@acme.co"),
        ] {
            let left = (above.to_owned(), line.to_owned(), Vec::new());
            assert_eq!(across(above, line), left);
        }
    }

    #[test]
    fn labels_above_an_address_are_none_of_its_words() {
        check(LABEL_TABLE, |label: &Text, word| label.text == word);
    }

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
