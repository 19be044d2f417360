//! Asks a page for something made up: whether it shows an address that nobody has.
//!
//! A page may make the address of its URL, by a name in its path or in a code that no list of
//! codes is long enough for. So the same URL is asked for once more with a made-up word in place
//! of what may be the address: a page that shows the made-up address, or that is the same but for
//! it, repeats its URL. The word is a digest of the URL and the quest's key, so an audit asks for
//! the same.

use std::collections::BTreeSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::echo;
use super::may_echo::is_blob;
use crate::base::Digest;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, presence};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub url: Url,
    /// The made-up address.
    canary: Mailbox,
    /// What is replaced may be the address in a code that cannot be told.
    coded: bool,
}

/// A shorter local part is in too many words.
const MIN_LOCAL: usize = 3;

impl Probe {
    /// The probe for `url`; none when nothing in it may be the address, or a part of it.
    pub fn of(url: &Url, email: &Mailbox, key: &str) -> Option<Self> {
        let mut canary = Canary::new(url, key);
        let word = canary.word();
        let (mut named, mut coded) = (false, false);
        let mut replaced = |part: &str| {
            let plain = echo::unescaped(part);
            let is_coded = is_coded(&plain);
            coded |= is_coded;
            let as_written = with_word(part, email.local(), &word);
            let decoded = || {
                let plain = with_word(&plain, email.local(), &word)?;
                Some(utf8_percent_encode(&plain, NON_ALPHANUMERIC).to_string())
            };
            if let Some(part) = as_written.or_else(decoded) {
                named = true;
                part
            } else if is_coded {
                canary.scrambled(part)
            } else {
                part.to_owned()
            }
        };
        let mut probe = url.clone();
        let path: Vec<String> = url.path().split('/').map(&mut replaced).collect();
        let query = url.query().map(|query| {
            let parts = query.split_inclusive(['&', '=', '+']);
            let parts = parts.map(|part| {
                let end = part.len() - usize::from(part.ends_with(['&', '=', '+']));
                format!("{}{}", replaced(&part[..end]), &part[end..])
            });
            parts.collect::<String>()
        });
        probe.set_path(&path.join("/"));
        probe.set_query(query.as_deref());
        let canary = Mailbox::parse(&format!("{word}@{}", email.domain().as_str())).ok()?;
        ((named || coded) && probe != *url).then_some(Self {
            url: probe,
            canary,
            coded,
        })
    }

    /// What shows that `page` repeats its URL, given what the probe met.
    pub fn echo(&self, page: &Page, met: &Visit) -> Option<String> {
        let shows = |page: &Page| presence(page, &self.canary) != Presence::Absent;
        match &met.end {
            End::Pages(pages) if pages.iter().any(shows) => Some(format!(
                "asked for a made-up name, it shows {}",
                self.canary
            )),
            End::Pages(pages) if self.coded && pages.first().is_some_and(|it| alike(page, it)) => {
                Some("it shows the same page for a made-up value".to_owned())
            }
            End::Unanswered { .. } if self.coded => {
                Some("it carries a code, and the page fails for a made-up one".to_owned())
            }
            _ => None,
        }
    }
}

/// `text` with `word` in place of `local`, however its words are joined.
fn with_word(text: &str, local: &str, word: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let joints = ["", "-", "_", " "].map(|joint| local.replace(['.', '-', '_'], joint));
    let mut spelled = std::iter::once(local.to_owned()).chain(joints);
    let found = spelled.find(|local| local.len() >= MIN_LOCAL && lower.contains(local.as_str()))?;
    Some(lower.replace(&found, word))
}

/// Whether a part of a URL may be a text in a code: escapes, numbers of characters, or letters and
/// digits as no word has them.
fn is_coded(text: &str) -> bool {
    const FEWEST_NUMBERS: usize = 5;
    let lower = text.to_lowercase();
    let numbers: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).collect();
    let is_character = |number: &&str| (2..=3).contains(&number.len());
    ["%u", "\\u", "\\x", "&#"]
        .iter()
        .any(|mark| lower.contains(mark))
        || numbers.len() >= FEWEST_NUMBERS && numbers.iter().all(is_character)
        || is_blob(text)
}

/// Whether two pages show the same lines but for a few, addresses left out.
fn alike(page: &Page, other: &Page) -> bool {
    let [one, two] = [page, other].map(|page| {
        let lines = page.visible.iter().filter(|line| !line.contains('@'));
        lines.collect::<BTreeSet<_>>()
    });
    let common = one.intersection(&two).count();
    let all = one.union(&two).count();
    common * 10 >= all * 9
}

/// Made-up characters, the same for the same URL and key.
struct Canary {
    digits: std::vec::IntoIter<u8>,
    seed: String,
}

impl Canary {
    fn new(url: &Url, key: &str) -> Self {
        Self {
            digits: Vec::new().into_iter(),
            seed: format!("{url}\n{key}"),
        }
    }

    fn next(&mut self) -> u8 {
        if let Some(digit) = self.digits.next() {
            return digit;
        }
        self.seed = Digest::of(self.seed.as_bytes()).to_string();
        self.digits = self.seed.clone().into_bytes().into_iter();
        self.digits.next().unwrap_or_default()
    }

    fn letter(&mut self) -> u8 {
        let two = u16::from(self.next()) * 16 + u16::from(self.next());
        b'a' + u8::try_from(two % 26).unwrap_or_default()
    }

    fn word(&mut self) -> String {
        const LETTERS: usize = 12;
        (0..LETTERS).map(|_| char::from(self.letter())).collect()
    }

    /// `part` with other letters and digits, but for its escapes.
    fn scrambled(&mut self, part: &str) -> String {
        let mut rest = part;
        let mut out = String::new();
        while let Some(c) = rest.chars().next() {
            let escape = ["%25u", "%u", "%5Cu", "%5Cx", "%"]
                .iter()
                .find(|mark| rest.starts_with(**mark));
            let skip = escape.map_or(0, |mark| {
                mark.len() + if mark.ends_with('u') { 4 } else { 2 }
            });
            if let Some(escaped) = rest.get(..skip).filter(|_| skip > 0) {
                out.push_str(escaped);
                rest = &rest[skip..];
                continue;
            }
            let letter = self.letter();
            out.push(match c {
                'a'..='z' => char::from(letter),
                'A'..='Z' => char::from(letter.to_ascii_uppercase()),
                '0'..='9' => char::from(b'0' + letter % 10),
                _ => c,
            });
            rest = &rest[c.len_utf8()..];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::tests::{page_saying, url, visit_of};

    fn probe(path: &str) -> Option<Probe> {
        let email = Mailbox::parse("made.up@acme.co.kr").unwrap();
        let url = url("https://acme.co.kr/").join(path).unwrap();
        Probe::of(&url, &email, "Acme")
    }

    #[test]
    fn what_may_be_the_address_is_replaced_and_nothing_else() {
        for (path, before, after) in [
            ("/team/made.up", "/team/", ""),
            ("/team/Made-Up.html?lang=de", "/team/", ".html?lang=de"),
            ("/x?page=made_up&no=1", "/x?page=", "&no=1"),
            ("/say/made.up%u0040acme.co.kr", "/say/", "%u0040acme.co.kr"),
        ] {
            let probe = probe(path).unwrap();
            let asked = &probe.url.as_str()["https://acme.co.kr".len()..];
            let word = probe.canary.local();
            assert_eq!(asked, format!("{before}{word}{after}"), "{path}");
        }
        for path in [
            "/say/109-97-100-101-46-117-112",
            "/say/y01MSdUrLXBITM5N1UvO18suAgA",
            "/say/x%5Cu0040y",
        ] {
            let probe = probe(path).unwrap();
            assert!(
                probe.coded && probe.url.path().len() == path.len(),
                "{path}"
            );
        }
        for path in [
            "/contact",
            "/a/b?no=12",
            "/2026/11/24/news",
            "/",
            "/how-to-reach-our-people",
        ] {
            assert_eq!(probe(path), None, "{path}");
        }
    }

    #[test]
    fn the_same_is_asked_for_again_and_another_for_another() {
        assert_eq!(probe("/team/made.up"), probe("/team/made.up"));
        let words = ["/team/made.up", "/staff/made.up"].map(|path| probe(path).unwrap().canary);
        assert_ne!(words[0], words[1]);
    }

    #[test]
    fn a_page_that_answers_to_a_made_up_value_repeats_it() {
        let named = probe("/team/made.up").unwrap();
        let coded = probe("/say/y01MSdUrLXBITM5N1UvO18suAgA").unwrap();
        let at = "https://acme.co.kr/x";
        let mut page = page_saying(at, "made.up@acme.co.kr");
        page.visible.extend(["Acme".to_owned(), "Seoul".to_owned()]);
        let saying = |text: &str| {
            let mut other = page.clone();
            text.clone_into(&mut other.visible[0]);
            visit_of(vec![other])
        };
        let shown = named.canary.to_string();
        assert!(named.echo(&page, &saying(&shown)).is_some());
        assert_eq!(named.echo(&page, &saying("x@acme.co.kr")), None);
        assert!(coded.echo(&page, &saying("x@acme.co.kr")).is_some());
        assert_eq!(coded.echo(&page, &saying("No such page")), None);
        let mut gone = saying("");
        gone.end = End::Missing {
            url: url(at),
            status: Some(404),
        };
        assert_eq!(coded.echo(&page, &gone), None);
    }
}
