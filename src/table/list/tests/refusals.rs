//! Lists that are refused, damaged or absurd.

use std::fs;
use std::io::Write as _;

use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn written(dir: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
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
    let error = refusal(&path, &options("utf-9"));
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("`utf-9` is not an encoding"), "{source}");
    let error = refusal(&fixture("companies.xlsx"), &options("utf-8")).to_string();
    assert!(error.contains("has no encoding to choose"), "{error}");
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
    let error = read.unwrap_err().to_string();
    assert!(error.contains("line 20001 is not text in UTF-8"), "{error}");
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
    let error = refusal(&fixture("lines.txt"), &sheet("A"));
    assert!(error.is_missing_sheet() && error.to_string().contains("has no sheets"));
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
    let unclosed = [b"Company\n\"Acme\n".as_slice(), &b"Beta\n".repeat(300_000)].concat();
    for (name, bytes, expected) in [
        ("a.xlsx", &b"<html>"[..], "not a workbook that can be read"),
        ("a.xls", b"", "not a workbook that can be read"),
        ("a.csv", b"", "has no rows"),
        ("b.csv", b"Company,Site\n", "has no rows below its headings"),
        ("a.txt", b"\n \n", "has no rows"),
        (
            "a.png",
            b"\x89PNG\r\n\x1a\n\0\0\0\r",
            "neither a workbook nor text",
        ),
        ("c.xlsx", b"PK\x03\x04rest", "the workbook is damaged"),
        ("d.csv", &unclosed, "a cell of row 2 is longer than"),
    ] {
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
        let error = refusal(&path, &none).to_string();
        assert!(error.contains(expected), "{error}");
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
            assert!(!opened || has_ending(&path, "xls"), "{name} cut at {at}");
        }
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
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
        texts(&[(1_048_576, "far|")])
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
    let parts = [
        CONTENT_TYPES,
        RELS,
        WORKBOOK,
        WORKBOOK_RELS,
        ("xl/worksheets/sheet1.xml", cells),
    ];
    let mut list = List::open(&packed(&dir, "a.xlsx", &parts), &ReadOptions::default()).unwrap();
    assert_eq!(rows(&mut list, &["A", "B"]), texts(&[(1, "|Acme")]));
}

#[test]
fn what_the_caller_refuses_ends_the_reading() {
    let mut list = open("companies.xlsx");
    let mut seen = 0;
    let ended: anyhow::Result<()> = list.rows(&[ColumnIndex::FIRST], |_, _| {
        seen += 1;
        anyhow::bail!("enough")
    });
    assert_eq!(ended.unwrap_err().to_string(), "enough");
    assert_eq!(seen, 1);
}
