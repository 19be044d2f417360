//! What a home page says of itself: the names that it declares as the site's, and its copyright lines.
//!
//! A declared name alone proves little: a leftover of an earlier owner, the credit of an agency or
//! the line of a parent company is one too. So what machines read must agree with what readers see,
//! and a copyright line with the page's title, its other names or its domain.

use super::company_name::{CompanyName, Folded, stripped};
use super::name_similarity::{Similarity, similarity};
use super::notice::is_line;
use super::operator::{aliases, begins_with, ends_name, firm, is_between};
use super::words::{LABELS, Line, NAME_WORDS, NameWord, PHRASES, Phrase};
use crate::world::page::{OwnerPlace, OwnerText};

/// A copyright line outside the footer counts among this many last lines of a page.
const LAST_LINES: usize = 8;

pub(super) struct Declared<'a> {
    name: &'a CompanyName,
    /// The label by which the domain is called, in its own letters.
    label: Option<String>,
    texts: &'a [OwnerText],
    copyrights: Vec<(&'a OwnerText, Vec<String>)>,
}

impl<'a> Declared<'a> {
    pub(super) fn read(
        texts: &'a [OwnerText],
        label: Option<String>,
        name: &'a CompanyName,
    ) -> Self {
        let lines: Vec<&OwnerText> = texts.iter().filter(|text| is_line(text.place)).collect();
        let last = lines.len().saturating_sub(LAST_LINES);
        let signed = lines.iter().enumerate().filter(|(at, text)| {
            text.place == OwnerPlace::Footer || *at >= last && text.place != OwnerPlace::Article
        });
        let copyrights = signed.filter_map(|(_, text)| Some((*text, holders(&text.text)?)));
        Self {
            name,
            label,
            texts,
            copyrights: copyrights.collect(),
        }
    }

    /// Whether the page declares the company, and nothing that it shows is against it.
    pub(super) fn proves(&self) -> bool {
        let machine = self.is_named_to_machines();
        let signed = self.copyrights.iter().any(|(_, pieces)| self.signs(pieces));
        let seen = self.is_titled();
        let around = || self.is_called() || machine || self.is_called_so(OwnerPlace::Header);
        (machine && (seen || signed) || signed && around()) && !self.is_disclaimed()
    }

    /// Whether the frame of all pages has the whole name, with its legal form, at the beginning of a
    /// line, as an address has it, and both the title and the domain call the company.
    pub(super) fn is_framed(&self, frame: &[OwnerText]) -> bool {
        let is_address = |text: &OwnerText| {
            let line = text.line();
            firm(&line.text).is_some() && begins_with(&line.text, self.name)
        };
        let is_domain = || self.label.as_ref().is_some_and(|label| self.calls(label));
        self.is_titled() && is_domain() && frame.iter().any(is_address) && !self.is_disclaimed()
    }

    /// Whether a line has another name of a firm whose one is the site's.
    pub(super) fn trades_as(&self, line: &str) -> bool {
        let line = Line::new(line);
        let Some([before, behind]) = aliases(&line) else {
            return false;
        };
        let mut own = self.called().into_iter();
        own.any(|own| before == own || behind.trim() == own)
    }

    /// What the title, the headings and the site's name call the site, folded.
    pub(super) fn called(&self) -> Vec<String> {
        use OwnerPlace::{Heading, SiteName, Title};
        let own = [Title, Heading, SiteName].into_iter();
        let own = own.flat_map(|place| self.at(place)).flat_map(parts);
        let own = own.map(|own| trimmed(&Line::new(own)).to_owned());
        own.filter(|own| !own.is_empty()).collect()
    }

    /// Whether the title, the main heading or the domain calls the company.
    pub(super) fn is_called(&self) -> bool {
        self.is_titled() || self.label.as_ref().is_some_and(|label| self.calls(label))
    }

    pub(super) fn is_titled(&self) -> bool {
        self.is_called_so(OwnerPlace::Title) || self.is_called_so(OwnerPlace::Heading)
    }

    fn at(&self, place: OwnerPlace) -> impl Iterator<Item = &'a str> {
        let texts = self.texts.iter().filter(move |text| text.place == place);
        texts.map(|text| text.text.as_str())
    }

    fn is_named_to_machines(&self) -> bool {
        use OwnerPlace::{Logo, Organization, SiteName};
        // A site's name may go on with a slogan; of an organization's names each is its own.
        self.at(SiteName).any(|text| {
            self.is_name(text) || parts(text).next().is_some_and(|part| self.is_name(part))
        }) || self.at(Logo).any(|text| self.is_name(text))
            || self
                .at(Organization)
                .any(|text| text.split(" | ").any(|one| self.is_name(one)))
    }

    fn is_name(&self, text: &str) -> bool {
        let line = Line::new(text);
        self.name.is_spelled(text) || self.name.is_spelled(trimmed(&line))
    }

    /// Whether a copyright line has the whole name first, and no other firm.
    fn signs(&self, pieces: &[String]) -> bool {
        let Some((first, others)) = pieces.split_first() else {
            return false;
        };
        let is_other = |piece: &String| {
            let line = Line::new(piece);
            NAME_WORDS.length(&line, 0, NameWord::Article).is_none()
                && firm(piece).is_some()
                && similarity(self.name, piece) == Similarity::Different
        };
        begins_with(first, self.name) && !others.iter().any(is_other)
    }

    fn is_called_so(&self, place: OwnerPlace) -> bool {
        self.at(place)
            .any(|text| parts(text).any(|part| self.calls(part)))
    }

    /// Whether a text calls the company by its name, by a shorter one, or in another script.
    fn calls(&self, text: &str) -> bool {
        if self.is_name(text) {
            return true;
        }
        let line = Line::new(text);
        let said = Folded::new(trimmed(&line));
        let mut own = self.name.spellings();
        let is_longer = own.any(|own| said.compact().contains(own.compact()));
        !is_longer
            && matches!(
                similarity(self.name, text),
                Similarity::Same | Similarity::Kin
            )
    }

    /// Whether the page says that it is not the company's.
    fn is_disclaimed(&self) -> bool {
        let texts = self.texts.iter();
        let mut texts = texts.filter(|text| text.place != OwnerPlace::Menu);
        texts.any(|text| {
            PHRASES.find(text.line(), Phrase::Disclaimer).is_some()
                && (text.place == OwnerPlace::Title || self.name.is_in(&Folded::new(&text.text)))
        })
    }

    /// The others whom a declared name or a copyright line names, with the text that does.
    pub(super) fn others(&self) -> Vec<(OwnerPlace, &'a str)> {
        use OwnerPlace::{Organization, SiteName};
        let declared = self.texts.iter().filter(|text| {
            let is_others = |one: &str| {
                let line = Line::new(one);
                let left = trimmed(&line);
                !left.is_empty() && !is_nobody(&line) && self.is_another(left)
            };
            matches!(text.place, SiteName | Organization) && text.text.split(" | ").all(is_others)
        });
        let signed = self.copyrights.iter().filter(|(_, pieces)| {
            !pieces.is_empty() && pieces.iter().all(|piece| self.is_another(piece))
        });
        let declared = declared.map(|text| (text.place, text.text.as_str()));
        declared
            .chain(signed.map(|(text, _)| (OwnerPlace::Footer, text.text.as_str())))
            .collect()
    }

    /// The first of the others who is a firm by its legal form.
    pub(super) fn other_firm(&self) -> Option<(OwnerPlace, &'a str)> {
        let is_firm = |text: &str| {
            let signed = holders(text).unwrap_or_default();
            let named = text.split(" | ").map(|one| Line::new(one).text);
            signed
                .into_iter()
                .chain(named)
                .any(|one| firm(&one).is_some())
        };
        let mut others = self.others().into_iter();
        others.find(|(_, text)| is_firm(text))
    }

    fn is_another(&self, called: &str) -> bool {
        let is_domain = || {
            let host = called.trim_start_matches("www.");
            self.label.as_ref().is_some_and(|label| {
                let rest = host.strip_prefix(label.as_str());
                rest.is_some_and(|rest| rest.starts_with('.') && !rest.contains(' '))
            })
        };
        similarity(self.name, called) == Similarity::Different
            && !begins_with(called, self.name)
            && !is_domain()
    }
}

pub(super) fn called(place: OwnerPlace) -> &'static str {
    match place {
        OwnerPlace::SiteName => "site name",
        OwnerPlace::Organization => "organization",
        _ => "copyright line",
    }
}

/// The parts of a title, which signs part, and hyphens between spaces.
fn parts(title: &str) -> impl Iterator<Item = &str> {
    let signs = [
        '|', '｜', '–', '—', '·', ':', '：', '»', '«', '›', '>', '<', '│', 'ㅣ', '•', '～', '〜',
        '／',
    ];
    title
        .split(signs)
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" / "))
}

/// The text without the words that go with a name: `acme foods` of `Welcome to Acme Foods!`.
fn trimmed(line: &Line) -> &str {
    let (mut start, mut end) = (0, line.words.len());
    let has_digits = |at: usize, fewest: usize| {
        let word = line.word(at);
        (fewest..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit())
    };
    // `2024`, and the rest of `1998-24`.
    let is_year =
        |at: usize| has_digits(at, 4) || at > 0 && has_digits(at, 2) && has_digits(at - 1, 4);
    while start < end {
        match NAME_WORDS.length(line, start, NameWord::Trim) {
            Some(length) => start += length,
            None if is_year(start) => start += 1,
            None => break,
        }
    }
    while start < end {
        let mut lengths = (1..=end - start).filter(|length| {
            NAME_WORDS.length(line, end - length, NameWord::Trim) == Some(*length)
        });
        match lengths.next() {
            Some(length) => end -= length,
            None if is_year(end - 1) => end -= 1,
            None => break,
        }
    }
    let Some(words) = line.words.get(start..end).filter(|words| !words.is_empty()) else {
        return "";
    };
    let mut text = &line.text[words[0].start..words[words.len() - 1].end];
    while let Some(shorter) = NAME_WORDS.joined(NameWord::Trim).find_map(|trim| {
        let shorter = text
            .strip_suffix(trim)
            .or_else(|| text.strip_prefix(trim))?;
        (!shorter.is_empty()).then_some(shorter)
    }) {
        text = shorter;
    }
    text
}

fn is_nobody(line: &Line) -> bool {
    NAME_WORDS.length(line, 0, NameWord::Nobody) == Some(line.words.len())
}

/// The names in a copyright line, in their order. None if the line is not about the site's own
/// copyright, but about a picture, a map or a program.
fn holders(text: &str) -> Option<Vec<String>> {
    let mut line = Line::new(text);
    if let Some(credit) = PHRASES.find(&line, Phrase::Credit) {
        line = Line::new(&line.text[..credit.start]);
    }
    let mut is_signed = false;
    while let Some(reserved) = PHRASES.find(&line, Phrase::Reserved) {
        is_signed = true;
        let (before, after) = (&line.text[..reserved.start], &line.text[reserved.end..]);
        line = Line::new(&format!("{before} | {after}"));
    }
    let signs = ["©", "(c)", "copyright"];
    is_signed |= signs.iter().any(|sign| line.text.contains(sign));
    let is_of_thing =
        (0..line.words.len()).any(|at| NAME_WORDS.length(&line, at, NameWord::Thing).is_some());
    if !is_signed || is_of_thing {
        return None;
    }
    let plain = signs
        .iter()
        .fold(line.text.clone(), |text, sign| text.replace(sign, " | "));
    let pieces = plain.split(is_between).flat_map(|piece| piece.split(" - "));
    let pieces = pieces.filter_map(|piece| {
        let line = Line::new(cut_label(piece));
        let count = line.words.len();
        let is_label = LABELS
            .at(&line, 0)
            .is_some_and(|(length, _)| length == count);
        let name = trimmed(&line);
        let is_small =
            (0..line.words.len()).any(|at| NAME_WORDS.length(&line, at, NameWord::Small).is_some());
        // `Ltd.` of `Acme Co., Ltd.` is nobody.
        let is_name = !stripped(Folded::new(name).words()).is_empty()
            && name.chars().any(char::is_alphabetic)
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.contains('@');
        (is_name && !is_small && !is_label && !ends_name(&line, 0)).then(|| name.to_owned())
    });
    Some(pieces.collect())
}

/// The text before the first label that ends a name: `acme foods` of `acme foods tel 1`.
fn cut_label(piece: &str) -> &str {
    let line = Line::new(piece);
    let mut starts = 1..line.words.len();
    let stop = starts.find(|at| ends_name(&line, *at));
    match stop {
        Some(at) if line.text == piece => &piece[..line.words[at].start],
        _ => piece,
    }
}

#[cfg(test)]
mod tests {
    use OwnerPlace::{Body, Footer, Heading, Logo, Organization, SiteName, Title};

    use super::*;
    use crate::base::rows;

    fn texts(texts: &[(OwnerPlace, &str)]) -> Vec<OwnerText> {
        let texts = texts.iter();
        texts
            .map(|(place, text)| OwnerText::new(*place, (*text).to_owned()))
            .collect()
    }

    fn proves(key: &str, domain: &str, said: &[(OwnerPlace, &str)]) -> bool {
        let (texts, name) = (texts(said), CompanyName::parse(key));
        let declared = Declared::read(&texts, Some(domain.to_owned()), &name);
        declared.proves() && declared.others().is_empty()
    }

    #[test]
    fn what_a_site_declares_and_shows_is_its_name() {
        for said in [
            &[(SiteName, "Acme Foods"), (Title, "Home | Acme")][..],
            &[(Logo, "ACME FOODS Inc."), (Heading, "Acme Foods")],
            &[
                (Organization, "Acme | Acme Foods Co., Ltd."),
                (Title, "Acme Foods – noodles"),
            ],
            &[
                (Footer, "© 2024 Acme Foods GmbH"),
                (Title, "Noodles"),
                (Heading, "Acme Foods"),
            ],
            &[
                (SiteName, "Acme Foods"),
                (Body, "© Acme Foods"),
                (Title, "Noodles"),
            ],
        ] {
            assert!(proves("Acme Foods", "noodles", said), "{said:?}");
        }
        assert!(proves(
            "Acme Foods",
            "acmefoods",
            &[(Footer, "© Acme Foods"), (Title, "Noodles")]
        ));
    }

    #[test]
    fn one_part_of_a_title_or_a_lone_line_is_not() {
        for said in [
            &[(Title, "Acme Foods"), (Heading, "Acme Foods")][..],
            &[
                (Title, "Acme Foods Repair | Berlin"),
                (SiteName, "Acme Foods Repair"),
            ],
            &[(Title, "Hotel Sonne"), (Footer, "© Acme Foods")],
            &[
                (Title, "Best prices for shoes"),
                (SiteName, "Acme Foods"),
                (Logo, "Acme Foods"),
            ],
            &[
                (Title, "Acme Foods"),
                (Footer, "Acme Foods, 1 Main St, Berlin"),
            ],
            &[(Title, "Acme Foods"), (Footer, "Photos © Acme Foods")],
            &[
                (Title, "Acme Foods"),
                (Footer, "Powered by Acme Foods Forum © 2024 Acme Foods"),
            ],
            &[
                (Title, "Acme Foods"),
                (Footer, "Map data © Acme Foods contributors"),
            ],
            &[
                (Title, "Acme Foods"),
                (SiteName, "Acme Foods"),
                (Footer, "© Acme Logistics GmbH"),
            ],
            &[
                (Title, "Acme Foods"),
                (SiteName, "Gamma Mart"),
                (Footer, "© Acme Foods"),
            ],
            &[
                (Title, "Festival at the Acme Foods"),
                (Footer, "© Acme Foods"),
            ],
            &[
                (Title, "Acme Foods"),
                (Footer, "© Acme Foods / Gamma Events GmbH"),
            ],
            &[
                (Title, "Acme Foods"),
                (SiteName, "Acme Foods"),
                (Body, "An unofficial fan site about Acme Foods"),
            ],
        ] {
            assert!(!proves("Acme Foods", "gamma", said), "{said:?}");
        }
    }

    #[test]
    fn copyright_lines_name_their_holders() {
        for (line, expected) in rows! {
            "© 2024 Acme Foods GmbH" => "acme foods gmbh";
            "© 2024 上海阿克米有限公司 版权所有" => "上海阿克米有限公司";
            "© 2024 上海阿克米有限公司版权所有" => "上海阿克米有限公司";
            "© 2024 Acme Foods. Wir machen Nudeln." => "acme foods. wir machen nudeln";
            "Copyright © 1998-2024, Acme Foods Inc., All Rights Reserved" => "acme foods inc";
            "Copyright(c) 2024 한빛식품 All rights reserved. Designed by 디자인회사" => "한빛식품";
            "© 2024 Acme Foods Powered by Shopify" => "acme foods";
            "© 2024 Acme Foods Inc. | 12 Main St, Busan | Tel. 051-123-4567" => "acme foods inc|busan";
            "© 2024 Alle Rechte vorbehalten" => "";
            "© 2024 | Privacy Policy | Terms" => "";
            "Acme Foods © 2024" => "acme foods";
            "© Acme Foods Co., Ltd." => "acme foods co";
            "© Łódź Meble Sp. z o.o." => "lodz meble sp. z o.o";
        } {
            let holders = holders(line).unwrap_or_default().join("|");
            assert_eq!(holders, expected, "{line}");
        }
        for line in [
            "Fotos © Jane Doe",
            "Map data © OpenStreetMap contributors",
            "Acme Foods",
        ] {
            assert_eq!(holders(line), None, "{line}");
        }
    }

    #[test]
    fn others_are_those_whom_it_declares() {
        for (said, expected) in rows! {
            (Footer, "© 2026 Gamma Mart") => 1;
            (Footer, "© 2026 Acme Group") => 0;
            (Footer, "© 2026 Acme Logistics GmbH") => 1;
            (Footer, "© Acme Foods, a Gamma Group company") => 0;
            (Footer, "© acme.co.kr") => 0;
            (SiteName, "Gamma Mart") => 1;
            (SiteName, "Home") => 0;
            (SiteName, "Acme") => 0;
            (Organization, "Nudelwelt | Acme Foods GmbH") => 0;
            (Organization, "Gamma") => 1;
            (Title, "Gamma") => 0;
        } {
            let (texts, name) = (texts(&[said]), CompanyName::parse("Acme Foods"));
            let others = Declared::read(&texts, Some("acme".to_owned()), &name)
                .others()
                .len();
            assert_eq!(others, expected, "{said:?}");
        }
    }
}
