//! The tables of words by which a site says whose it is, and the lines in which they are looked for.

use std::hash::Hash;
use std::ops::Range;
use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use crate::base::line::Line;
use crate::base::words;
use crate::gate::email::lists;
use crate::world::page::is_unspaced;

/// How surely a page names who runs the site, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct Rank(u8);

impl Rank {
    /// Whether the law asks for the page.
    pub fn is_of_law(self) -> bool {
        self.0 == 1
    }

    /// Whether the law asks for the page, or the company describes itself there: the firm that it
    /// begins with is the operator.
    pub fn names_operator(self) -> bool {
        self.0 <= 2
    }

    pub fn is_contact(self) -> bool {
        const CONTACT: u8 = 5;
        self.0 == CONTACT
    }

    /// A number that sorts contact pages first, and the others as they are.
    pub fn order_of_contact(self) -> u8 {
        if self.is_contact() { 0 } else { self.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    Owner,
    /// The operator's, who may be a person.
    Person,
    /// The operator's, by what that firm is to the site.
    Site,
    /// The same, who may be a person.
    Publisher,
    Stop,
    Registration,
    Credit,
    /// It heads a block about somebody else.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phrase {
    Operator,
    /// It says of the site itself who operates it.
    Site,
    /// It begins such a sentence, which goes on with the operator's name and `run`.
    Subject,
    Run,
    Alias,
    Credit,
    Reserved,
    Disclaimer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameWord {
    Trim,
    Nobody,
    Small,
    Thing,
    Dealer,
    Group,
    Article,
    Another,
    /// It may be written to a name.
    Particle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotInUse {
    Sale,
    Gambling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Before,
    After,
    Either,
}

/// A row's text, and its kind under the table's own name for that.
#[derive(Debug, Clone, Deserialize)]
pub struct Kinded<K> {
    pub text: String,
    #[serde(alias = "rank", alias = "side")]
    pub kind: K,
}

pub static NOTICES: LazyLock<Table<Rank>> = LazyLock::new(|| Table::read(lists::LEGAL_NOTICES));
pub static LABELS: LazyLock<Table<Label>> = LazyLock::new(|| Table::read(lists::OWNER_LABELS));
pub static PHRASES: LazyLock<Table<Phrase>> = LazyLock::new(|| Table::read(lists::OWNER_PHRASES));
pub static NAME_WORDS: LazyLock<Table<NameWord>> = LazyLock::new(|| Table::read(lists::NAME_WORDS));
pub static UNUSED: LazyLock<Table<NotInUse>> = LazyLock::new(|| Table::read(lists::NOT_IN_USE));

/// Rows by their first word, the longest first.
#[derive(Debug)]
pub struct Table<K> {
    rows: FxHashMap<String, Vec<(Vec<String>, K)>>,
    /// Rows in scripts without spaces, which a longer word may hold.
    joined: Vec<(String, K)>,
    any_joined: Regex,
}

impl<K: Copy + Eq + Hash + DeserializeOwned> Table<K> {
    fn read(text: &str) -> Self {
        let mut rows: FxHashMap<String, Vec<(Vec<String>, K)>> = FxHashMap::default();
        let mut joined = Vec::new();
        for row in words::rows::<Kinded<K>>(text) {
            let Kinded { text, kind } = row.word;
            let line = Line::new(&text);
            let words: Vec<String> = (0..line.words.len())
                .map(|at| line.word(at).to_owned())
                .collect();
            if let Some(first) = words.first() {
                rows.entry(first.clone()).or_default().push((words, kind));
            }
            if line.text.chars().nth(1).is_some() && line.text.chars().any(is_unspaced) {
                joined.push((line.text, kind));
            }
        }
        for rows in rows.values_mut() {
            rows.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        let any_joined = joined.iter().map(|(text, _)| regex::escape(text)).join("|");
        Self {
            rows,
            joined,
            any_joined: Regex::new(&any_joined).expect("the rows are escaped"),
        }
    }

    /// The longest row that begins at a word: the number of its words, and its kind.
    pub fn at(&self, line: &Line, at: usize) -> Option<(usize, K)> {
        let mut rows = self.all_at(line, at);
        rows.next()
    }

    fn all_at<'t>(&'t self, line: &'t Line, at: usize) -> impl Iterator<Item = (usize, K)> + 't {
        let rows = self.rows.get(line.word(at)).into_iter().flatten();
        let rows = rows.filter(move |(words, _)| line.has_at(at, words));
        rows.map(|(words, kind)| (words.len(), *kind))
    }

    /// The number of words of the longest row of a kind that begins at a word.
    pub fn length(&self, line: &Line, at: usize, kind: K) -> Option<usize> {
        let mut rows = self.all_at(line, at);
        rows.find_map(|(length, other)| (other == kind).then_some(length))
    }

    pub fn is(&self, word: &str, kind: K) -> bool {
        let line = Line::new(word);
        self.length(&line, 0, kind) == Some(line.words.len())
    }

    /// The rows of a kind in scripts without spaces, which a longer word may hold.
    pub fn joined(&self, kind: K) -> impl Iterator<Item = &str> {
        let rows = self.joined.iter().filter(move |(_, other)| *other == kind);
        rows.map(|(text, _)| text.as_str())
    }

    fn may_hold_joined(&self, line: &Line) -> bool {
        !line.text.is_ascii() && self.any_joined.is_match(&line.text)
    }

    /// The kinds of the rows in scripts without spaces that a word of the line holds.
    pub fn inside<'t>(&'t self, line: &'t Line) -> impl Iterator<Item = K> + 't {
        const MIN_CHARS: usize = 3;
        let may_hold = self.may_hold_joined(line);
        let rows = self.joined.iter().filter(move |(text, _)| {
            may_hold
                && text.chars().nth(MIN_CHARS - 1).is_some()
                && line.text.contains(text.as_str())
        });
        rows.map(|(_, kind)| *kind)
    }

    /// The first place of a row of that kind, in the bytes of the line.
    pub fn find(&self, line: &Line, kind: K) -> Option<Range<usize>> {
        let mut starts = 0..line.words.len();
        let whole = starts.find_map(|at| {
            let length = self.length(line, at, kind)?;
            Some(line.words[at].start..line.words[at + length - 1].end)
        });
        let inside = || {
            let mut found = self.joined(kind).filter_map(|text| {
                let at = line.text.find(text)?;
                Some(at..at + text.len())
            });
            found.next()
        };
        whole.or_else(|| self.may_hold_joined(line).then(inside)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;

    #[test]
    fn notices_are_told_by_the_text_of_links() {
        check(lists::LEGAL_NOTICES, |row: &Kinded<Rank>, text| {
            let line = Line::new(text);
            NOTICES.length(&line, 0, row.kind) == Some(line.words.len())
        });
    }

    #[test]
    fn labels_stand_before_values() {
        check(lists::OWNER_LABELS, |row: &Kinded<Label>, text| {
            let line = Line::new(text);
            let Some((before, _)) = line.text.split_once(':') else {
                return false;
            };
            LABELS.at(&line, 0).is_some_and(|(length, kind)| {
                kind == row.kind && Line::new(before).words.len() == length
            })
        });
    }

    #[test]
    fn phrases_are_found_in_sentences() {
        check(lists::OWNER_PHRASES, |row: &Kinded<Phrase>, text| {
            PHRASES.find(&Line::new(text), row.kind).is_some()
        });
    }

    #[test]
    fn words_around_names_are_known() {
        check(lists::NAME_WORDS, |row: &Kinded<NameWord>, text| {
            NAME_WORDS.is(text, row.kind)
        });
    }

    #[test]
    fn sites_out_of_use_are_told_by_phrases() {
        check(lists::NOT_IN_USE, |row: &Kinded<NotInUse>, text| {
            UNUSED.find(&Line::new(text), row.kind).is_some()
        });
    }

    #[test]
    fn every_table_speaks_eleven_languages() {
        for table in [
            lists::LEGAL_NOTICES,
            lists::OWNER_LABELS,
            lists::OWNER_PHRASES,
            lists::NAME_WORDS,
            lists::NOT_IN_USE,
            lists::LEGAL_FORMS,
        ] {
            let table = words::table::<toml::Table>(table);
            for language in "de en fr es pt it nl pl ja ko zh".split(' ') {
                assert!(table.contains_key(language), "{language}");
            }
        }
    }
}
