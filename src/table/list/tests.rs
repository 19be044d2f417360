//! Lists of every format, read from the fixtures.

use crate::base::rows;
use std::fs;
use std::io::Write as _;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::table::TextEncoding;

type Rows = Vec<(u32, Vec<String>)>;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/workbooks")
        .join(name)
}

fn written(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn refusal(path: &Path, options: &ReadOptions) -> ReadError {
    match List::open(path, options) {
        Err(error) => error,
        Ok(list) => panic!("{} was opened as {:?}", path.display(), list.format()),
    }
}

/// Expects that the file is refused with this message.
#[track_caller]
fn refused(path: &Path, options: &ReadOptions, expected: &str) {
    let refusal = refusal(path, options).to_string();
    assert!(refusal.contains(expected), "{refusal}");
}

fn said(format: InputFormat) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    }
}

fn encoded(name: &str) -> ReadOptions {
    ReadOptions {
        encoding: Some(name.to_owned()),
        ..ReadOptions::default()
    }
}

fn sheet(name: &str) -> ReadOptions {
    ReadOptions {
        sheet: Some(name.to_owned()),
        ..ReadOptions::default()
    }
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

/// The number of every row, and how many cells it has.
fn widths(list: &mut List) -> Vec<(u32, usize)> {
    let mut widths = Vec::new();
    list.every_row(|row, cells| {
        widths.push((row, cells.len()));
        Ok::<_, ReadError>(())
    })
    .unwrap();
    widths
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
fn a_row_with_more_cells_than_the_header_is_refused_with_its_line() {
    let dir = TempDir::new().unwrap();
    let read = |text: &str, header| {
        let path = written(&dir, "list.csv", text);
        let options = ReadOptions {
            header,
            ..ReadOptions::default()
        };
        let mut list = List::open(&path, &options).unwrap();
        assert_eq!(widths(&mut list).len(), 3, "{text}");
        list.rows::<ReadError>(&[ColumnIndex::FIRST], |_, _| Ok(()))
    };
    let lines = "Company,Website\nAcme,a.kr\nTools, Inc.,b.kr\n";
    // Lines are those of an editor: a quoted cell has two, and empty lines count.
    let spread = "Company,Website\r\n\r\n\"Acme\r\nFoods\",a.kr\r\n\r\nTools, Inc.,b.kr\r\n";
    for (text, line) in [(lines, 3), (spread, 6)] {
        let refusal = read(text, HeaderChoice::Yes).unwrap_err().to_string();
        let expected = format!(
            "list.csv: line {line}: the row has 3 cells, but the header has 2; put quotes around a \
             cell that contains `,`"
        );
        assert!(refusal.ends_with(&expected), "{refusal}");
    }
    for (text, header) in [
        // Without headings, no row says how many cells a row has.
        (lines, HeaderChoice::No),
        ("Company,Website\nAcme,a.kr,, \nBolt\n", HeaderChoice::Yes),
        (
            "Company,Website,\nAcme,a.kr,a note\nBolt\n",
            HeaderChoice::Yes,
        ),
    ] {
        read(text, header).unwrap();
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
        ("web SITE", "C"),
    ] {
        assert_eq!(lettered.find(name).unwrap().to_string(), letter, "{name}");
    }
}

#[test]
fn an_unknown_column_is_reported_with_the_existing_ones() {
    let wide = ListColumns {
        header: None,
        width: u32::MAX,
    };
    let described = wide.described();
    assert_eq!(described.len(), MAX_DESCRIBED + 1);
    assert_eq!(described[MAX_DESCRIBED], "16344 more");
    let listed = columns(&["Company", "", "Site", "Site"]);
    for (name, expected) in rows! {
        "site" => "several columns are headed `site`: C, D; name one by its letter";
        "E" => "there is no column `E`; there are A `Company`, B, C `Site`, D `Site`";
        "Comapny" => "; did you mean `Company`?";
        "Site" => "several columns are headed `Site`: C, D; name one by its letter";
    } {
        let error = listed.find(name).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // A letter means a column, and not the heading that begins with it.
    let lettered = columns(&["Company", "Web"]);
    for error in [listed.find("Fax"), lettered.find("E")] {
        let error = error.unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }
}

#[test]
fn rows_keep_the_order_of_the_chosen_columns() {
    let dir = TempDir::new().unwrap();
    let far = ",".repeat(99_999);
    let path = written(&dir, "a.csv", format!("a,,c\n,b,,d\n , ,\n{far}far\n,,z\n"));
    let options = ReadOptions {
        header: HeaderChoice::No,
        ..ReadOptions::default()
    };
    let mut list = List::open(&path, &options).unwrap();
    let expected = texts(&[(1, "c|a|c"), (2, "||"), (4, "||"), (5, "z||z")]);
    assert_eq!(rows(&mut list, &["C", "A", "C"]), expected);
    // A row is as wide as its last text, and no sheet has the column that is far away.
    assert_eq!(widths(&mut list), [(1, 3), (2, 4), (4, 0), (5, 3)]);
}

/// What one or more workbooks of the fixtures must read as.
#[derive(Deserialize)]
struct Expected {
    files: Vec<String>,
    /// The sheet to ask for.
    sheet: Option<String>,
    /// The sheet that is read.
    read: String,
    /// The row of the headings.
    header: Option<u32>,
    columns: Vec<String>,
    /// The number and the texts of each row.
    rows: Vec<String>,
    /// Whether further rows follow.
    #[serde(default)]
    more: bool,
}

#[test]
fn workbooks_read_as_expected() {
    #[derive(Deserialize)]
    struct Table {
        workbook: Vec<Expected>,
    }

    let table: Table = toml::from_str(include_str!("workbooks.toml")).unwrap();
    for expected in &table.workbook {
        for file in &expected.files {
            let options = ReadOptions {
                sheet: expected.sheet.clone(),
                ..ReadOptions::default()
            };
            let mut list = List::open(&fixture(file), &options).unwrap();
            assert_eq!(list.sheet(), Some(&*expected.read), "{file}");
            let header = list.header().map(|header| header.row);
            assert_eq!(header, expected.header, "{file}");
            let is_macro = Path::new(file).extension().unwrap() == "xlsm";
            assert_eq!(list.format() == SourceFormat::Xlsm, is_macro, "{file}");
            let columns: Vec<&str> = expected.columns.iter().map(String::as_str).collect();
            let found = rows(&mut list, &columns).into_iter();
            let found = found.map(|(row, cells)| format!("{row}|{}", cells.join("|")));
            let most = if expected.more {
                expected.rows.len()
            } else {
                usize::MAX
            };
            let found: Vec<String> = found.take(most).collect();
            assert_eq!(found, expected.rows, "{file}");
        }
    }
}

#[test]
fn texts_read_in_their_encodings() {
    for (name, encoding, delimiter) in [
        ("utf8-bom.csv", "UTF-8", b','),
        ("utf16le.csv", "UTF-16LE", b'\t'),
        ("cp949.csv", "EUC-KR", b','),
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
            b'\t' => "서울\t 본사",
            _ => "서울, 본사",
        };
        let first = format!("한빛식품 주식회사|hanbit-foods.co.kr|{place}");
        let expected = texts(&[(2, &first), (3, "대한정밀공업||두\n줄")]);
        assert_eq!(found, expected, "{name}");
    }
    let expected = TextEncoding::named("shift_jis").unwrap();
    for options in [encoded("sjis"), ReadOptions::default()] {
        let mut list = List::open(&fixture("shift_jis.csv"), &options).unwrap();
        let found = list.format();
        assert!(matches!(found, SourceFormat::Csv { encoding, .. } if encoding == expected));
        let first = texts(&[(2, "青山精機株式会社|aoyama-seiki.co.jp")]);
        assert_eq!(rows(&mut list, &["会社名", "B"])[..1], first);
    }
}

const LIST: &str = "{\"name\":\"a\",\"at\":{\"line\": 1}}\r\n\n{\"first line\":7,\"name\":\"b\",\"name\":null}\n{}\n{\"name\":\"c\"}";

#[test]
fn keys_are_the_columns_and_lines_the_rows() {
    for name in ["list.jsonl", "list.NDJSON"] {
        let dir = TempDir::new().unwrap();
        let mut list = List::open(&written(&dir, name, LIST), &ReadOptions::default()).unwrap();
        assert_eq!(list.format().extension(), "jsonl");
        assert_eq!(list.columns(), ["A `name`", "B `at`", "C `first line`"]);
        assert_eq!(list.keys().unwrap(), ["name", "at", "first line"]);
        let column = list.column("first line").unwrap();
        assert_eq!(list.label(column), "first line");
        let expected = texts(&[(1, "|a|{\"line\":1}"), (3, "7||"), (5, "|c|")]);
        assert_eq!(rows(&mut list, &["C", "name", "at"]), expected);
        assert_eq!(widths(&mut list), [(0, 3), (1, 2), (3, 3), (5, 1)]);
    }
}

#[test]
fn lines_that_are_not_objects_are_reported_with_their_place() {
    let dir = TempDir::new().unwrap();
    let wide: Vec<_> = (0..20_000).map(|key| format!("\"{key}\":1")).collect();
    let wide = format!("{{{}}}", wide.join(","));
    for (text, expected) in rows! {
        "{\"a\":1}\n\n[2]\n" => "a.jsonl: line 3, column 1: invalid type: sequence";
        "{\"a\":1}\n{\"a\":x}\n" => "line 2, column 6: expected value";
        "\"é\"" => "column 3: invalid type: string \"é\", expected a map;";
        "{\"é\": tru}" => "column 10: expected ident;";
        "{\"a\":1} x" => "column 9: trailing characters;";
        "{\"a\":1" => "column 6: EOF while parsing an object;";
        "{'a':1}" => "column 2: key must be a string;";
        "{}\n{\"a\":null}\n" => "has no rows";
        "\n\n" => "has no rows";
        "" => "has no rows";
        &wide => "more than 16384 keys";
    } {
        refused(
            &written(&dir, "a.jsonl", text),
            &ReadOptions::default(),
            expected,
        );
    }
}

#[test]
fn a_chosen_format_overrides_the_name_but_not_the_content() {
    let dir = TempDir::new().unwrap();
    for (name, format, ending) in [
        ("a.txt", InputFormat::Jsonl, "jsonl"),
        ("a.jsonl", InputFormat::Lines, "txt"),
        ("a.xlsx", InputFormat::Csv, "csv"),
    ] {
        let list = List::open(&written(&dir, name, LIST), &said(format)).unwrap();
        assert_eq!(list.format().extension(), ending);
    }
    let text = written(&dir, "b.txt", LIST);
    let no_workbook = "the format should be xlsx, but this is no workbook";
    refused(&text, &said(InputFormat::Xlsx), no_workbook);
    let workbook = fixture("companies.xlsx");
    assert!(List::open(&workbook, &said(InputFormat::Xlsx)).is_ok());
    let no_text = "the format should be text, but this is a workbook";
    refused(&workbook, &said(InputFormat::Csv), no_text);
}

#[test]
fn a_chosen_encoding_is_used() {
    assert!(List::open(&fixture("cp949.csv"), &encoded("CP949")).is_ok());
    let dir = TempDir::new().unwrap();
    let path = written(&dir, "a.csv", b"Company\nAcme\n\xc7\xd1\xba\xfb\nBeta\n");
    refused(&path, &encoded("utf-8"), "line 3 is not text in UTF-8");
    let error = refusal(&path, &encoded("utf-9"));
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("`utf-9` is not an encoding"), "{source}");
    let workbook = fixture("companies.xlsx");
    refused(&workbook, &encoded("utf-8"), "has no encoding to choose");
    // Bytes far below the first rows are decoded too.
    let far = [&b"Acme,acme.com\n".repeat(20_000)[..], b"\xff\xfe\xfd\n"].concat();
    let far = written(&dir, "a.csv", far);
    refused(&far, &encoded("utf-8"), "line 20001 is not text in UTF-8");
}

#[test]
fn errors_name_the_existing_sheets_and_columns() {
    let sheets = "`Notes`, `업체 목록`, `옛 목록`, `빈 시트`";
    refused(&fixture("openpyxl.xlsx"), &sheet("Companies"), sheets);
    refused(
        &fixture("libreoffice.ods"),
        &sheet("Companies"),
        "`업체 목록`",
    );
    refused(&fixture("openpyxl.xlsx"), &sheet("빈 시트"), "has no rows");
    let error = refusal(&fixture("lines.txt"), &sheet("A"));
    assert!(error.is_missing_sheet() && error.to_string().contains("has no sheets"));
    let companies = open("companies.xlsx");
    let error = companies.column("Fax").unwrap_err().to_string();
    let expected = "A `Company`, B `Country`, C `Website`, D `Phone`";
    assert!(error.contains(expected), "{error}");
    assert!(companies.column("E").is_err());
}

#[test]
fn files_that_are_not_lists_are_refused() {
    let dir = TempDir::new().unwrap();
    let none = ReadOptions::default();
    let unclosed = [b"Company\n\"Acme\n".as_slice(), &b"Beta\n".repeat(300_000)].concat();
    for (name, bytes, expected) in rows! {
        "a.xlsx", &b"<html>"[..] => "not a workbook that can be read";
        "a.xls", b"" => "not a workbook that can be read";
        "a.csv", b"" => "has no rows";
        "b.csv", b"Company,Site\n" => "has no rows below its headings";
        "a.txt", b"\n \n" => "has no rows";
        "a.png", b"\x89PNG\r\n\x1a\n\0\0\0\r" => "neither a workbook nor text";
        "c.xlsx", b"PK\x03\x04rest" => "the workbook is damaged";
        "d.csv", &unclosed => "a cell of row 2 is longer than";
    } {
        let error = refusal(&written(&dir, name, bytes), &none);
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(
            error.is_empty_list(),
            expected.contains("has no rows"),
            "{error}"
        );
    }
    for (path, expected) in [
        (dir.path().join("a"), "there is no such file"),
        (dir.path().to_owned(), "this is a directory"),
        (fixture("encrypted.xlsx"), "the workbook is encrypted"),
        (fixture("encrypted.ods"), "the workbook is encrypted"),
    ] {
        refused(&path, &none, expected);
    }
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
            // What ends a binary workbook is not needed to read it.
            let opened = List::open(&path, &ReadOptions::default()).is_ok();
            let is_binary = Path::new(name).extension().is_some_and(|it| it == "xls");
            assert!(!opened || is_binary, "{name} cut at {at}");
        }
    }
}

fn packed(dir: &TempDir, name: &str, parts: &[(&str, &str)]) -> PathBuf {
    let path = dir.path().join(name);
    let mut archive = ZipWriter::new(fs::File::create(&path).unwrap());
    for (part, text) in parts {
        let options = SimpleFileOptions::default();
        archive.start_file(*part, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    path
}

/// A workbook of one sheet with one more part.
fn packed_workbook(dir: &TempDir, part: (&str, &str)) -> PathBuf {
    let book = include_str!("../workbook_copy/book/workbook.xml");
    let relationships = include_str!("../workbook_copy/book/workbook_rels.xml");
    let own = rows! {
        "[Content_Types].xml" => include_str!("../workbook_copy/book/types.xml");
        "_rels/.rels" => include_str!("../workbook_copy/book/root_rels.xml");
        "xl/workbook.xml" => book;
        "xl/_rels/workbook.xml.rels" => relationships;
    };
    packed(dir, "made.xlsx", &[&own[..], &[part]].concat())
}

#[test]
fn absurd_claims_of_a_workbook_take_no_memory() {
    let dir = TempDir::new().unwrap();
    let none = ReadOptions::default();
    let far = r#"<worksheet><dimension ref="A1:XFD1048576"/><sheetData><row r="1048576"><c r="XFD1048576" t="str"><v>far</v></c></row></sheetData></worksheet>"#;
    let far = packed_workbook(&dir, ("xl/worksheets/sheet1.xml", far));
    let mut list = List::open(&far, &none).unwrap();
    let expected = texts(&[(1_048_576, "far|")]);
    assert_eq!(rows(&mut list, &["XFD", "A"]), expected);

    let strings = r#"<sst uniqueCount="99999999999999"></sst>"#;
    let many = packed_workbook(&dir, ("xl/sharedStrings.xml", strings));
    refused(&many, &none, "more shared strings");

    let repeated = r#"<office:document-content><table:table table:name="S"><table:table-row table:number-rows-repeated="4000000000"><table:table-cell table:number-columns-repeated="4000000000"/></table:table-row><table:table-row table:number-rows-repeated="4000000000"><table:table-cell><text:p>A</text:p></table:table-cell></table:table-row></table:table></office:document-content>"#;
    let parts = [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest/>"),
        ("content.xml", repeated),
    ];
    let error = refusal(&packed(&dir, "repeated.ods", &parts), &none);
    let is_damaged = error.to_string().contains("the workbook is damaged");
    assert!(error.is_empty_list() || is_damaged, "{error}");
}

#[test]
fn unknown_error_values_do_not_end_the_reading() {
    let dir = TempDir::new().unwrap();
    let cells = r#"<worksheet><sheetData><row r="1"><c r="A1" t="e"><v>#ERROR!</v></c><c r="B1" t="str"><v>Acme</v></c></row></sheetData></worksheet>"#;
    let path = packed_workbook(&dir, ("xl/worksheets/sheet1.xml", cells));
    let mut list = List::open(&path, &ReadOptions::default()).unwrap();
    assert_eq!(rows(&mut list, &["A", "B"]), texts(&[(1, "|Acme")]));
}

#[test]
fn an_error_of_the_visitor_ends_the_reading() {
    let mut list = open("companies.xlsx");
    let mut seen = 0;
    let ended: anyhow::Result<()> = list.rows(&[ColumnIndex::FIRST], |_, _| {
        seen += 1;
        anyhow::bail!("enough")
    });
    assert_eq!(ended.unwrap_err().to_string(), "enough");
    assert_eq!(seen, 1);
}
