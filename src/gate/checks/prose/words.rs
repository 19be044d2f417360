//! The words of a text, as they are compared.

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};

use crate::base::text::{fold, visible};
use crate::world::page::is_unspaced;

/// A word, or what parts words that belong to nothing in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate::checks) struct Word {
    /// The word as it is written.
    pub(in crate::gate::checks) text: String,
    /// It as it is compared.
    pub(in crate::gate::checks) folded: String,
    /// The line, from 1.
    pub(in crate::gate::checks) line: usize,
}

/// The words with letters, in their order. Of a script without spaces each character is one.
pub(in crate::gate::checks) fn words_of(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (line, said) in (1..).zip(text.lines()) {
        let mut word = String::new();
        for c in visible(said).chars() {
            let is_part = c.is_alphanumeric() || is_combining_mark(c);
            let is_alone = is_unspaced(c) && c.script() != Script::Hangul;
            if !is_part || is_alone {
                words.extend(made(std::mem::take(&mut word), line));
            }
            if is_alone && is_part {
                words.extend(made(c.to_string(), line));
            } else if is_part {
                word.push(c);
            }
        }
        words.extend(made(word, line));
    }
    words
}

fn made(text: String, line: usize) -> Option<Word> {
    text.chars().any(char::is_alphabetic).then(|| Word {
        folded: fold(&text),
        text,
        line,
    })
}

/// Whether a letter of the word is of one of these scripts.
pub(in crate::gate::checks) fn letters_of(word: &Word, scripts: &[Script]) -> bool {
    let mut letters = word.text.chars().filter(|c| c.is_alphabetic());
    letters.any(|c| scripts.contains(&c.script()))
}

/// Whether Latin letters stand in the word with Cyrillic or Greek ones that may be taken for them.
pub(in crate::gate::checks) fn is_mixed(word: &Word) -> bool {
    // Units are written with them, and they look like no other letter.
    let of_units = |c: &char| matches!(c, 'μ' | 'Ω' | 'Δ' | 'π');
    let letters = word
        .text
        .chars()
        .filter(|c| c.is_alphabetic() && !of_units(c));
    let scripts: Vec<_> = letters.map(|c| c.script()).collect();
    scripts.contains(&Script::Latin)
        && [Script::Cyrillic, Script::Greek]
            .iter()
            .any(|other| scripts.contains(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_by_what_is_between_them() {
        let words = |text: &str| -> Vec<String> {
            words_of(text).into_iter().map(|word| word.folded).collect()
        };
        assert_eq!(
            words("It's 5 o\u{200b}f\nＡ-b2"),
            ["it", "s", "of", "a", "b2"]
        );
        assert_eq!(words("서울은 大阪x"), ["서울은", "大", "阪", "x"]);
        assert_eq!(words_of("a\nb")[1].line, 2);
    }
}
