//! Word lists that are compiled in from text files.

use std::sync::LazyLock;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

pub type WordList = LazyLock<IndexSet<&'static str, FxBuildHasher>>;

/// The entries of a list, one per line. Empty lines and lines that begin with `#` are skipped.
pub fn entries(text: &'static str) -> Vec<&'static str> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Declares statics that hold the entries of lists, read on first use: `NAME = "path of the list";`.
macro_rules! word_lists {
    ($($(#[$doc:meta])* $vis:vis $name:ident = $path:literal;)+) => {
        $($(#[$doc])* $vis static $name: $crate::base::word_list::WordList = std::sync::LazyLock::new(
            || $crate::base::word_list::entries(include_str!($path)).into_iter().collect(),
        );)+
    };
}
pub(crate) use word_lists;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_comments() {
        assert_eq!(entries("# a\nb c\n\n d\n"), ["b c", "d"]);
    }
}
