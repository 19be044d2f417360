//! Workbooks as other programs read them, and the quests that a session made of a list.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use calamine::{Data, Range, Reader as _, open_workbook_auto};
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::harness::email_net::page;
use crate::harness::{EmailNet, Place, Run};

pub fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("fixtures/workbooks").join(name)
}

pub fn bring(place: &Place, name: &str) -> PathBuf {
    place.write(name, std::fs::read(fixture(name)).expect("a fixture"))
}

pub fn world() -> EmailNet {
    EmailNet::unscanned()
}

#[track_caller]
pub fn scan(world: &EmailNet, args: &[&str]) -> Value {
    let mut line = vec!["scan".to_owned()];
    line.extend(args.iter().map(|arg| (*arg).to_owned()));
    line.extend(world.flags());
    let (code, scanned) = world.place.json(line);
    assert_eq!(code, 0, "{scanned}");
    scanned
}

/// Settles quest `id` as PASS, for an honest company at `domain`.
#[track_caller]
pub fn pass(world: &EmailNet, id: u32, domain: &str, name: &str) {
    world.company(domain, name);
    let (_, answer) = world.submit(id, &world.right(domain));
    assert_eq!(answer["verdict"], "PASS", "{answer}");
}

/// Settles quest `id` as REVIEW: the company at `domain` shows a freemail address.
#[track_caller]
pub fn review(world: &EmailNet, id: u32, domain: &str, name: &str, email: &str) {
    world.company(domain, name);
    world.net.host("mx.gmail.com");
    world.net.dns.mx("gmail.com", 5, "mx.gmail.com");
    let host = format!("www.{domain}");
    let shown = page(name, &format!("Write to {email}"));
    world.net.web.page(&host, "/contact", &shown);
    let mut submission = world.right(domain);
    email.clone_into(&mut submission.email);
    let (_, answer) = world.submit(id, &submission);
    assert_eq!(answer["verdict"], "REVIEW", "{answer}");
}

/// Sends an address that is not on the page, for quest `id`, and returns the exit code.
pub fn fail(world: &EmailNet, id: u32, domain: &str, name: &str, local: &str) -> i32 {
    world.company(domain, name);
    let mut wrong = world.right(domain);
    wrong.email = format!("{local}@{domain}");
    world.submit(id, &wrong).0
}

/// Settles quest `id` as DONE, by three addresses that are not on the page.
#[track_caller]
pub fn done(world: &EmailNet, id: u32, domain: &str, name: &str) {
    let codes = ["a.one", "a.two", "a.three"].map(|local| fail(world, id, domain, name, local));
    assert_eq!(codes, [5, 5, 6]);
}

pub fn quests(place: &Place) -> Vec<Value> {
    place.events("quest")
}

pub fn keys(place: &Place) -> Vec<String> {
    let key = |quest: &Value| quest["key"].as_str().expect("a key").to_owned();
    quests(place).iter().map(key).collect()
}

pub fn rows(place: &Place) -> Vec<Vec<u64>> {
    let rows = |quest: &Value| {
        let rows = quest["rows"].as_array().expect("rows");
        rows.iter()
            .map(|row| row.as_u64().expect("a row"))
            .collect()
    };
    quests(place).iter().map(rows).collect()
}

pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name in UTF-8")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The cells of a sheet that are not empty, by row and column counted from 1.
pub type Cells = BTreeMap<(u32, u32), Data>;

pub fn cells(path: &Path, sheet: &str) -> Cells {
    let mut book = open_workbook_auto(path).expect("a workbook");
    placed(&book.worksheet_range(sheet).expect("a sheet"))
        .filter(|(_, data)| *data != Data::Empty)
        .collect()
}

pub fn formulas(path: &Path, sheet: &str) -> BTreeMap<(u32, u32), String> {
    let mut book = open_workbook_auto(path).expect("a workbook");
    placed(&book.worksheet_formula(sheet).expect("a sheet"))
        .filter(|(_, formula)| !formula.is_empty())
        .collect()
}

fn placed<T: calamine::CellType>(range: &Range<T>) -> impl Iterator<Item = ((u32, u32), T)> + '_ {
    let (top, left) = range.start().unwrap_or_default();
    let at = move |(row, column, value): (usize, usize, &T)| {
        let row = u32::try_from(row).expect("a row") + top + 1;
        let column = u32::try_from(column).expect("a column") + left + 1;
        ((row, column), value.clone())
    };
    range.used_cells().map(at)
}

pub fn text(cells: &Cells, row: u32, column: u32) -> String {
    let cell = cells.get(&(row, column));
    cell.map(ToString::to_string).unwrap_or_default()
}

/// One row's texts from `column` on, as many as there are `N`.
pub fn texts<const N: usize>(cells: &Cells, row: u32, column: u32) -> [String; N] {
    std::array::from_fn(|index| text(cells, row, column + u32::try_from(index).expect("few")))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub stored: Vec<u8>,
    pub content: Vec<u8>,
}

/// The parts of a workbook's package, in their order.
pub fn parts(path: &Path) -> Vec<(String, Part)> {
    let mut archive = ZipArchive::new(std::fs::File::open(path).expect("a file")).expect("a zip");
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let (mut stored, mut content) = (Vec::new(), Vec::new());
        let mut raw = archive.by_index_raw(index).expect("a part");
        raw.read_to_end(&mut stored).expect("stored bytes");
        let name = raw.name().expect("a name").into_owned();
        drop(raw);
        let mut part = archive.by_index(index).expect("a part");
        part.read_to_end(&mut content).expect("content");
        drop(part);
        parts.push((name, Part { stored, content }));
    }
    parts
}

pub fn part_text(path: &Path, name: &str) -> String {
    let found = parts(path).into_iter().find(|(known, _)| known == name);
    let (_, part) = found.unwrap_or_else(|| panic!("there is no part {name}"));
    String::from_utf8(part.content).expect("XML in UTF-8")
}

/// Writes a workbook of one sheet, `Companies`, with these rows of XML.
pub fn workbook(path: &Path, rows: &str) {
    const TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#;
    const ROOT: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    const BOOK: &str = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Companies" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
    const BOOK_RELS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>"#;
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
         <sheetData>{rows}</sheetData></worksheet>"
    );
    let parts = [
        ("[Content_Types].xml", TYPES),
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", BOOK),
        ("xl/_rels/workbook.xml.rels", BOOK_RELS),
        ("xl/worksheets/sheet1.xml", &sheet),
    ];
    write_package(
        path,
        parts.iter().map(|(name, text)| (*name, text.as_bytes())),
    );
}

/// Writes a workbook with these parts: names and contents.
pub fn write_package<'a>(path: &Path, parts: impl Iterator<Item = (&'a str, &'a [u8])>) {
    let mut package = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options = SimpleFileOptions::default();
        package.start_file(name, options).expect("a part");
        package.write_all(content).expect("memory");
    }
    let bytes = package.finish().expect("a package").into_inner();
    std::fs::write(path, bytes).expect("a file in a temporary directory");
}

/// A row of texts for [`workbook`], from column A on.
pub fn xml_row(number: u32, texts: &[&str]) -> String {
    let cell = |(letter, text): (char, &&str)| {
        format!("<c r=\"{letter}{number}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let cells: String = ('A'..='Z').zip(texts).map(cell).collect();
    format!("<row r=\"{number}\">{cells}</row>")
}

/// Runs the program through a shell in which a file ends at `kib` KiB, as on a full disk.
pub fn on_a_full_disk(place: &Place, kib: u32, args: &str) -> Run {
    let program = env!("CARGO_BIN_EXE_comail");
    // Without the signal, a write beyond the limit fails as one on a full disk does. A POSIX
    // shell counts 512 bytes.
    let script = format!("ulimit -f {}; exec {program} {args}", kib * 2);
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", &script])
        .env_clear()
        // A program that is built to count its lines would write the counts beside its files.
        .env("LLVM_PROFILE_FILE", "/dev/null")
        .current_dir(place.path());
    Run::of(&mut command)
}

/// Runs `command` and expects this exit code, these words (separated by bars) on stderr, and a
/// directory in which nothing is new and no workbook has changed.
#[track_caller]
pub fn refused(place: &Place, command: &str, args: &[&str], code: i32, words: &str) {
    let list = || std::fs::read(place.at("companies.xlsx")).ok();
    let before = (names(place.path()), list());
    let run = place.run([&[command], args].concat());
    assert_eq!((run.code, &*run.stdout), (code, ""), "{args:?}: {run:?}");
    for word in words.split('|') {
        assert!(run.stderr.contains(word), "{args:?}: {word:?} in {run:?}");
    }
    assert_eq!((names(place.path()), list()), before, "{args:?}");
}
