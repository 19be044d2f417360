//! The review queue as a workbook: a session with a queue, its export, and cells to fill in.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use super::EmailNet;
use super::email_net::{ACME, page};
use crate::sheets::{Cells, cells, part_text, parts, write_package};

const BOLT: &str = "=Bolt Toys";
const SHEET: &str = "xl/worksheets/sheet1.xml";
const NAMES: [&str; 4] = [ACME, BOLT, "Cargo Ring", "Delta Mills"];

/// Four companies, of which the first three are REVIEWs, and the last passed; with the
/// operator's key.
pub fn keyed() -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    reviewed(&world, &["--operator-key", &key]);
    world
}

/// Scans the four with these further flags, and answers for all of them.
pub fn reviewed(world: &EmailNet, flags: &[&str]) {
    world.place.scan(&NAMES, &world.flags_with(flags));
    let domains = ["acme", "bolt", "cargo", "delta"];
    for ((id, name), domain) in (1..).zip(NAMES).zip(domains) {
        let host = format!("{domain}.co.kr");
        world.company(&host, name);
        let right = world.right(&host);
        if id == 4 {
            world.expect(id, &right, "PASS", &[]);
        } else {
            let spelled = format!("Sales<br>info [at] {domain} [dot] co [dot] kr<br>Seoul");
            let contact = page(name, &spelled);
            world
                .net
                .web
                .page(&format!("www.{host}"), "/contact", &contact);
            world.expect(id, &right, "REVIEW", &["email-obfuscated"]);
        }
    }
}

#[track_caller]
pub fn export(world: &EmailNet) {
    world
        .place
        .run(["review", "--export=review.xlsx", "--force"])
        .ok();
}

#[track_caller]
pub fn import(world: &EmailNet, file: &str) -> (i32, Value) {
    let file = format!("--import={file}");
    let key = ["--operator-key=operator.key", "--yes", "--by=kim"];
    world.place.json([&["review", &file][..], &key].concat())
}

/// The column of the exported sheet with this heading, counted from 1.
pub fn column(cells: &Cells, heading: &str) -> u32 {
    let headings = cells.iter().filter(|((row, _), _)| *row == 1);
    let found = headings
        .map(|((_, column), data)| (*column, data.to_string()))
        .find(|(_, text)| text == heading);
    found.unwrap_or_else(|| panic!("no column {heading}")).0
}

/// Writes `text` into cells of the exported sheet, each named by its row and heading, and leaves
/// everything else of the workbook as it is.
pub fn fill(path: &Path, filled: &[(u32, &str, &str)]) {
    let known = cells(path, "review");
    let mut sheet = part_text(path, SHEET);
    for (row, heading, text) in filled {
        let letter = char::from(b'A' + u8::try_from(column(&known, heading)).expect("few") - 1);
        let new = format!(
            r#"<c r="{letter}{row}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>"#
        );
        let cell = format!(r#"<c r="{letter}{row}"[^>]*?(/>|>.*?</c>)"#);
        let cell = Regex::new(&cell).expect("a pattern");
        sheet = if cell.is_match(&sheet) {
            cell.replace(&sheet, regex::NoExpand(&new)).into_owned()
        } else {
            with_cell(&sheet, letter, *row, &new)
        };
    }
    let mut parts = parts(path);
    for (_, part) in parts.iter_mut().filter(|(name, _)| name == SHEET) {
        part.content = sheet.clone().into_bytes();
    }
    let parts = parts.iter();
    write_package(path, parts.map(|(name, part)| (&**name, &*part.content)));
}

/// The sheet with a cell that it lacks, in its place among those of its row.
fn with_cell(sheet: &str, letter: char, row: u32, cell: &str) -> String {
    let start = sheet.find(&format!(r#"<row r="{row}""#)).expect("the row");
    let end = start + sheet[start..].find("</row>").expect("the end of the row");
    let cells = Regex::new(&format!(r#"<c r="([A-Z]){row}""#)).expect("a pattern");
    let mut later = cells.captures_iter(&sheet[start..end]);
    let next = later.find(|it| it[1].chars().next() > Some(letter));
    let at = next.map_or(end, |it| start + it.get(0).expect("a match").start());
    format!("{}{cell}{}", &sheet[..at], &sheet[at..])
}

/// How many quests have each effective outcome, without those that no quest has.
pub fn effective(world: &EmailNet) -> BTreeMap<String, u64> {
    let (code, status) = world.place.json(["status"]);
    assert_eq!(code, 0, "{status}");
    let counts = status["effective"].as_object().expect("counts");
    let counts = counts.iter();
    let counts = counts.map(|(name, count)| (name.clone(), count.as_u64().expect("a count")));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The rows that were refused: their numbers, and why.
pub fn refused(answer: &Value) -> Vec<(u64, &str)> {
    let rows = answer["refused"].as_array().expect("rows");
    let one = |row: &'_ Value| row["row"].as_u64().expect("a number");
    rows.iter()
        .map(|row| (one(row), row["why"].as_str().expect("a reason")))
        .collect()
}
