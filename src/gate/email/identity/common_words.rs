//! Words that many companies' names are made of, so that they name none.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::folded::Folded;
use crate::base::Digest;

const LIST: &str = include_str!("../lists/common_words.txt");

static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(|line| Folded::new(line).words().to_vec())
        .collect()
});

/// The digest of the list.
#[must_use]
pub fn digest() -> Digest {
    Digest::of(LIST.as_bytes())
}

/// Whether every word is common; true of no words at all.
#[must_use]
pub fn are_common(words: &[String]) -> bool {
    words.iter().all(|word| WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(name: &str) -> bool {
        are_common(Folded::new(name).words())
    }

    #[test]
    fn one_word_that_is_not_common_suffices() {
        assert!(common("GLOBAL Trading"));
        assert!(common("코리아"));
        assert!(!common("Global Acme Trading"));
        assert!(!common("Globalis"));
    }

    #[test]
    fn the_list_names_its_source() {
        assert!(LIST.starts_with("# ") && LIST.contains("Source:"));
    }
}
