//! Tables of words in several languages: data with its sources, compiled in from TOML.
//!
//! A table has an array for each language, named by its code (ISO 639-1, `xx` for any). Each row
//! names its source, and a text in which it fires and a similar one in which it does not, which
//! [`check`] tries:
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
    /// What the row says, in the table's own form.
    #[serde(flatten)]
    pub word: W,
    /// The law, standard, site or dictionary that it is taken from.
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
/// If the table is not of its form; a unit test reads each of them.
pub fn table<W: DeserializeOwned>(text: &str) -> BTreeMap<String, Vec<Row<W>>> {
    toml::from_str(text).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
}

/// All rows of a table, whatever their language.
pub fn rows<W: DeserializeOwned>(text: &str) -> Vec<Row<W>> {
    table(text).into_values().flatten().collect()
}

/// Fails unless each row fires in its one text and not in its other, and names a source.
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
    fn rows_have_a_language_a_source_and_two_texts() {
        let table = table::<Text>(TABLE);
        assert_eq!(table["de"][0].word.text, "a");
        check(TABLE, |word: &Text, text| text.contains(&word.text));
    }

    #[test]
    #[should_panic(expected = "is not silent")]
    fn a_row_that_fires_in_both_texts_is_refused() {
        check(TABLE, |_: &Text, _| true);
    }

    #[test]
    #[should_panic(expected = "missing field")]
    fn a_row_without_a_source_is_refused() {
        rows::<Text>("[[de]]\ntext = 'a'\nfires = 'a'\nsilent = ''\n");
    }
}
