//! Texts that may tell whose a page is, each with its place. Gates decide what they say.

use std::collections::HashSet;

use super::text::head;
use super::{OwnerPlace, OwnerText};
use crate::base::text::normalise;

/// The longest text kept, in characters: a name comes early.
const MOST_CHARS: usize = 300;

/// The most texts of what a page declares.
const MOST_TEXTS: usize = 200;

/// The most characters of all lines of a page, of which each counts at least for some.
const MOST_IN_LINES: usize = 200_000;
const LEAST_OF_LINE: usize = 32;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Regions {
    pub(super) header: usize,
    pub(super) footer: usize,
    pub(super) heading: usize,
    /// In a heading of any level; only the first has a place of its own.
    pub(super) is_heading: bool,
    /// In `<article>`, `<aside>` or a quotation.
    pub(super) article: usize,
    /// In `<nav>`, whose words name what they lead to.
    pub(super) menu: usize,
}

impl Regions {
    fn place(self) -> OwnerPlace {
        if self.menu > 0 && self.heading == 0 {
            OwnerPlace::Menu
        } else if self.article > 0 {
            OwnerPlace::Article
        } else if self.heading > 0 {
            OwnerPlace::Heading
        } else if self.footer > 0 {
            OwnerPlace::Footer
        } else if self.header > 0 {
            OwnerPlace::Header
        } else {
            OwnerPlace::Body
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Owner {
    texts: Vec<OwnerText>,
    declared: HashSet<(OwnerPlace, String)>,
    chars_of_lines: usize,
}

impl Owner {
    /// Adds what the page declares.
    pub(super) fn add(&mut self, place: OwnerPlace, text: &str) {
        let text = OwnerText::new(place, cut(text));
        let is_room = self.declared.len() < MOST_TEXTS && !text.text.is_empty();
        if is_room && self.declared.insert((place, text.text.clone())) {
            self.texts.push(text);
        }
    }

    /// Adds a visible line, which is normal already.
    pub(super) fn line(&mut self, line: &str, regions: Regions) {
        let text = head(line, MOST_CHARS).trim().to_owned();
        if !text.is_empty() {
            let place = regions.place();
            let mut text = OwnerText::new(place, text);
            text.is_heading |= regions.is_heading;
            self.add_line(text);
        }
    }

    /// Adds a line with the names that link to other sites, of which the line without them was added.
    pub(super) fn linked_line(&mut self, line: &str) {
        self.add_line(OwnerText::new(OwnerPlace::Linked, cut(line)));
    }

    fn add_line(&mut self, line: OwnerText) {
        self.chars_of_lines += line.text.chars().count().max(LEAST_OF_LINE);
        if self.chars_of_lines <= MOST_IN_LINES {
            self.texts.push(line);
        }
    }

    pub(super) fn into_texts(self) -> Vec<OwnerText> {
        self.texts
    }
}

fn cut(text: &str) -> String {
    let text = normalise(head(text, 4 * MOST_CHARS));
    head(&text, MOST_CHARS).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_place() {
        let at = |regions: Regions| {
            let mut owner = Owner::default();
            owner.line("Acme", regions);
            owner.into_texts().pop().unwrap().place
        };
        let none = Regions::default();
        let header = Regions { header: 1, ..none };
        assert_eq!(at(none), OwnerPlace::Body);
        assert_eq!(at(header), OwnerPlace::Header);
        assert_eq!(at(Regions { menu: 1, ..header }), OwnerPlace::Menu);
        let heading = Regions {
            heading: 1,
            ..header
        };
        assert_eq!(at(heading), OwnerPlace::Heading);
        let article = Regions {
            article: 1,
            ..heading
        };
        assert_eq!(at(article), OwnerPlace::Article);
        let mut owner = Owner::default();
        owner.line("Acme", article);
        let is_heading = true;
        owner.line("Acme", Regions { is_heading, ..none });
        let headings = owner.into_texts().into_iter().map(|text| text.is_heading);
        assert_eq!(headings.collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn texts_are_bounded() {
        let mut owner = Owner::default();
        let long = MOST_IN_LINES / MOST_CHARS / 2;
        let short = MOST_IN_LINES / LEAST_OF_LINE / 2;
        for _ in 0..long {
            owner.line(&"가".repeat(5000), Regions::default());
        }
        for i in 0..2 * short {
            owner.line("가", Regions::default());
            owner.add(OwnerPlace::Logo, &i.to_string());
        }
        owner.add(OwnerPlace::Title, " T\u{200b} ");
        let texts = owner.into_texts();
        let lines = texts.len() - MOST_TEXTS;
        assert!(
            (long + short..=long + short + MOST_CHARS).contains(&lines),
            "{lines}"
        );
        let mut lengths = texts.iter().map(|text| text.text.chars().count());
        assert!(lengths.all(|length| length <= MOST_CHARS));
    }
}
