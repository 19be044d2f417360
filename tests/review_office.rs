//! `review --export` and `--import`: the queue in the office, and workbooks that are refused.

use std::collections::BTreeMap;
use std::path::Path;

use calamine::Data;
use regex::Regex;
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};
use crate::servers::http::Reply;
use crate::sheets::{Cells, cells, formulas, names, part_text, parts, text, write_package};

const BOLT: &str = "=Bolt Toys";
const SHEET: &str = "xl/worksheets/sheet1.xml";
const NAMES: [&str; 4] = [ACME, BOLT, "Cargo Ring", "Delta Mills"];

/// Four companies, of which the first three are REVIEWs, and the last passed; with the
/// operator's key.
fn keyed() -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    reviewed(&world, &["--operator-key", &key]);
    world
}

/// Scans the four with these further flags, and answers for all of them.
fn reviewed(world: &EmailNet, flags: &[&str]) {
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
fn export(world: &EmailNet) {
    world
        .place
        .run(["review", "--export=review.xlsx", "--force"])
        .ok();
}

#[track_caller]
fn import(world: &EmailNet, file: &str) -> (i32, Value) {
    let file = format!("--import={file}");
    let key = ["--operator-key=operator.key", "--yes", "--by=kim"];
    world.place.json([&["review", &file][..], &key].concat())
}

/// The column of the exported sheet with this heading, counted from 1.
fn column(cells: &Cells, heading: &str) -> u32 {
    let headings = cells.iter().filter(|((row, _), _)| *row == 1);
    let found = headings
        .map(|((_, column), data)| (*column, data.to_string()))
        .find(|(_, text)| text == heading);
    found.unwrap_or_else(|| panic!("no column {heading}")).0
}

/// Writes `text` into cells of the exported sheet, each named by its row and heading, and leaves
/// everything else of the workbook as it is.
fn fill(path: &Path, filled: &[(u32, &str, &str)]) {
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
fn effective(world: &EmailNet) -> BTreeMap<String, u64> {
    let (code, status) = world.place.json(["status"]);
    assert_eq!(code, 0, "{status}");
    let counts = status["effective"].as_object().expect("counts");
    let counts = counts.iter();
    let counts = counts.map(|(name, count)| (name.clone(), count.as_u64().expect("a count")));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The rows that were refused: their numbers, and why.
fn refused(answer: &Value) -> Vec<(u64, &str)> {
    let rows = answer["refused"].as_array().expect("rows");
    let one = |row: &'_ Value| row["row"].as_u64().expect("a number");
    rows.iter()
        .map(|row| (one(row), row["why"].as_str().expect("a reason")))
        .collect()
}

/// The exported sheet as texts, its rows from the headings on.
fn sheet(world: &EmailNet) -> Vec<Vec<String>> {
    let cells = cells(&world.place.at("review.xlsx"), "review");
    let last = |of: fn(&(u32, u32)) -> u32| cells.keys().map(of).max().unwrap_or(0);
    let width = last(|place| place.1);
    let row = |row| (1..=width).map(|at| text(&cells, row, at)).collect();
    (1..=last(|place| place.0)).map(row).collect()
}

#[test]
fn the_sheet_shows_the_queue() {
    let world = keyed();
    export(&world);
    let path = world.place.at("review.xlsx");
    let shown = cells(&path, "review");
    let session = column(&shown, "session");
    let lines = shown.iter().map(|((row, column), data)| {
        let text = match data {
            Data::String(_) if *column == session && *row > 1 => "[SESSION]".to_owned(),
            Data::String(text) => text.replace('\n', "\n    "),
            other => format!("number {other}"),
        };
        format!("{row}/{column} {text}\n")
    });
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]");
    settings.add_filter(r"kr:\d+/", "kr:[PORT]/");
    let lines: String = lines.collect();
    settings.bind(|| insta::assert_snapshot!("review_sheet", lines));
    assert!(formulas(&path, "review").is_empty());
    let targets = part_text(&path, "xl/worksheets/_rels/sheet1.xml.rels");
    let source = text(&shown, 2, column(&shown, "source"));
    assert!(source.starts_with("http://www.acme.co.kr:"), "{source}");
    assert!(
        targets.contains(&format!("Target=\"{source}\"")),
        "{targets}"
    );
}

#[test]
fn what_the_office_decided_is_settled_and_the_rest_stays_open() {
    let world = keyed();
    export(&world);
    let path = world.place.at("review.xlsx");
    fill(
        &path,
        &[
            (2, "decision", "Accept "),
            (2, "note", "called them &lt;&amp;&gt; _x000D_\nand asked"),
            (3, "decision", "REJECT"),
            (3, "note", " no such company"),
            (4, "note", "not yet"),
        ],
    );
    let (code, answer) = import(&world, "review.xlsx");
    let expected = json!({
        "accepted": 1, "rejected": 1, "undecided": 1, "refused": [], "by": "kim",
    });
    assert_eq!((code, answer), (0, expected));
    let counts = [("accepted", 1), ("open", 1), ("pass", 1), ("rejected", 1)];
    let counts = counts.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(effective(&world), BTreeMap::from(counts));
    let (_, item) = world.place.json(["show", "1"]);
    let settled = &item["settlements"][0];
    assert_eq!(settled["by"], "kim");
    assert_eq!(settled["counts"], true);
    let note = settled["note"].as_str().expect("a note");
    assert!(note.starts_with("called them <&>"), "{note}");
    // What is settled already is told, and stays.
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!(code, 8, "{answer}");
    assert_eq!(refused(&answer), [(2, "settled"), (3, "settled")]);
    let run = ["review", "--import=review.xlsx"];
    let told = world.place.run(run).exits(8);
    assert!(
        told.starts_with("0 accepted, 0 rejected, 1 undecided, 2 refused\nrow 2, Acme Foods: "),
        "{told}"
    );
}

#[test]
fn rows_of_one_decision_and_note_are_one_event() {
    let world = keyed();
    export(&world);
    let decided = (2..=4).flat_map(|row| [(row, "decision", "accept"), (row, "note", "called")]);
    let decided: Vec<_> = decided.collect();
    fill(&world.place.at("review.xlsx"), &decided);
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, &answer["accepted"]), (0, &json!(3)), "{answer}");
    let log = world.place.run(["log", "--type=settled"]).ok();
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn a_sheet_that_the_office_sorted_and_widened_is_taken_back() {
    let world = keyed();
    export(&world);
    let mut rows = sheet(&world);
    let place = |heading: &str| {
        let found = rows[0].iter().position(|it| it == heading);
        found.expect("a heading")
    };
    let (decision, note) = (place("decision"), place("note"));
    rows[1][decision] = "accept".to_owned();
    rows[1][note] = "called, \"twice\"\nand wrote".to_owned();
    rows[3][decision] = "reject".to_owned();
    rows[3][note] = "closed".to_owned();
    rows[1..].reverse();
    for (at, row) in rows.iter_mut().enumerate() {
        row.reverse();
        row.insert(3, if at == 0 { "Who" } else { "Lee" }.to_owned());
    }
    rows[0]
        .iter_mut()
        .for_each(|it| *it = format!(" {} ", it.to_uppercase()));
    let title = vec!["Decisions of May".to_owned()];
    let mut csv = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    for row in std::iter::once(title).chain(rows) {
        csv.write_record(row).expect("memory");
    }
    let bytes = csv.into_inner().expect("memory");
    world.place.write("back.csv", bytes);
    let (code, answer) = import(&world, "back.csv");
    assert_eq!(code, 0, "{answer}");
    assert_eq!(
        (&answer["accepted"], &answer["rejected"]),
        (&json!(1), &json!(1))
    );
    let (_, item) = world.place.json(["show", "3"]);
    assert_eq!(item["settlements"][0]["note"], "closed");
}

#[test]
fn a_sampled_pass_is_checked_in_the_sheet_and_the_sheet_says_that_it_is_one() {
    let world = keyed();
    let key = "--operator-key=operator.key";
    world.place.run(["review", "--sample=1", key]).ok();
    let exported = world.place.json(["review", "--export=review.xlsx"]);
    let expected = json!({"path": "review.xlsx", "reviews": 3, "sampled": 1});
    assert_eq!(exported, (0, expected));
    let path = world.place.at("review.xlsx");
    let shown = cells(&path, "review");
    let says = |row| text(&shown, row, column(&shown, "sample"));
    assert_eq!([2, 3, 4].map(says), ["", "", ""]);
    assert!(says(5).starts_with("PASS"), "{}", says(5));
    fill(
        &path,
        &[(5, "decision", "accept"), (5, "note", "on their site")],
    );
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, &answer["accepted"]), (0, &json!(1)), "{answer}");
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["sample"]["right"], 1);
    // What was checked already is told, and stays.
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(5, "settled")]));
}

#[test]
fn an_empty_queue_is_a_sheet_that_decides_nothing() {
    let world = EmailNet::start();
    let (code, exported) = world.place.json(["review", "--export=review.xlsx"]);
    assert_eq!(
        (code, exported),
        (
            0,
            json!({"path": "review.xlsx", "reviews": 0, "sampled": 0})
        )
    );
    let (code, answer) = world.place.json(["review", "--import=review.xlsx"]);
    assert_eq!((code, &answer["undecided"]), (0, &json!(0)), "{answer}");
}

#[test]
fn an_export_replaces_nothing_and_leaves_nothing_half_written() {
    let world = keyed();
    world.place.write("mine.xlsx", "mine");
    for (args, code, word) in [
        (&["--export=mine.xlsx"][..], 1, "--force"),
        (&["--export=review.csv"], 2, "name it .xlsx"),
        (
            &["--export=.comail/review.xlsx"],
            2,
            "is inside the session",
        ),
        (&["--export=nowhere/review.xlsx"], 1, "no directory"),
    ] {
        let before = names(world.place.path());
        let run = world.place.run([&["review"], args].concat());
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert!(run.stderr.contains(word), "{args:?}: {run:?}");
        assert_eq!(names(world.place.path()), before, "{args:?}");
    }
    assert_eq!(
        std::fs::read(world.place.at("mine.xlsx")).expect("it"),
        b"mine"
    );
    {
        let before = names(world.place.path());
        let run = crate::sheets::on_a_full_disk(&world.place, 1, "review --export=full.xlsx");
        assert_eq!(run.code, 1, "{run:?}");
        assert_eq!(names(world.place.path()), before);
    }
    world
        .place
        .run(["review", "--export=mine.xlsx", "--force"])
        .ok();
    assert!(!cells(&world.place.at("mine.xlsx"), "review").is_empty());
}

#[test]
fn what_fits_no_more_is_refused_and_the_rest_is_settled() {
    let cases = [
        (&[(3, "decision", "maybe")][..], "unknown-word"),
        (&[(3, "id", "9")], "unknown-quest"),
        (&[(3, "id", "4"), (3, "key", "Delta Mills")], "not-open"),
        (&[(3, "id", "4")], "other-key"),
        (&[(3, "attempt", "2")], "other-attempt"),
        (&[(3, "judged", "2026-01-01T00:00:00Z")], "judged-again"),
        (&[(3, "session", "0123")], "other-session"),
    ];
    let world = keyed();
    export(&world);
    let path = world.place.at("review.xlsx");
    let decided = [(3, "decision", "accept"), (3, "note", "called")];
    fill(&path, &decided);
    let whole = std::fs::read(&path).expect("the workbook");
    let before = world.place.ledger();
    for (changes, why) in cases {
        world.place.write("review.xlsx", &whole);
        fill(&path, changes);
        let (code, answer) = import(&world, "review.xlsx");
        assert_eq!((code, refused(&answer)), (8, vec![(3, why)]), "{answer}");
        assert_eq!(world.place.ledger(), before, "{why}");
    }
    let other = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&path, &other);
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!(
        (code, refused(&answer)),
        (8, vec![(3, "other-session")]),
        "{answer}"
    );
    assert_eq!(answer["accepted"], 1);
    assert_eq!(effective(&world)["open"], 2);
}

#[test]
fn what_was_judged_again_or_answered_anew_is_looked_at_again() {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    let flags = world.flags_with(&["--operator-key", &key]);
    world.place.scan(&[ACME], &flags);
    let submission = world.answers(Reply::Reset);
    world.expect(1, &submission, "REVIEW", &["source-unanswered"]);
    export(&world);
    let decided = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&world.place.at("review.xlsx"), &decided);
    // Nobody wrote there what the gate sees by now.
    world.contact("nothing of theirs");
    let (code, report) = world.place.json(["recheck"]);
    assert_eq!((code, &report["refuted"]), (0, &json!(1)), "{report}");
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(2, "judged-again")]));
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    assert_eq!(import(&world, "review.xlsx").0, 0);
}

#[test]
fn what_is_no_sheet_of_the_queue_is_refused_whole() {
    let world = keyed();
    world
        .place
        .write("list.csv", "id,key,decision\n1,Acme Foods,accept\n");
    world.place.write(
        "twice.csv",
        "id,key,judged,attempt,decision,note,note,session\n",
    );
    world.place.write("other.csv", "company\nAcme Foods\n");
    world.place.write("torn.xlsx", "PK\u{3}\u{4}torn");
    let before = world.place.ledger();
    for (file, code, word) in [
        ("list.csv", 2, "no column judged, attempt, note, session"),
        ("twice.csv", 2, "two columns note"),
        ("other.csv", 2, "no column id, key"),
        ("torn.xlsx", 2, "torn.xlsx"),
        ("none.xlsx", 1, "no such file"),
    ] {
        let import = format!("--import={file}");
        let run = world
            .place
            .run(["review", &import, "--operator-key=operator.key"]);
        assert_eq!(run.code, code, "{file}: {run:?}");
        assert!(run.stderr.contains(word), "{file}: {run:?}");
    }
    for args in [
        &["--import=list.csv", "--export=a.xlsx"][..],
        &["--by=kim"],
        &["--operator-key=operator.key"],
        &["--force"],
        &["--yes"],
        &["--import=list.csv", "--yes"],
    ] {
        let all = [&["review"], args].concat();
        world.place.run(all).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_settles_by_a_workbook_who_could_not_otherwise() {
    use crate::harness::terminal::at_terminal;

    let world = keyed();
    export(&world);
    let decided = (2..=3).flat_map(|row| [(row, "decision", "accept"), (row, "note", "called")]);
    let decided: Vec<_> = decided.collect();
    fill(&world.place.at("review.xlsx"), &decided);
    let before = world.place.ledger();
    let import = ["review", "--import=review.xlsx"];
    assert_eq!(at_terminal(&world.place, &import, "settle").code, 2);
    let keyed = [&import[..], &["--operator-key=operator.key"]].concat();
    // Several are confirmed.
    world.place.run(&keyed).exits(2);
    assert_eq!(world.place.ledger(), before);
    let run = at_terminal(&world.place, &keyed, "settle");
    let asked = "settle 2 REVIEWs: accept 2, reject 0";
    assert!(run.stdout.contains(asked), "{run:?}");
    assert_eq!(effective(&world)["accepted"], 2);

    let world = EmailNet::unscanned();
    reviewed(&world, &[]);
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    let before = world.place.ledger();
    world.place.run(import).exits(2);
    let yes = [&import[..], &["--yes"]].concat();
    world.place.run(yes).exits(2);
    assert_eq!(at_terminal(&world.place, &import, "accept").code, 1);
    assert_eq!(world.place.ledger(), before);
    assert_eq!(at_terminal(&world.place, &import, "settle").code, 0);
    assert_eq!(effective(&world)["accepted"], 2);
}

#[test]
fn a_row_that_was_settled_and_reopened_since_is_refused() {
    let world = keyed();
    export(&world);
    let decided = [(2, "decision", "accept"), (2, "note", "called")];
    fill(&world.place.at("review.xlsx"), &decided);
    for verb in ["reject", "reopen"] {
        let args = [
            "review",
            verb,
            "1",
            "--note=x",
            "--operator-key=operator.key",
        ];
        world.place.run(args).ok();
    }
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, refused(&answer)), (8, vec![(2, "settled-since")]));
    export(&world);
    fill(&world.place.at("review.xlsx"), &decided);
    let (code, answer) = import(&world, "review.xlsx");
    assert_eq!((code, &answer["accepted"]), (0, &json!(1)), "{answer}");
}
