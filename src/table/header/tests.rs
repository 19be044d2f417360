//! Rows that are headings, and rows that only look so.

use super::*;

fn rows(rows: &[&[&str]]) -> Vec<FirstRow> {
    (1..)
        .zip(rows)
        .map(|(row, cells)| FirstRow {
            row,
            cells: cells.iter().map(|&cell| cell.to_owned()).collect(),
        })
        .collect()
}

fn auto(list: &[&[&str]]) -> Option<u32> {
    find_header(HeaderChoice::Auto, &rows(list)).map(|header| header.row)
}

#[test]
fn known_words_head_a_list() {
    for heading in [
        "Company",
        "회사명",
        "기업명(국문)",
        "会社名",
        "Company Name",
        "E-mail",
        "ＣＯＭＰＡＮＹ",
        "Firma",
    ] {
        assert_eq!(
            auto(&[&[heading], &["Acme"], &["Beta"]]),
            Some(1),
            "{heading}"
        );
    }
    assert_eq!(
        auto(&[&["Company", "2023", "2024"], &["Acme", "1", "2"]]),
        Some(1)
    );
    assert_eq!(auto(&[&["Company", ""], &["Acme", "a note"]]), Some(1));
}

#[test]
fn names_alone_head_nothing() {
    assert_eq!(auto(&[&["Acme"], &["Beta"]]), None);
    assert_eq!(auto(&[&["Acme Company Ltd."], &["Beta"]]), None);
    assert_eq!(auto(&[&["Acme", "acme.com"], &["Beta", "beta.com"]]), None);
    assert_eq!(
        auto(&[&["Company", "company.com"], &["Acme", "acme.com"]]),
        None
    );
    assert_eq!(auto(&[&["Acme", "n/a"], &["Beta", "beta.com"]]), None);
    assert_eq!(auto(&[&["Acme", "Seoul"], &["Beta", "Busan"]]), None);
    assert_eq!(auto(&[]), None);
}

#[test]
fn a_row_that_differs_in_kind_heads_a_list() {
    assert_eq!(
        auto(&[&["Who", "Where"], &["Acme", "acme.com"], &["Beta", ""]]),
        Some(1)
    );
    assert_eq!(
        auto(&[
            &["Who", "Since"],
            &["Acme", "1999-01-02"],
            &["Beta", "2001"]
        ]),
        Some(1)
    );
    // Its nearest neighbours: a blank, a repeated text, a row below that is no figure.
    assert_eq!(auto(&[&["", "Where"], &["Acme", "acme.com"]]), None);
    assert_eq!(auto(&[&["Who", "Who"], &["Acme", "acme.com"]]), None);
    assert_eq!(
        auto(&[&["Who", "Where"], &["Acme", "acme.com"], &["Beta", "Busan"]]),
        None
    );
    assert_eq!(auto(&[&["Who", "Where"]]), None);
}

#[test]
fn titles_may_stand_above() {
    let titled: &[&[&str]] = &[
        &["Suppliers of 2024"],
        &["as of March"],
        &["Company", "Website"],
        &["Acme", "acme.com"],
    ];
    assert_eq!(auto(titled), Some(3));
    let row_of_two: &[&[&str]] = &[
        &["Suppliers", "of 2024"],
        &["Company", "Website"],
        &["A", "B"],
    ];
    assert_eq!(auto(row_of_two), None);
}

#[test]
fn the_operator_has_the_last_word() {
    let list = rows(&[&["Company"], &["Acme"]]);
    assert_eq!(find_header(HeaderChoice::No, &list), None);
    let bare = rows(&[&[" Who\n is "], &["Acme"]]);
    assert_eq!(
        find_header(HeaderChoice::Yes, &bare),
        Some(Header {
            row: 1,
            cells: vec!["Who is".to_owned()]
        })
    );
    assert_eq!(find_header(HeaderChoice::Yes, &[]), None);
}

#[test]
fn reads_headings_as_people_write_them() {
    for text in [
        "E-Mail",
        "Company Name",
        "WEBSITE URL",
        "회사 명",
        "업체명 / 상호",
        "No.",
        "会社名（英語）",
    ] {
        assert!(is_heading_word(text), "{text}");
    }
}

#[test]
fn a_name_that_holds_a_word_is_none() {
    for text in [
        "",
        "Acme Company",
        "한빛회사",
        "Brand New Tools",
        "(Company",
        "1",
    ] {
        assert_eq!(is_heading_word(text), text == "(Company", "{text}");
    }
}
