//! Text folded for comparing names: without case, width, spacing and punctuation.

use icu_casemap::CaseMapper;
use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::legal_forms;
use crate::world::page::is_unspaced;

/// A name this long, in characters, of a script without spaces is found inside a word too.
const LONG_ENOUGH: usize = 4;

/// A text as its words, and the same without what parts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    words: Vec<String>,
    compact: String,
    /// Where in `compact` a word begins, or a script without spaces meets one with, ascending;
    /// the text's length at the end.
    edges: Vec<usize>,
}

impl Folded {
    /// Folds `text`: NFKC, full case folding, apostrophes and invisible characters dropped, `&`
    /// read as "and", and whatever is neither letter, digit nor mark parting words.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let normal: String = text.nfkc().collect();
        let folded = CaseMapper::new().fold_string(&normal).into_owned();
        let mut parted = String::with_capacity(folded.len());
        for c in folded.nfkc() {
            match c {
                '\'' | '’' | 'ʼ' | '`' => {}
                '&' => parted.push_str(" and "),
                _ if c.is_alphanumeric() || is_combining_mark(c) => parted.push(c),
                _ if CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c) => {}
                _ => parted.push(' '),
            }
        }
        Self::of_words(parted.split_whitespace().map(str::to_owned).collect())
    }

    /// The folded text that has these words.
    #[must_use]
    pub fn of_words(words: Vec<String>) -> Self {
        let mut edges = Vec::with_capacity(words.len() + 1);
        let mut compact = String::new();
        for word in &words {
            let mut before = None;
            for c in word.chars() {
                let unspaced = Some(is_unspaced(c));
                if before != unspaced {
                    edges.push(compact.len());
                }
                before = unspaced;
                compact.push(c);
            }
        }
        edges.push(compact.len());
        Self {
            words,
            compact,
            edges,
        }
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The words with nothing between them.
    #[must_use]
    pub fn compact(&self) -> &str {
        &self.compact
    }

    /// Whether `name` stands in the text.
    ///
    /// The text may join the words of the name, and part them anywhere in a script without
    /// spaces; of other words it must not part one (`The One` is no `Theone`). It must begin and end where a word does, where a script without spaces meets one with,
    /// or beside a legal form (`주식회사한빛`). Of a name of four characters or more in scripts
    /// without spaces it does not matter where in a word it stands: particles and titles lean
    /// on it.
    #[must_use]
    pub fn contains(&self, name: &Self) -> bool {
        let needle = name.compact.as_str();
        match needle.chars().next() {
            None => false,
            Some(first) if is_unspaced(first) => self
                .compact
                .match_indices(needle)
                .any(|(at, _)| self.begins_at(at, needle) && self.stands_at(at, name)),
            Some(_) => {
                let mut edges = self.edges.iter();
                edges.any(|at| self.compact[*at..].starts_with(needle) && self.stands_at(*at, name))
            }
        }
    }

    /// Whether the match at `at` ends as it must, and parts no word of the text.
    fn stands_at(&self, at: usize, name: &Self) -> bool {
        self.ends_at(at + name.compact.len(), &name.compact) && self.parts_no_word(at, name)
    }

    fn begins_at(&self, at: usize, needle: &str) -> bool {
        let before = &self.compact[..at];
        let leans = needle.chars().next().is_some_and(is_unspaced);
        self.is_edge(at)
            || leans && (is_long_enough(needle) || legal_forms::ends_with_joined(before))
    }

    fn ends_at(&self, at: usize, needle: &str) -> bool {
        let after = &self.compact[at..];
        let leans = needle.chars().next_back().is_some_and(is_unspaced);
        self.is_edge(at)
            || leans && (is_long_enough(needle) || legal_forms::starts_with_joined(after))
    }

    /// Whether every edge inside the match at `start` is one of `name` as well, or lies between
    /// characters of scripts without spaces.
    fn parts_no_word(&self, start: usize, name: &Self) -> bool {
        let end = start + name.compact.len();
        let first = self.edges.partition_point(|edge| *edge <= start);
        let inside = self.edges[first..].iter().take_while(|edge| **edge < end);
        inside.map(|edge| edge - start).all(|edge| {
            let leans = |c: Option<char>| c.is_some_and(is_unspaced);
            name.is_edge(edge)
                || leans(name.compact[..edge].chars().next_back())
                    && leans(name.compact[edge..].chars().next())
        })
    }

    fn is_edge(&self, at: usize) -> bool {
        self.edges.binary_search(&at).is_ok()
    }
}

fn is_long_enough(needle: &str) -> bool {
    needle.chars().filter(|c| is_unspaced(*c)).count() >= LONG_ENOUGH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, name: &str) -> bool {
        Folded::new(text).contains(&Folded::new(name))
    }

    #[test]
    fn case_width_spacing_and_punctuation_do_not_count() {
        assert!(holds("Welcome to ＡＣＭＥ-Foods!", "acme foods"));
        assert!(holds("AcmeFoods", "Acme Foods"));
        assert!(holds("Johnson & Johnson", "JOHNSON AND JOHNSON"));
        assert!(holds("Straße AG", "STRASSE"));
        assert!(holds("ONeill's", "O’Neills"));
        assert!(holds("한빛 식품", "한빛식품"));
        assert!(holds("한\u{200b}빛식품", "한빛 식품"));
        assert!(holds("ﾋﾀﾁ 製作所", "ヒタチ"));
    }

    #[test]
    fn a_word_with_spaces_stands_alone() {
        assert!(holds("About Acme.", "Acme"));
        assert!(holds("Acme는 좋은 회사", "Acme"));
        assert!(holds("an ana", "ana"));
        assert!(!holds("we are the one", "Theone"));
        assert!(!holds("data base", "Database"));
        for text in ["Acmerica", "MyAcme", "acme2", "2acme", "Dracme", "ac me"] {
            assert!(!holds(text, "Acme"), "{text}");
        }
    }

    #[test]
    fn a_long_name_without_spaces_is_found_inside_a_word() {
        assert!(holds("한빛식품은 식품을 만든다", "한빛식품"));
        assert!(holds("東京日本電機工業へ", "日本電機工業"));
    }

    #[test]
    fn a_short_one_is_not() {
        assert!(holds("(주)한빛 대표 김", "한빛"));
        assert!(holds("주식회사한빛", "한빛"));
        assert!(holds("한빛주식회사", "한빛"));
        assert!(holds("한빛 | HANBIT", "한빛"));
        for text in ["대한빛나라", "한빛나라", "큰한빛"] {
            assert!(!holds(text, "한빛"), "{text}");
        }
    }

    #[test]
    fn nothing_is_in_nothing() {
        assert!(!holds("", "acme"));
        assert!(!holds("acme", ""));
        assert!(!holds("---", "-"));
    }

    #[test]
    fn texts_made_to_be_slow_are_not() {
        let text = Folded::new(&"a".repeat(1 << 17));
        assert!(!text.contains(&Folded::new(&"a".repeat(199))));
        let text = Folded::new(&"a ".repeat(1 << 16));
        assert!(!text.contains(&Folded::new(&format!("{}b", "a ".repeat(99)))));
        let text = Folded::new(&"가".repeat(1 << 16));
        assert!(!text.contains(&Folded::new(&format!("{}a", "가".repeat(198)))));
        let text = Folded::new(&"가나".repeat(1 << 15));
        assert!(!text.contains(&Folded::new("가나")));
    }

    proptest::proptest! {
        #[test]
        fn every_text_folds_and_contains_its_words(text in ".{0,40}") {
            let folded = Folded::new(&text);
            for word in folded.words() {
                proptest::prop_assert!(folded.contains(&Folded::of_words(vec![word.clone()])));
            }
        }
    }
}
