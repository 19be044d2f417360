//! Lists of every format, read from the fixtures.

mod jsonl;
mod refusals;

use super::*;
use crate::table::TextEncoding;
use crate::table::encoding::Delimiter;

type Rows = Vec<(u32, Vec<String>)>;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/workbooks")
        .join(name)
}

fn open(name: &str) -> List {
    List::open(&fixture(name), &ReadOptions::default()).unwrap()
}

fn rows(list: &mut List, names: &[&str]) -> Rows {
    let columns: Vec<ColumnIndex> = names
        .iter()
        .map(|name| list.column(name).unwrap())
        .collect();
    let mut rows = Vec::new();
    list.rows::<ReadError>(&columns, |row, cells| {
        rows.push((row, cells.to_vec()));
        Ok(())
    })
    .unwrap();
    rows
}

/// Rows with their numbers; bars separate the cells.
fn texts(rows: &[(u32, &str)]) -> Rows {
    let cells = |cells: &str| cells.split('|').map(str::to_owned).collect();
    rows.iter().map(|(row, text)| (*row, cells(text))).collect()
}

fn columns(headings: &[&str]) -> ListColumns {
    ListColumns {
        header: Some(Header {
            row: 1,
            cells: headings
                .iter()
                .map(|text| single_spaced(text).into_owned())
                .collect(),
        }),
        width: 4,
    }
}

#[test]
fn a_heading_wins_over_a_letter() {
    let lettered = columns(&["B", "회사명", "Web\n site"]);
    for (name, letter) in [
        ("B", "A"),
        ("b", "B"),
        ("D", "D"),
        (" 회사명 ", "B"),
        ("Web site", "C"),
    ] {
        assert_eq!(lettered.find(name).unwrap().to_string(), letter, "{name}");
    }
}

#[test]
fn a_wrong_column_is_answered_with_those_that_exist() {
    let wide = ListColumns {
        header: None,
        width: u32::MAX,
    };
    let described = wide.described();
    assert_eq!(described.len(), MAX_DESCRIBED + 1);
    assert_eq!(described[MAX_DESCRIBED], "16344 more");
    let listed = columns(&["Company", "", "Site", "Site"]);
    for (name, expected) in [
        (
            "E",
            "there is no column `E`; there are A `Company`, B, C `Site`, D `Site`",
        ),
        ("Comapny", "; did you mean `Company`?"),
        (
            "Site",
            "several columns are headed `Site`: C, D; name one by its letter",
        ),
    ] {
        let error = listed.find(name).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = listed.find("Fax").unwrap_err().to_string();
    assert!(!error.contains("did you mean"), "{error}");
}

fn visited(wanted: Option<&[ColumnIndex]>, cells: &[(u32, usize, &str)]) -> Rows {
    let mut rows = Vec::new();
    let mut visit = |row, cells: &[String]| {
        rows.push((row, cells.to_vec()));
        Ok(())
    };
    let mut sink = RowSink::new(wanted, &mut visit);
    for &(row, column, text) in cells {
        sink.at_row(row).unwrap();
        sink.put(column, text);
    }
    sink.finish().unwrap();
    drop(sink);
    rows
}

#[test]
fn a_sink_keeps_the_order_asked_for_and_no_cell_of_the_row_before() {
    let wanted = ["C", "A", "C"].map(|letter| letter.parse().unwrap());
    let cells = [
        (1, 0, "a"),
        (1, 2, "c"),
        (2, 1, "b"),
        (3, 0, " "),
        (9, 2, "z"),
    ];
    assert_eq!(
        visited(Some(&wanted), &cells),
        texts(&[(1, "c|a|c"), (2, "||"), (9, "z||z")])
    );
    let all = visited(None, &[(1, 3, "d"), (2, 0, "a"), (2, 99_999, "far")]);
    assert_eq!(all[0].1.len(), 4);
    assert_eq!(all[1], (2, vec!["a".to_owned()]));
}

fn encoding_of(list: &List) -> &'static str {
    match list.format() {
        SourceFormat::Csv { encoding, .. } => encoding.name(),
        other => panic!("{other:?} is not delimited text"),
    }
}

fn sheet(name: &str) -> ReadOptions {
    ReadOptions {
        sheet: Some(name.to_owned()),
        ..ReadOptions::default()
    }
}

#[test]
fn cells_read_as_the_sheet_shows_them() {
    let mut list = open("openpyxl.xlsx");
    // The first tab that is shown is Notes: one row of one text.
    assert_eq!(list.sheet(), Some("Notes"));
    assert_eq!(list.header(), None);
    assert_eq!(
        rows(&mut list, &["A"]),
        texts(&[(1, "Read the sheet 업체 목록")])
    );

    let mut list = List::open(&fixture("openpyxl.xlsx"), &sheet("업체 목록")).unwrap();
    assert_eq!(list.header().unwrap().row, 2, "a title stands above");
    assert_eq!(
        rows(
            &mut list,
            &["업체명", "홈페이지", "등록번호", "설립일", "비율", "숨김"]
        ),
        texts(&[
            (
                3,
                "한빛식품 주식회사|hanbit-foods.co.kr|123-45-67890|2024년 3월 5일|12.5%|1"
            ),
            (4, "㈜대한정밀||220-81-62517|2024년 3월 5일|50.0%|2"),
            (
                5,
                "한빛식품 주식회사|hanbit-foods.co.kr|123-45-67890|2024년 3월 5일|100.0%|3"
            ),
            (
                6,
                "青山精機株式会社|aoyama-seiki.co.jp|123456|05/03/2024 00:00|0.3|TRUE"
            ),
            (8, "Bluefin Freight Inc.||#N/A|||"),
            (9, "합계|||||"),
        ])
    );
}

#[test]
fn libreoffices_workbooks_show_texts_in_xlsx_and_values_in_the_others() {
    let shown = [
        (3, "한빛식품 주식회사|123-45-67890|2024년 3월 5일|12.5%"),
        (4, "㈜대한정밀|220-81-62517|2024년 3월 5일|50.0%"),
        (5, "한빛식품 주식회사|123-45-67890|2024년 3월 5일|100.0%"),
        (6, "青山精機株式会社|123456|05/03/2024 00:00|0.3"),
        (8, "Bluefin Freight Inc.|#N/A||1.925"),
    ];
    let values = [
        (3, "한빛식품 주식회사|1234567890|2024-03-05|0.125"),
        (4, "㈜대한정밀|2208162517|2024-03-05|0.5"),
        (5, "한빛식품 주식회사|1234567890|2024-03-05|1"),
        (6, "青山精機株式会社|123456|2024-03-05|0.3"),
        (8, "Bluefin Freight Inc.|#N/A||1.925"),
    ];
    for (name, expected) in [
        ("libreoffice.xlsx", shown),
        ("libreoffice.ods", values),
        ("libreoffice.xls", values),
    ] {
        let mut list = List::open(&fixture(name), &sheet("업체 목록")).unwrap();
        assert_eq!(list.header().unwrap().row, 2, "{name}");
        let rows = rows(&mut list, &["A", "등록번호", "설립일", "비율"]);
        assert_eq!(rows[..5], texts(&expected), "{name}");
    }
}

#[test]
fn xlsxwriters_workbooks_read() {
    for (name, format) in [
        ("xlsxwriter.xlsx", SourceFormat::Xlsx),
        ("macros.xlsm", SourceFormat::Xlsm),
    ] {
        let mut list = open(name);
        assert_eq!(list.format(), format);
        assert_eq!(list.header().unwrap().row, 4, "blank rows stand above");
        let rows = rows(
            &mut list,
            &[
                "Company", "Website", "Revenue", "Since", "Seen", "Hours", "Key",
            ],
        );
        assert_eq!(
            rows,
            texts(&[
                (
                    5,
                    "Northwind Tools GmbH|northwind-tools.de|1,234,567|2023-12-31|12/31/2023|36:00|Nor"
                ),
                (6, "Aoyama & Söhne <KG>||0|2024-01-01|1/1/2024|36:00|Aoy"),
                (
                    7,
                    "Bluefin Freight Inc.|bluefin-freight.com|-5|2024-02-29|2/29/2024|36:00|Blu"
                ),
                (8, "Lumière Textiles SARL||FALSE||||#DIV/0!"),
            ]),
            "{name}"
        );
    }
}

#[test]
fn texts_read_in_their_encodings() {
    for (name, encoding, delimiter) in [
        ("utf8-bom.csv", "UTF-8", Delimiter::Comma),
        ("utf16le.csv", "UTF-16LE", Delimiter::Tab),
        ("cp949.csv", "EUC-KR", Delimiter::Comma),
    ] {
        let mut list = open(name);
        let encoding = TextEncoding::named(encoding).unwrap();
        assert_eq!(
            list.format(),
            SourceFormat::Csv {
                delimiter,
                encoding
            },
            "{name}"
        );
        let found = rows(&mut list, &["회사명", "홈페이지", "C"]);
        let place = match delimiter {
            Delimiter::Tab => "서울\t 본사",
            _ => "서울, 본사",
        };
        let first = format!("한빛식품 주식회사|hanbit-foods.co.kr|{place}");
        let expected = texts(&[(2, &first), (3, "대한정밀공업||두\n줄")]);
        assert_eq!(found, expected, "{name}");
    }
    let named = ReadOptions {
        encoding: Some("sjis".to_owned()),
        ..ReadOptions::default()
    };
    assert!(List::open(&fixture("shift_jis.csv"), &named).is_ok());
    let mut list = open("shift_jis.csv");
    assert_eq!(encoding_of(&list), "Shift_JIS");
    assert_eq!(
        rows(&mut list, &["会社名", "B"])[0],
        texts(&[(2, "青山精機株式会社|aoyama-seiki.co.jp")])[0]
    );
}
