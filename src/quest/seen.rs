//! What a person sees of a value: whether there is anything, and how much.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Braille without dots, which Unicode counts among the symbols.
const NO_DOTS: char = '\u{2800}';

/// Whether there is nothing to see in the text.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    seen_length(text) == 0
}

/// How many characters can be seen: a run of white space between others is one, and so is a
/// letter with all the marks on it.
#[must_use]
pub fn seen_length(text: &str) -> usize {
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let (mut length, mut gap) = (0, false);
    for c in text.nfc() {
        if is_space(c) {
            gap = length > 0;
        } else if !(c.is_control() || is_combining_mark(c) || ignorable.contains(c)) {
            length += 1 + usize::from(gap);
            gap = false;
        }
    }
    length
}

/// Whether the character parts others and shows nothing itself.
#[must_use]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || c == NO_DOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_blank() {
        for text in [
            "",
            " \n",
            "\u{200b}",
            "\u{3164}",
            "\u{2800}",
            "\u{ad}",
            "\u{301}\u{302}",
            "\u{1}",
        ] {
            assert!(is_blank(text), "{text:?}");
        }
        for text in ["0", "한", "é", "-", "न"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn the_unseen_adds_nothing_to_a_length() {
        for (text, length) in [
            ("한빛", 2),
            ("a\u{200b}\u{200b}b", 2),
            ("a\u{301}\u{302}\u{303}", 1),
            ("  a \u{2800} b\n", 3),
        ] {
            assert_eq!(seen_length(text), length, "{text:?}");
        }
    }
}
