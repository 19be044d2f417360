//! A sheet for people to fill in: what it holds, before any format.

use std::collections::BTreeMap;

use url::Url;

use super::results::Cell;

/// A sheet for people to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The name on its tab.
    pub sheet: &'static str,
    /// Its columns, from the first on.
    pub columns: Vec<FormColumn>,
    /// Its rows below the headings, each with a cell for every column.
    pub rows: Vec<Vec<FormCell>>,
}

/// A column of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormColumn {
    /// What stands above it.
    pub heading: String,
    /// How wide it is, in digits of the usual font.
    pub width: u8,
    /// Who sees it, and what may stand in it.
    pub role: ColumnRole,
}

/// Who sees a column, and what may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// People read it, or write what they like.
    Free,
    /// People choose one of these words, or none.
    Choice(&'static [&'static str]),
    /// People need not see it.
    Hidden,
}

/// A cell of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormCell {
    /// Text or a number.
    Value(Cell),
    /// An address that a click opens.
    Link(Url),
}

impl FormCell {
    /// A cell with this text; with none, an empty cell.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Value(Cell::Text(text.into()))
    }

    /// A cell with this number.
    #[must_use]
    pub fn number(number: impl Into<u64>) -> Self {
        Self::Value(Cell::Number(number.into()))
    }
}

/// The longest address that Excel opens, and the most of them on a sheet.
const LONGEST_LINK: usize = 2_079;
const MOST_LINKS: usize = 65_530;

/// The addresses that a click opens, by row and column counted from 0: of the web alone, and no
/// more than a sheet may have. The others stand there as text.
pub(super) fn links(form: &Form) -> BTreeMap<(usize, usize), &Url> {
    let rows = form.rows.iter().enumerate();
    let cells = rows.flat_map(|(row, cells)| {
        let cells = cells.iter().enumerate();
        cells.map(move |(column, cell)| ((row, column), cell))
    });
    let links = cells.filter_map(|(place, cell)| match cell {
        FormCell::Link(url) if is_opened(url) => Some((place, url)),
        _ => None,
    });
    links.take(MOST_LINKS).collect()
}

fn is_opened(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.as_str().len() <= LONGEST_LINK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_opened() {
        let opened = |text: &str| is_opened(&Url::parse(text).unwrap());
        assert!(opened("https://acme.co.kr/a?b#c"));
        assert!(opened("HTTP://acme.co.kr"));
        for other in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b.kr",
            "ftp://a.kr",
        ] {
            assert!(!opened(other), "{other}");
        }
        assert!(!opened(&format!(
            "https://a.kr/{}",
            "a".repeat(LONGEST_LINK)
        )));
    }
}
