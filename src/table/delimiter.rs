//! Finding out what parts the cells of a delimited text.

use super::read_csv::csv_reader;
use super::source_format::Delimiter;

/// How many records are compared.
const RECORDS: usize = 100;

/// Tells the delimiter of the text that starts with `sample`; `whole` says whether that is all
/// of it.
///
/// It is the one by which most records have the same number of cells, more than one; of equals
/// the one that gives more cells, then the comma. A text of one column counts as comma-separated.
#[must_use]
pub fn sniff_delimiter(sample: &str, whole: bool) -> Delimiter {
    let mut best = (Delimiter::Comma, (0, 0));
    for delimiter in Delimiter::ALL {
        let score = score(sample, whole, delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

/// How many of a hundred records have the usual number of cells, and that number.
fn score(sample: &str, whole: bool, delimiter: Delimiter) -> (usize, usize) {
    let mut widths: Vec<usize> = csv_reader(sample.as_bytes(), delimiter)
        .into_records()
        .map_while(Result::ok)
        .take(RECORDS)
        .map(|record| record.len())
        .collect();
    // The last record of a part may be cut.
    if !whole && widths.len() > 1 && widths.len() < RECORDS {
        widths.pop();
    }
    let usual = widths
        .iter()
        .filter(|&&width| width > 1)
        .max_by_key(|&&width| {
            let same = widths.iter().filter(|&&other| other == width).count();
            (same, width)
        });
    usual.map_or((0, 0), |&width| {
        let same = widths.iter().filter(|&&other| other == width).count();
        (same * 100 / widths.len().max(1), width)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_delimiter_by_the_records() {
        for (sample, delimiter) in [
            ("a,b\nc,d\n", Delimiter::Comma),
            ("a;b\nc;d\n", Delimiter::Semicolon),
            ("a\tb\nc\td\n", Delimiter::Tab),
            (
                "Name;Note\nAcme;one, two\nBeta;three\n",
                Delimiter::Semicolon,
            ),
            (
                "Name,Note\n\"Acme; Co\",\"a;b\"\nBeta,c\n",
                Delimiter::Comma,
            ),
            ("Acme, Inc.\tacme.com\nBeta\tbeta.com\n", Delimiter::Tab),
            ("\"multi\nline\";x\nAcme;y\n", Delimiter::Semicolon),
            ("Acme\nBeta\n", Delimiter::Comma),
            ("", Delimiter::Comma),
        ] {
            assert_eq!(sniff_delimiter(sample, true), delimiter, "{sample:?}");
        }
    }
}
