use std::fs;
use std::io::Write as _;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::table::{Delimiter, TextEncoding};

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

fn written(dir: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn refusal(path: &Path, options: &ReadOptions) -> ReadError {
    match List::open(path, options) {
        Err(error) => error,
        Ok(list) => panic!("{} was opened as {}", path.display(), list.format()),
    }
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
fn libreoffices_workbooks_read_alike() {
    for name in ["libreoffice.xlsx", "libreoffice.ods"] {
        let mut list = List::open(&fixture(name), &sheet("업체 목록")).unwrap();
        assert_eq!(list.header().unwrap().row, 2, "{name}");
        let rows = rows(&mut list, &["A", "등록번호", "설립일", "비율", "숨김"]);
        assert_eq!(
            rows[..5],
            texts(&[
                (
                    3,
                    [
                        "한빛식품 주식회사",
                        "123-45-67890",
                        "2024년 3월 5일",
                        "12.5%",
                        "1"
                    ]
                ),
                (
                    4,
                    ["㈜대한정밀", "220-81-62517", "2024년 3월 5일", "50.0%", "2"]
                ),
                (
                    5,
                    [
                        "한빛식품 주식회사",
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
                        "123456",
                        "05/03/2024 00:00",
                        "0.3",
                        "TRUE"
                    ]
                ),
                (8, ["Bluefin Freight Inc.", "#N/A", "", "1.925", ""]),
            ]),
            "{name}"
        );
    }
}

#[test]
fn binary_workbooks_read_their_values() {
    let mut list = List::open(&fixture("libreoffice.xls"), &sheet("업체 목록")).unwrap();
    assert_eq!(list.format(), SourceFormat::Xls);
    assert_eq!(list.header().unwrap().row, 2);
    let rows = rows(&mut list, &["업체명", "등록번호", "설립일", "비율", "숨김"]);
    assert_eq!(
        rows[..4],
        texts(&[
            (
                3,
                [
                    "한빛식품 주식회사",
                    "1234567890",
                    "2024-03-05",
                    "0.125",
                    "1"
                ]
            ),
            (4, ["㈜대한정밀", "2208162517", "2024-03-05", "0.5", "2"]),
            (
                5,
                ["한빛식품 주식회사", "1234567890", "2024-03-05", "1", "3"]
            ),
            (
                6,
                ["青山精機株式会社", "123456", "2024-03-05", "0.3", "TRUE"]
            ),
        ])
    );
    assert_eq!(rows[4].1[..2], ["Bluefin Freight Inc.", "#N/A"]);
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
        let place = if delimiter == Delimiter::Tab {
            "\"서울\t 본사\""
        } else {
            "서울, 본사"
        };
        if delimiter == Delimiter::Comma {
            assert_eq!(
                found,
                texts(&[
                    (2, ["한빛식품 주식회사", "hanbit-foods.co.kr", place]),
                    (3, ["대한정밀공업", "", "두\n줄"]),
                ]),
                "{name}"
            );
        }
        assert_eq!(found.len(), 2, "{name}");
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

#[test]
fn a_named_encoding_is_held_to() {
    let options = |name: &str| ReadOptions {
        encoding: Some(name.to_owned()),
        ..ReadOptions::default()
    };
    assert!(List::open(&fixture("cp949.csv"), &options("CP949")).is_ok());
    let dir = TempDir::new().unwrap();
    let mut bytes = b"Company\nAcme\n".to_vec();
    bytes.extend(b"\xc7\xd1\xba\xfb\nBeta\n");
    let path = written(&dir, "a.csv", &bytes);
    let error = refusal(&path, &options("utf-8")).to_string();
    assert!(error.contains("line 3 is not text in UTF-8"), "{error}");
    assert!(matches!(
        refusal(&path, &options("utf-9")),
        ReadError::UnknownEncoding { .. }
    ));
    assert!(matches!(
        refusal(&fixture("companies.xlsx"), &options("utf-8")),
        ReadError::EncodingOfWorkbook { .. }
    ));
}

#[test]
fn undecodable_bytes_far_below_are_not_passed_over() {
    let dir = TempDir::new().unwrap();
    let mut bytes = b"Acme,acme.com\n".repeat(20_000);
    bytes.extend(b"\xff\xfe\xfd\n");
    let path = written(&dir, "a.csv", &bytes);
    let options = ReadOptions {
        encoding: Some("utf-8".to_owned()),
        ..ReadOptions::default()
    };
    let mut list = List::open(&path, &options).unwrap();
    let read = list.rows(&[ColumnIndex::FIRST], |_, _| Ok::<_, ReadError>(()));
    assert!(matches!(
        read,
        Err(ReadError::Undecodable { line: 20_001, .. })
    ));
}

#[test]
fn says_what_is_there_instead() {
    let error = refusal(&fixture("openpyxl.xlsx"), &sheet("Companies")).to_string();
    assert!(
        error.contains("`Notes`, `업체 목록`, `옛 목록`, `빈 시트`"),
        "{error}"
    );
    let error = refusal(&fixture("libreoffice.ods"), &sheet("Companies")).to_string();
    assert!(error.contains("`업체 목록`"), "{error}");
    let error = refusal(&fixture("openpyxl.xlsx"), &sheet("빈 시트")).to_string();
    assert!(error.contains("has no rows"), "{error}");
    assert!(matches!(
        refusal(&fixture("lines.txt"), &sheet("A")),
        ReadError::NoSheets { .. }
    ));
    let error = open("companies.xlsx")
        .column("Fax")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("A `Company`, B `Country`, C `Website`, D `Phone`"),
        "{error}"
    );
    assert!(open("companies.xlsx").column("E").is_err());
}

#[test]
fn refuses_what_is_no_list() {
    let dir = TempDir::new().unwrap();
    let none = ReadOptions::default();
    let kind = |name: &str, bytes: &[u8]| refusal(&written(&dir, name, bytes), &none);
    assert!(matches!(
        refusal(&dir.path().join("a"), &none),
        ReadError::Missing { .. }
    ));
    assert!(matches!(
        refusal(dir.path(), &none),
        ReadError::Directory { .. }
    ));
    for name in ["encrypted.xlsx", "encrypted.ods"] {
        assert!(
            matches!(refusal(&fixture(name), &none), ReadError::Encrypted { .. }),
            "{name}"
        );
    }
    assert!(matches!(
        kind("a.xlsx", b"<html>"),
        ReadError::NotAWorkbook { .. }
    ));
    assert!(matches!(kind("a.xls", b""), ReadError::NotAWorkbook { .. }));
    assert!(matches!(kind("a.csv", b""), ReadError::Empty { .. }));
    assert!(matches!(
        kind("b.csv", b"Company,Site\n"),
        ReadError::Empty { .. }
    ));
    assert!(matches!(kind("a.txt", b"\n \n"), ReadError::Empty { .. }));
    assert!(matches!(
        kind("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\r"),
        ReadError::NotText { .. }
    ));
    assert!(matches!(
        kind("c.xlsx", b"PK\x03\x04rest"),
        ReadError::Damaged { .. }
    ));
    let error = kind(
        "d.csv",
        &[b"Company\n\"Acme\n".as_slice(), &b"Beta\n".repeat(300_000)].concat(),
    );
    assert!(matches!(error, ReadError::CellTooLong { row: 2, .. }));
}

#[test]
fn damaged_workbooks_are_errors_not_panics() {
    let dir = TempDir::new().unwrap();
    for name in [
        "companies.xlsx",
        "libreoffice.ods",
        "libreoffice.xls",
        "encrypted.xlsx",
    ] {
        let whole = fs::read(fixture(name)).unwrap();
        for part in 1..24 {
            let mut bytes = whole.clone();
            let at = bytes.len() * part / 24;
            bytes[at..]
                .iter_mut()
                .step_by(7)
                .for_each(|byte| *byte ^= 0x55);
            let path = written(&dir, name, &bytes);
            let read = List::open(&path, &ReadOptions::default()).and_then(|mut list| {
                list.rows(&[ColumnIndex::FIRST], |_, _| Ok::<_, ReadError>(()))
            });
            if let Err(error) = read {
                assert!(error.to_string().contains(name), "{error}");
            }
            bytes = whole[..at].to_vec();
            written(&dir, name, &bytes);
            assert!(
                List::open(&path, &ReadOptions::default()).is_err(),
                "{name} cut at {at}"
            );
        }
    }
}

fn packed(dir: &TempDir, name: &str, parts: &[(&str, &str)]) -> PathBuf {
    let mut archive = ZipWriter::new(fs::File::create(dir.path().join(name)).unwrap());
    for (part, text) in parts {
        archive
            .start_file(*part, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    dir.path().join(name)
}

const CONTENT_TYPES: (&str, &str) = ("[Content_Types].xml", "<Types/>");
const RELS: (&str, &str) = (
    "_rels/.rels",
    r#"<Relationships><Relationship Id="1" Type="x/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
);
const WORKBOOK: (&str, &str) = (
    "xl/workbook.xml",
    r#"<workbook><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#,
);
const WORKBOOK_RELS: (&str, &str) = (
    "xl/_rels/workbook.xml.rels",
    r#"<Relationships><Relationship Id="r1" Type="x/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#,
);

#[test]
fn absurd_claims_of_a_workbook_take_no_memory() {
    let dir = TempDir::new().unwrap();
    let none = ReadOptions::default();
    let far = r#"<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576" t="str"><v>far</v></c></row></sheetData></worksheet>"#;
    let parts = [
        CONTENT_TYPES,
        RELS,
        WORKBOOK,
        WORKBOOK_RELS,
        ("xl/worksheets/sheet1.xml", far),
    ];
    let mut list = List::open(&packed(&dir, "far.xlsx", &parts), &none).unwrap();
    assert_eq!(
        rows(&mut list, &["XFD", "A"]),
        texts(&[(1_048_576, ["far", ""])])
    );

    let strings = (
        "xl/sharedStrings.xml",
        r#"<sst uniqueCount="99999999999999"></sst>"#,
    );
    let parts = [CONTENT_TYPES, RELS, WORKBOOK, WORKBOOK_RELS, strings];
    let error = refusal(&packed(&dir, "many.xlsx", &parts), &none).to_string();
    assert!(error.contains("more shared strings"), "{error}");

    let repeated = r#"<office:document-content><table:table table:name="S"><table:table-row table:number-rows-repeated="4000000000"><table:table-cell table:number-columns-repeated="4000000000"/></table:table-row><table:table-row table:number-rows-repeated="4000000000"><table:table-cell><text:p>A</text:p></table:table-cell></table:table-row></table:table></office:document-content>"#;
    let parts = [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", repeated),
    ];
    let error = refusal(&packed(&dir, "repeated.ods", &parts), &none);
    assert!(matches!(error, ReadError::TooManyRows { .. }));
}

#[test]
fn unknown_error_values_do_not_end_the_reading() {
    let dir = TempDir::new().unwrap();
    let cells = r##"<worksheet><sheetData><row r="1"><c r="A1" t="e"><v>#ERROR!</v></c><c r="B1" t="str"><v>Acme</v></c></row></sheetData></worksheet>"##;
    let parts = [
        CONTENT_TYPES,
        RELS,
        WORKBOOK,
        WORKBOOK_RELS,
        ("xl/worksheets/sheet1.xml", cells),
    ];
    let mut list = List::open(&packed(&dir, "a.xlsx", &parts), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&mut list, &["A", "B"]), texts(&[(1, ["", "Acme"])]));
}

#[test]
fn what_the_caller_refuses_ends_the_reading() {
    let mut list = open("companies.xlsx");
    let mut seen = 0;
    let ended: Result<(), anyhow::Error> = list.rows(&[ColumnIndex::FIRST], |_, _| {
        seen += 1;
        anyhow::bail!("enough")
    });
    assert_eq!(ended.unwrap_err().to_string(), "enough");
    assert_eq!(seen, 1);
}
