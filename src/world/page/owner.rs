//! What stands where an owner's name stands.

use std::collections::HashSet;

use super::text::{head, normalise};
use super::{OwnerPlace, OwnerText};

/// The longest text kept, in characters: a name stands early.
const MOST_CHARS: usize = 300;

/// How many texts are kept of one place.
const MOST_TEXTS: usize = 60;

/// A copyright line outside the footer counts among this many last lines of a page.
const LAST_LINES: usize = 8;

/// Words of a line that says whose name follows: not the owner's.
const CREDITS: &[&str] = &[
    "by",
    "client",
    "clients",
    "design",
    "family",
    "host",
    "hosting",
    "partner",
    "partners",
    "seller",
    "sponsor",
    "sponsors",
    "vendor",
    "pg",
    "결제대행",
    "결제대행사",
    "고객사",
    "관계사",
    "관련사이트",
    "디자인",
    "웹디자인",
    "제작",
    "제휴사",
    "파트너",
    "파트너사",
    "판매자",
    "패밀리",
    "패밀리사이트",
    "협력사",
    "협력업체",
    "호스팅",
    "호스팅제공자",
    "후원",
];

/// A line that announces a name is no longer than this, in words.
const CREDIT_WORDS: usize = 4;

/// Words that are followed by the owner's name or address.
const LABELS: &[&str] = &[
    "주소",
    "상호",
    "상호명",
    "회사명",
    "법인명",
    "업체명",
    "대표",
    "대표자",
    "대표이사",
    "사업자등록번호",
    "사업자 등록번호",
    "사업자번호",
    "통신판매업신고",
    "address",
    "company",
    "company name",
    "registered office",
    "anschrift",
    "impressum",
    "firma",
    "adresse",
    "住所",
    "所在地",
    "会社名",
    "商号",
    "社名",
    "地址",
    "公司名称",
];

/// Where a line stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Regions {
    /// In the page's header.
    pub(super) header: usize,
    /// In the page's footer.
    pub(super) footer: usize,
    /// In `<h1>`.
    pub(super) heading: usize,
    /// In `<address>`.
    pub(super) address: usize,
    /// In `<article>`, `<aside>` or a quotation, which speak of anything.
    pub(super) article: usize,
    /// In `<nav>`, whose words name what they lead to.
    pub(super) menu: usize,
}

/// The texts found so far.
#[derive(Debug, Default)]
pub(super) struct Owner {
    texts: Vec<OwnerText>,
    known: HashSet<OwnerText>,
    counts: [usize; 9],
    labelled: bool,
    credited: bool,
    /// How many lines there have been.
    lines: usize,
    /// Copyright lines outside the footer, and the number of each.
    copyrights: Vec<(usize, String)>,
}

impl Owner {
    /// Adds a text that stands at `place`.
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

    /// Adds a visible line, if it stands where an owner's name stands.
    pub(super) fn line(&mut self, line: &str, regions: Regions) {
        self.lines += 1;
        let labelled = std::mem::take(&mut self.labelled);
        if std::mem::replace(&mut self.credited, is_credit(line)) {
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

/// Whether a line says that another's name follows: `Hosting by`, `협력사:`.
fn is_credit(line: &str) -> bool {
    let line = line.trim_end().trim_end_matches([':', '：']);
    let words = || {
        let words = line.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| !word.is_empty())
    };
    // The name itself may stand there, but then the line says so on its own.
    words().count() <= CREDIT_WORDS
        && words().next_back().is_some_and(|last| {
            let last = last.to_lowercase();
            CREDITS.contains(&last.as_str())
        })
        || line.len() <= 40 && {
            let joined: String = words().collect();
            CREDITS.contains(&joined.to_lowercase().as_str())
        }
}

/// Whether a line claims a copyright.
fn is_copyright(line: &str) -> bool {
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

enum Label {
    /// The line is a label; its value follows.
    Alone,
    /// The line has a label and what it labels.
    WithValue,
    None,
}

/// The label of an address line: at its start, or anywhere before a colon.
fn label(line: &str) -> Label {
    let lower = line.to_lowercase();
    let colon = |c: char| matches!(c, ':' | '：' | '|' | ')');
    for part in
        std::iter::once(lower.as_str()).chain(lower.split(['|', '/', ',', '·', '•']).skip(1))
    {
        let part = part.trim();
        for label in LABELS {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn places(lines: &[&str]) -> Vec<OwnerPlace> {
        let mut owner = Owner::default();
        for line in lines {
            owner.line(line, Regions::default());
        }
        owner.into_texts().iter().map(|text| text.place).collect()
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
            let mut owner = Owner::default();
            let regions = Regions {
                footer: 1,
                ..Regions::default()
            };
            for line in lines {
                owner.line(line, regions);
            }
            let texts = owner.into_texts().into_iter();
            texts.map(|text| text.text).collect::<Vec<_>>()
        };
        for credit in ["Designed by", "Our partners:", "호스팅 제공자", "협력사："] {
            assert_eq!(
                footer(&[credit, "Acme", "Beta"]),
                [credit, "Beta"],
                "{credit}"
            );
        }
        for line in ["Contact", "Company:", "주소"] {
            assert!(
                footer(&[line, "Acme"]).contains(&"Acme".to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn a_menu_names_what_it_leads_to() {
        let mut owner = Owner::default();
        let regions = Regions {
            header: 1,
            menu: 1,
            ..Regions::default()
        };
        owner.line("Acme", regions);
        assert!(owner.into_texts().is_empty());
    }

    #[test]
    fn articles_speak_of_anything() {
        let mut owner = Owner::default();
        let regions = Regions {
            article: 1,
            heading: 1,
            ..Regions::default()
        };
        owner.line("© Acme", regions);
        assert!(owner.into_texts().is_empty());
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
