//! What stands where an owner's name stands.

use std::collections::HashSet;

use super::text::{head, normalise};
use super::{OwnerPlace, OwnerText};

/// The longest text kept, in characters: a name stands early.
const MOST_CHARS: usize = 300;

/// How many texts are kept of one place.
const MOST_TEXTS: usize = 60;

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
}

/// The texts found so far.
#[derive(Debug, Default)]
pub(super) struct Owner {
    texts: Vec<OwnerText>,
    known: HashSet<OwnerText>,
    counts: [usize; 9],
    labelled: bool,
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
        let labelled = std::mem::take(&mut self.labelled);
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
            self.add(OwnerPlace::Copyright, line);
        }
        match if short { label(line) } else { Label::None } {
            Label::Alone => self.labelled = true,
            Label::WithValue => self.add(OwnerPlace::Address, line),
            Label::None if labelled || regions.address > 0 => self.add(OwnerPlace::Address, line),
            Label::None => {}
        }
    }

    /// All texts, in order.
    pub(super) fn into_texts(self) -> Vec<OwnerText> {
        self.texts
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
