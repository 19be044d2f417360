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

fn texts<const N: usize>(rows: &[(u32, [&str; N])]) -> Rows {
    rows.iter()
        .map(|(row, cells)| (*row, cells.map(str::to_owned).to_vec()))
        .collect()
}

fn sheet(name: &str) -> ReadOptions {
    ReadOptions {
        sheet: Some(name.to_owned()),
        ..ReadOptions::default()
    }
}

#[test]
fn the_demo_workbook_reads() {
    let mut list = open("companies.xlsx");
    assert_eq!(list.format(), SourceFormat::Xlsx);
    assert_eq!(list.sheet(), Some("Companies"));
    assert_eq!(list.header().unwrap().row, 1);
    let rows = rows(&mut list, &["Company", "C", "Phone"]);
    assert_eq!(rows.len(), 5);
    assert_eq!(
        rows[0],
        texts(&[(
            2,
            [
                "Hanbit Foods Co., Ltd.",
                "https://www.hanbit-foods.co.kr",
                "+82 2 555 0101"
            ]
        )])[0]
    );
    assert!(
        rows.iter()
            .all(|(_, cells)| cells.iter().all(|cell| !cell.is_empty()))
    );
}

#[test]
fn cells_read_as_the_sheet_shows_them() {
    let mut list = open("openpyxl.xlsx");
    // The first tab that is shown is Notes: one row of one text.
    assert_eq!(list.sheet(), Some("Notes"));
    assert_eq!(list.header(), None);
    assert_eq!(
        rows(&mut list, &["A"]),
        texts(&[(1, ["Read the sheet 업체 목록"])])
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
                [
                    "한빛식품 주식회사",
                    "hanbit-foods.co.kr",
                    "123-45-67890",
                    "2024년 3월 5일",
                    "12.5%",
                    "1"
                ]
            ),
            (
                4,
                [
                    "㈜대한정밀",
                    "",
                    "220-81-62517",
                    "2024년 3월 5일",
                    "50.0%",
                    "2"
                ]
            ),
            (
                5,
                [
                    "한빛식품 주식회사",
                    "hanbit-foods.co.kr",
                    "123-45-67890",
                    "2024년 3월 5일",
                    "100.0%",
                    "3"
                ]
            ),
            (
                6,
                [
                    "青山精機株式会社",
                    "aoyama-seiki.co.jp",
                    "123456",
                    "05/03/2024 00:00",
                    "0.3",
                    "TRUE"
                ]
            ),
            (8, ["Bluefin Freight Inc.", "", "#N/A", "", "", ""]),
            (9, ["합계", "", "", "", "", ""]),
        ])
    );
}

#[test]
fn libreoffices_workbooks_show_texts_in_xlsx_and_values_in_the_others() {
    let names = ["한빛식품 주식회사", "㈜대한정밀", "青山精機株式会社"];
    let shown = [
        (3, [names[0], "123-45-67890", "2024년 3월 5일", "12.5%"]),
        (4, [names[1], "220-81-62517", "2024년 3월 5일", "50.0%"]),
        (5, [names[0], "123-45-67890", "2024년 3월 5일", "100.0%"]),
        (6, [names[2], "123456", "05/03/2024 00:00", "0.3"]),
        (8, ["Bluefin Freight Inc.", "#N/A", "", "1.925"]),
    ];
    let values = [
        (3, [names[0], "1234567890", "2024-03-05", "0.125"]),
        (4, [names[1], "2208162517", "2024-03-05", "0.5"]),
        (5, [names[0], "1234567890", "2024-03-05", "1"]),
        (6, [names[2], "123456", "2024-03-05", "0.3"]),
        (8, ["Bluefin Freight Inc.", "#N/A", "", "1.925"]),
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
                    [
                        "Northwind Tools GmbH",
                        "northwind-tools.de",
                        "1,234,567",
                        "2023-12-31",
                        "12/31/2023",
                        "36:00",
                        "Nor"
                    ]
                ),
                (
                    6,
                    [
                        "Aoyama & Söhne <KG>",
                        "",
                        "0",
                        "2024-01-01",
                        "1/1/2024",
                        "36:00",
                        "Aoy"
                    ]
                ),
                (
                    7,
                    [
                        "Bluefin Freight Inc.",
                        "bluefin-freight.com",
                        "-5",
                        "2024-02-29",
                        "2/29/2024",
                        "36:00",
                        "Blu"
                    ]
                ),
                (
                    8,
                    ["Lumière Textiles SARL", "", "FALSE", "", "", "", "#DIV/0!"]
                ),
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
        let comma = if delimiter == Delimiter::Tab {
            '\t'
        } else {
            ','
        };
        let place = format!("서울{comma} 본사");
        assert_eq!(
            found,
            texts(&[
                (2, ["한빛식품 주식회사", "hanbit-foods.co.kr", &place]),
                (3, ["대한정밀공업", "", "두\n줄"]),
            ]),
            "{name}"
        );
    }
    let mut list = open("shift_jis.csv");
    assert_eq!(list.format().encoding().unwrap().name(), "Shift_JIS");
    assert_eq!(
        rows(&mut list, &["会社名", "B"])[0],
        texts(&[(2, ["青山精機株式会社", "aoyama-seiki.co.jp"])])[0]
    );
}

#[test]
fn lines_keep_their_numbers() {
    let mut list = open("lines.txt");
    assert_eq!(list.header(), None);
    assert_eq!(
        rows(&mut list, &["A"]),
        texts(&[(1, ["Acme Inc."]), (3, ["  한빛식품"]), (4, ["Beta GmbH"])])
    );
    let with_heading = ReadOptions {
        header: HeaderChoice::Yes,
        ..ReadOptions::default()
    };
    let mut list = List::open(&fixture("lines.txt"), &with_heading).unwrap();
    assert_eq!(rows(&mut list, &["Acme Inc."]).len(), 2);
}
