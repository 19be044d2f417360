//! The names that a text says, as far as capitals tell them.

use std::collections::BTreeSet;

use crate::base::text::{fold, visible};

/// The words that begin with a capital where no sentence does, each once, with its line; `folded`
/// is how it is compared.
///
/// A word that begins a sentence is none, unless it has capitals inside. Headings say nothing:
/// some languages write all of their words so.
pub(in crate::gate::checks) fn names_of(text: &str) -> Vec<Name> {
    let mut known = BTreeSet::new();
    let mut names = Vec::new();
    let mut begins = true;
    for (line, said) in (1..).zip(text.lines()) {
        let said = visible(said);
        if said.is_empty() || said.starts_with(['#', '-', '*', '>', '|']) {
            begins = true;
        }
        if said.starts_with('#') {
            continue;
        }
        for word in said.split(' ') {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = bare
                .strip_suffix("'s")
                .or(bare.strip_suffix("’s"))
                .unwrap_or(bare);
            if is_name(bare, begins) && known.insert(fold(bare)) {
                names.push(Name {
                    text: bare.to_owned(),
                    folded: fold(bare),
                    line,
                });
            }
            let ends = |c: char| matches!(c, '.' | '!' | '?' | ':' | '。' | '…');
            let tail = word.trim_end_matches(['"', '”', '»', ')', '*', '_']);
            if !bare.is_empty() || tail.ends_with(ends) {
                begins = tail.ends_with(ends);
            }
        }
    }
    names
}

/// A name of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::checks) struct Name {
    /// It as it is written.
    pub(in crate::gate::checks) text: String,
    /// It as it is compared.
    pub(in crate::gate::checks) folded: String,
    /// The line on which it first stands, from 1.
    pub(in crate::gate::checks) line: usize,
}

fn is_name(word: &str, begins: bool) -> bool {
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    let is_long = word.chars().nth(1).is_some();
    let is_capital = word.chars().next().is_some_and(char::is_uppercase);
    is_long
        && if begins {
            capitals > 1
        } else {
            is_capital || capitals > 0
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        names_of(text).into_iter().map(|name| name.text).collect()
    }

    #[test]
    fn capitals_tell_names_where_no_sentence_begins() {
        let text = "# All About It\n\nAda Lovelace wrote to Charles Babbage. She wrote of Babbage's \
            engine.\nThe\neBay page and NATO: Much (of \"Paris\") and I.\n- Item one of Rome";
        let expected = [
            "Lovelace", "Charles", "Babbage", "eBay", "NATO", "Paris", "Rome",
        ];
        assert_eq!(names(text), expected);
        assert_eq!(names("NASA did it."), ["NASA"]);
        assert_eq!(names(""), [""; 0]);
    }
}
