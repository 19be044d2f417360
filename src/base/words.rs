//! Tables of words in several languages: data with its sources, compiled in from TOML.
//!
//! A table has an array for each language, named by its code (ISO 639-1, or `xx` for any). Each row
//! names its source, a text in which it fires, and a similar text in which it does not. [`check`]
//! tests both:
//!
//! ```toml
//! [[de]]
//! text = "impressum"
//! source = "DDG § 5"
//! fires = "Impressum"
//! silent = "Impression"
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Clone, Deserialize)]
pub struct Row<W = Text> {
    /// The row's content, in the form of its table.
    #[serde(flatten)]
    pub word: W,
    /// The law, standard, site or dictionary that it comes from.
    pub source: String,
    pub fires: String,
    pub silent: String,
}

/// The usual form of a row: one text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Text {
    pub text: String,
}

/// The rows of a table by language.
///
/// # Panics
///
/// If the table does not have this form. A unit test reads every table.
pub fn table<W: DeserializeOwned>(text: &str) -> BTreeMap<String, Vec<Row<W>>> {
    toml::from_str(text).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
}

/// All rows of a table, whatever their language.
pub fn rows<W: DeserializeOwned>(text: &str) -> Vec<Row<W>> {
    table(text).into_values().flatten().collect()
}

/// Fails unless each row names a source, fires in one text and not in the other.
#[cfg(test)]
pub(crate) fn check<W>(table: &str, fires: impl Fn(&W, &str) -> bool)
where
    W: DeserializeOwned + std::fmt::Debug,
{
    let rows = rows::<W>(table);
    assert!(!rows.is_empty(), "a table without rows");
    for row in rows {
        assert!(!row.source.trim().is_empty(), "{row:?} has no source");
        assert!(fires(&row.word, &row.fires), "{row:?} does not fire");
        assert!(!fires(&row.word, &row.silent), "{row:?} is not silent");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "[[de]]\ntext = 'a'\nsource = 's'\nfires = 'xa'\nsilent = 'x'\n";

    #[test]
    fn reads_a_row_with_its_language_source_and_texts() {
        let table = table::<Text>(TABLE);
        assert_eq!(table["de"][0].word.text, "a");
        check(TABLE, |word: &Text, text| text.contains(&word.text));
    }

    #[test]
    #[should_panic(expected = "is not silent")]
    fn rejects_a_row_that_fires_in_both_texts() {
        check(TABLE, |_: &Text, _| true);
    }

    #[test]
    #[should_panic(expected = "missing field")]
    fn rejects_a_row_without_a_source() {
        rows::<Text>("[[de]]\ntext = 'a'\nfires = 'a'\nsilent = ''\n");
    }
}
