//! Texts that may tell whose a page is, each with its place. Gates decide what they say.

use std::collections::HashSet;

use super::text::head;
use super::{OwnerPlace, OwnerText};
use crate::base::text::normalise;

/// The longest text kept, in characters: a name comes early.
const MOST_CHARS: usize = 300;

/// The most texts of what a page declares, and of its lines.
const MOST_TEXTS: usize = 200;
const MOST_LINES: usize = 6000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Regions {
    pub(super) header: usize,
    pub(super) footer: usize,
    pub(super) heading: usize,
    /// In `<article>`, `<aside>` or a quotation.
    pub(super) article: usize,
    /// In `<nav>`, whose words name what they lead to.
    pub(super) menu: usize,
}

impl Regions {
    fn place(self) -> Option<OwnerPlace> {
        if self.menu > 0 && self.heading == 0 {
            None
        } else if self.article > 0 {
            Some(OwnerPlace::Article)
        } else if self.heading > 0 {
            Some(OwnerPlace::Heading)
        } else if self.footer > 0 {
            Some(OwnerPlace::Footer)
        } else if self.header > 0 {
            Some(OwnerPlace::Header)
        } else {
            Some(OwnerPlace::Body)
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Owner {
    texts: Vec<OwnerText>,
    declared: HashSet<OwnerText>,
    lines: usize,
}

impl Owner {
    /// Adds what the page declares.
    pub(super) fn add(&mut self, place: OwnerPlace, text: &str) {
        let text = OwnerText {
            place,
            text: cut(text),
        };
        let is_room = self.declared.len() < MOST_TEXTS && !text.text.is_empty();
        if is_room && self.declared.insert(text.clone()) {
            self.texts.push(text);
        }
    }

    /// Adds a visible line, which is normal already.
    pub(super) fn line(&mut self, line: &str, regions: Regions) {
        let text = head(line, MOST_CHARS).trim().to_owned();
        if let Some(place) = regions.place()
            && !text.is_empty()
            && self.lines < MOST_LINES
        {
            self.lines += 1;
            self.texts.push(OwnerText { place, text });
        }
    }

    /// Adds a line with the names that link to other sites, of which the line without them was added.
    pub(super) fn linked_line(&mut self, line: &str) {
        if self.lines < MOST_LINES {
            self.lines += 1;
            let (place, text) = (OwnerPlace::Linked, cut(line));
            self.texts.push(OwnerText { place, text });
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
    fn a_line_has_one_place_and_a_menu_none() {
        let at = |regions: Regions| {
            let mut owner = Owner::default();
            owner.line("Acme", regions);
            owner.into_texts().pop().map(|text| text.place)
        };
        let none = Regions::default();
        let header = Regions { header: 1, ..none };
        assert_eq!(at(none), Some(OwnerPlace::Body));
        assert_eq!(at(header), Some(OwnerPlace::Header));
        assert_eq!(at(Regions { menu: 1, ..header }), None);
        let heading = Regions {
            heading: 1,
            ..header
        };
        assert_eq!(at(heading), Some(OwnerPlace::Heading));
        let article = Regions {
            article: 1,
            ..heading
        };
        assert_eq!(at(article), Some(OwnerPlace::Article));
    }

    #[test]
    fn texts_are_bounded() {
        let mut owner = Owner::default();
        for i in 0..2 * MOST_LINES {
            owner.line(&format!("{i} {}", "가".repeat(5000)), Regions::default());
            owner.add(OwnerPlace::Logo, &i.to_string());
        }
        owner.add(OwnerPlace::Title, " T\u{200b} ");
        let texts = owner.into_texts();
        assert_eq!(texts.len(), MOST_LINES + MOST_TEXTS);
        let mut lengths = texts.iter().map(|text| text.text.chars().count());
        assert!(lengths.all(|length| length <= MOST_CHARS));
    }
}
