//! Texts at the places where an owner's name is given, and lines that label or credit a name.

use super::text::head;
use super::{OwnerPlace, OwnerText};
use crate::base::text::normalise;
use crate::base::word_list::word_lists;
use std::collections::HashSet;

/// The longest text kept, in characters: a name comes early.
const MOST_CHARS: usize = 300;

const MOST_TEXTS: usize = 60;

/// A copyright line outside the footer counts among this many last lines of a page.
const LAST_LINES: usize = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Regions {
    pub(super) header: usize,
    pub(super) footer: usize,
    pub(super) heading: usize,
    pub(super) address: usize,
    /// In `<article>`, `<aside>` or a quotation, which speak of anything.
    pub(super) article: usize,
    /// In `<nav>`, whose words name what they lead to.
    pub(super) menu: usize,
}

#[derive(Debug, Default)]
pub(super) struct Owner {
    texts: Vec<OwnerText>,
    known: HashSet<OwnerText>,
    counts: [usize; 9],
    labelled: bool,
    /// Whose names follow, and where that was said.
    credited: (Credit, Regions),
    lines: usize,
    /// Copyright lines outside the footer, and the number of each.
    copyrights: Vec<(usize, String)>,
}

impl Owner {
    pub(super) fn add(&mut self, place: OwnerPlace, text: &str) {
        let text = normalise(head(text, 4 * MOST_CHARS));
        let text = head(&text, MOST_CHARS).trim().to_owned();
        let count = &mut self.counts[place as usize];
        if text.is_empty() || *count >= MOST_TEXTS {
            return;
        }
        let text = OwnerText { place, text };
        if self.known.insert(text.clone()) {
            *count += 1;
            self.texts.push(text);
        }
    }

    /// Adds a visible line if it is where a page names its owner.
    pub(super) fn line(&mut self, line: &str, regions: Regions) {
        self.lines += 1;
        let labelled = std::mem::take(&mut self.labelled);
        if self.is_credited(line, regions) {
            return;
        }
        if regions.menu > 0 && regions.heading == 0 {
            return;
        }
        if regions.header > 0 {
            self.add(OwnerPlace::Header, line);
        }
        if regions.footer > 0 {
            self.add(OwnerPlace::Footer, line);
        }
        if regions.article > 0 {
            return;
        }
        if regions.heading > 0 {
            self.add(OwnerPlace::Heading, line);
        }
        let short = line.len() <= 6 * MOST_CHARS;
        if short && is_copyright(line) {
            self.copyright(line, regions);
        }
        match if short { label(line) } else { Label::None } {
            Label::Alone => self.labelled = true,
            Label::WithValue => self.add(OwnerPlace::Address, line),
            Label::None if labelled || regions.address > 0 => self.add(OwnerPlace::Address, line),
            Label::None => {}
        }
    }

    /// Whether a line is what a credit before it announced.
    ///
    /// A list goes on until a line says whose it is, or the page's region ends.
    fn is_credited(&mut self, line: &str, regions: Regions) -> bool {
        let (before, place) = self.credited;
        let goes_on = place == regions && !tells_whose(line);
        let after = match before {
            Credit::List => Credit::Rest,
            Credit::Rest if goes_on => Credit::Rest,
            _ => Credit::None,
        };
        self.credited = match credit(line) {
            Credit::None => (after, place),
            new => (new, regions),
        };
        match before {
            Credit::None => false,
            Credit::Next | Credit::List => true,
            Credit::Rest => goes_on,
        }
    }

    fn copyright(&mut self, line: &str, regions: Regions) {
        if regions.footer > 0 {
            self.add(OwnerPlace::Copyright, line);
        } else {
            self.copyrights.push((self.lines, line.to_owned()));
            if self.copyrights.len() > LAST_LINES {
                self.copyrights.remove(0);
            }
        }
    }

    /// All texts, those of one place in order.
    pub(super) fn into_texts(mut self) -> Vec<OwnerText> {
        for (number, line) in std::mem::take(&mut self.copyrights) {
            // A credit in the midst of a page is a picture's or a seller's.
            if number + LAST_LINES > self.lines {
                self.add(OwnerPlace::Copyright, &line);
            }
        }
        self.texts
    }
}

/// Whether a line is more than one name of a list: a copyright, a label, an address.
fn tells_whose(line: &str) -> bool {
    const FEWEST_DIGITS: usize = 5;
    is_copyright(line)
        || !matches!(label(line), Label::None)
        || line.contains('@')
        || line.bytes().filter(u8::is_ascii_digit).count() >= FEWEST_DIGITS
}

word_lists! {
    /// Words that are followed by the owner's name or address.
    LABELS = "words/owner_labels.txt";
    ONE = "words/credit_next.txt";
    /// Words behind which a list of names follows.
    MANY = "words/credit_list.txt";
}

pub(super) fn is_copyright(line: &str) -> bool {
    let lower = line.to_lowercase();
    let sign = |at: usize| {
        let rest = lower[at + "(c)".len()..].trim_start();
        rest.starts_with(|c: char| c.is_ascii_digit()) || rest.starts_with("copyright")
    };
    lower.contains(['©', 'ⓒ'])
        || lower.contains("copyright")
        || lower.contains("all rights reserved")
        || lower.contains("alle rechte vorbehalten")
        || lower.match_indices("(c)").any(|(at, _)| sign(at))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The line is a label; its value follows.
    Alone,
    WithValue,
    None,
}

/// The label of an address line: at its start, or anywhere before a colon.
pub(super) fn label(line: &str) -> Label {
    let lower = line.to_lowercase();
    if is_imprint(&lower) {
        return Label::Alone;
    }
    let colon = |c: char| matches!(c, ':' | '：' | '|' | ')');
    for part in
        std::iter::once(lower.as_str()).chain(lower.split(['|', '/', ',', '·', '•']).skip(1))
    {
        let part = part.trim();
        for label in LABELS.iter() {
            let Some(rest) = part.strip_prefix(label) else {
                continue;
            };
            let value = rest.trim_start();
            if value.trim_matches(colon).trim().is_empty() {
                return Label::Alone;
            }
            let latin = label.is_ascii();
            if value.starts_with(colon) || (!latin && rest.starts_with(char::is_whitespace)) {
                return Label::WithValue;
            }
        }
    }
    Label::None
}

/// Whether a line is the heading that German law gives to the name of who runs a site.
fn is_imprint(lower: &str) -> bool {
    const LONGEST: usize = 60;
    lower.len() <= LONGEST && lower.starts_with("angaben gem") && lower.contains('§')
}

/// A line that announces a name is no longer than this, in words.
const MOST_WORDS: usize = 4;

/// The same in bytes, of a line whose words count as one.
const MOST_JOINED: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Credit {
    #[default]
    None,
    Next,
    List,
    Rest,
}

/// What a line says of the names that follow: `Hosting by`, `협력사:`.
pub(super) fn credit(line: &str) -> Credit {
    let line = line.trim_end().trim_end_matches([':', '：']);
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    // The name itself may stand there, but then the line says so on its own.
    let last = words.last().filter(|_| words.len() <= MOST_WORDS).cloned();
    let joined = (line.len() <= MOST_JOINED).then(|| words.concat());
    let is_in = |list: &[&str]| {
        let mut said = last.iter().chain(&joined);
        said.any(|word| list.contains(&word.as_str()))
    };
    if is_in(&MANY) {
        Credit::List
    } else if is_in(&ONE) {
        Credit::Next
    } else {
        Credit::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[&str], regions: Regions) -> Vec<OwnerText> {
        let mut owner = Owner::default();
        for line in lines {
            owner.line(line, regions);
        }
        owner.into_texts()
    }

    fn places(lines: &[&str]) -> Vec<OwnerPlace> {
        let texts = texts(lines, Regions::default()).into_iter();
        texts.map(|text| text.place).collect()
    }

    #[test]
    fn copyright_lines() {
        for line in [
            "© Acme",
            "ⓒ 아크메",
            "Copyright 2020 Acme",
            "(C) 2020 Acme",
            "ACME All Rights Reserved.",
        ] {
            assert_eq!(places(&[line]), [OwnerPlace::Copyright], "{line}");
        }
        for line in ["(c) third point: Acme", "the right copy: Acme", "right"] {
            assert!(places(&[line]).is_empty(), "{line}");
        }
    }

    #[test]
    fn address_lines() {
        for line in [
            "주소 : 서울",
            "상호: 아크메 | 대표 : 홍길동",
            "Tel 1 | 사업자등록번호: 1",
            "住所：東京",
            "Address: 1 Way",
            "대표 홍길동",
        ] {
            assert_eq!(places(&[line]), [OwnerPlace::Address], "{line}");
        }
        for line in [
            "이메일 주소: x",
            "주소창에 쓰세요",
            "대표적인 고객 아크메",
            "Address book of Acme",
            "company news: Acme",
        ] {
            assert!(places(&[line]).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_label_in_a_cell_of_its_own_labels_the_next() {
        assert_eq!(places(&["상호", "아크메"]), [OwnerPlace::Address]);
        assert_eq!(places(&["상호", "아크메", "더"]).len(), 1);
    }

    #[test]
    fn a_copyright_in_the_midst_of_a_page_is_another_things() {
        let mut lines = vec!["© Photo"];
        lines.extend(["text"; LAST_LINES]);
        assert!(places(&lines).is_empty());
        lines.push("© Acme");
        assert_eq!(places(&lines), [OwnerPlace::Copyright]);
    }

    #[test]
    fn a_name_that_a_credit_announces_is_not_the_owners() {
        let footer = |lines: &[&str]| {
            let regions = Regions {
                footer: 1,
                ..Regions::default()
            };
            let texts = texts(lines, regions).into_iter();
            texts.map(|text| text.text).collect::<Vec<_>>()
        };
        for credit in ["Designed by", "Hosting by", "호스팅 제공자"] {
            assert_eq!(
                footer(&[credit, "Acme", "Beta"]),
                [credit, "Beta"],
                "{credit}"
            );
        }
        for credit in [
            "Our partners:",
            "협력사：",
            "CUSTOMERS",
            "주요 거래처",
            "取引先",
        ] {
            let lines = [credit, "Acme", "Beta", "Acme", "© Gamma", "Delta"];
            assert_eq!(
                footer(&lines),
                [credit, "© Gamma", "© Gamma", "Delta"],
                "{credit}"
            );
        }
        let long = "We wrote a long line about our customers";
        for line in ["Contact", "Company:", "주소", long] {
            assert!(
                footer(&[line, "Acme"]).contains(&"Acme".to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn menus_and_articles_name_others() {
        let menu = Regions {
            header: 1,
            menu: 1,
            ..Regions::default()
        };
        let article = Regions {
            article: 1,
            heading: 1,
            ..Regions::default()
        };
        for (line, regions) in [("Acme", menu), ("© Acme", article)] {
            assert!(texts(&[line], regions).is_empty(), "{regions:?}");
        }
    }

    #[test]
    fn texts_are_bounded() {
        let mut owner = Owner::default();
        for i in 0..1000 {
            owner.add(OwnerPlace::Header, &format!("{i} {}", "가".repeat(5000)));
        }
        owner.add(OwnerPlace::Title, " T\u{200b} ");
        owner.add(OwnerPlace::Title, "T");
        let texts = owner.into_texts();
        assert_eq!(texts.len(), MOST_TEXTS + 1);
        assert!(
            texts
                .iter()
                .all(|text| text.text.chars().count() <= MOST_CHARS)
        );
    }
}
