//! Texts as they are compared: without what a reader does not see.

use icu_casemap::CaseMapper;
use unicode_normalization::UnicodeNormalization as _;

use crate::world::page::normalise;

/// The text in compatibility forms (NFKC), without invisible characters, its white space folded.
#[must_use]
pub fn seen(text: &str) -> String {
    let visible = normalise(&text.nfkc().collect::<String>());
    // What stood apart by an invisible character alone may compose now.
    visible.nfkc().collect()
}

/// The same, whatever the case of its letters.
#[must_use]
pub fn folded(text: &str) -> String {
    let cased = CaseMapper::new().fold_string(&seen(text)).into_owned();
    cased.nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_makes_no_difference() {
        assert_eq!(seen(" ＡＢ\u{200b}C\n\t d "), "ABC d");
        assert_eq!(folded("STRASSE"), folded("straße"));
        assert_eq!(seen("e\u{200b}\u{301}"), seen("é"));
        assert_ne!(seen("Acme"), seen("acme"));
    }
}
