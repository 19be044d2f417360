//! Rows that are headings, and rows that only look so.

use super::*;
use crate::base::rows;

/// The rows of a list; bars separate the cells, and ` / ` the rows.
fn rows(list: &str) -> Vec<Header> {
    let cells = |row: &str| row.split('|').map(str::to_owned).collect();
    let rows = list.split(" / ").filter(|_| !list.is_empty());
    (1..)
        .zip(rows)
        .map(|(row, text)| Header {
            row,
            cells: cells(text),
        })
        .collect()
}

#[test]
fn the_heading_row_is_found_by_known_words_or_because_it_differs_in_kind() {
    for (list, expected) in rows! {
        "Company / Acme / Beta" => Some(1);
        "회사명 / Acme / Beta" => Some(1);
        "기업명(국문) / Acme / Beta" => Some(1);
        "会社名 / Acme / Beta" => Some(1);
        "Company Name / Acme / Beta" => Some(1);
        "E-mail / Acme / Beta" => Some(1);
        "ＣＯＭＰＡＮＹ / Acme / Beta" => Some(1);
        "Firma / Acme / Beta" => Some(1);
        "Company|2023|2024 / Acme|1|2" => Some(1);
        "Company| / Acme|a note" => Some(1);
        // Names alone head nothing.
        "Acme / Beta" => None;
        "Acme Company Ltd. / Beta" => None;
        "Acme|acme.com / Beta|beta.com" => None;
        "Company|company.com / Acme|acme.com" => None;
        "Acme|n/a / Beta|beta.com" => None;
        "Acme|Seoul / Beta|Busan" => None;
        "" => None;
        // A row that differs in kind from those below heads a list.
        "Who|Where / Acme|acme.com / Beta|" => Some(1);
        "Who|Since / Acme|1999-01-02 / Beta|2001" => Some(1);
        // Its nearest neighbours: a blank, a repeated text, a row below that is no figure.
        "|Where / Acme|acme.com" => None;
        "Who|Who / Acme|acme.com" => None;
        "Who|Where / Acme|acme.com / Beta|Busan" => None;
        "Who|Where" => None;
        // Titles of one cell may stand above.
        "Suppliers of 2024 / as of March / Company|Website / Acme|acme.com" => Some(3);
        "Suppliers|of 2024 / Company|Website / A|B" => None;
    } {
        let found = find_header(HeaderChoice::Auto, &rows(list));
        assert_eq!(found.map(|header| header.row), expected, "{list}");
    }
}

#[test]
fn the_header_choice_overrides_the_detection() {
    let list = rows("Company / Acme");
    assert_eq!(find_header(HeaderChoice::No, &list), None);
    let found = find_header(HeaderChoice::Yes, &rows(" Who\n is  / Acme")).unwrap();
    assert_eq!((found.row, found.cells), (1, vec!["Who is".to_owned()]));
    assert_eq!(find_header(HeaderChoice::Yes, &[]), None);
}

#[test]
fn heading_words_are_read_as_people_write_them_and_not_within_names() {
    let headings =
        "E-Mail|Company Name|WEBSITE URL|회사 명|업체명 / 상호|No.|会社名（英語）|(Company";
    for text in headings.split('|') {
        assert!(is_heading_word(text), "{text}");
    }
    for text in "|Acme Company|한빛회사|Brand New Tools|1".split('|') {
        assert!(!is_heading_word(text), "{text}");
    }
}
