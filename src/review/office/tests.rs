//! Rows, written into a workbook and read back out of it.

use crate::base::rows;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use url::Url;

use super::*;
use crate::gate::{Fact, Level};
use crate::judge::excerpts::{Excerpt, SeenPage};
use crate::quest::{FieldName, Fields, Key, Quest, Shown};
use crate::review::History;
use crate::session::{Progress, Span, State};
use crate::table::new_workbook::write_form;
use crate::table::{HeaderChoice, List, ReadError, ReadOptions};

const JUDGED: &str = "2023-11-14T22:13:20.001Z";

fn session() -> Digest {
    Digest::of(b"session")
}

fn item(number: usize, key: &str, fields: &[(&'static str, &str)]) -> Item {
    let fields = fields.iter();
    let fields = fields.map(|(name, text)| (FieldName::known(name), (*text).to_owned()));
    let fact = Fact {
        level: Level::Review,
        count: 2,
        ..Fact::new("reviewers-doubt", "cleared", "doubted")
    };
    Item {
        id: QuestId::from_index(number - 1).unwrap(),
        key: Key::new(key).unwrap(),
        rows: vec![2],
        anchor: None,
        known: Vec::new(),
        shown: Vec::new(),
        state: State::Review,
        effective: Effective::Open,
        disputed: false,
        attempt: 2,
        tries: 1,
        since: Some(JUDGED.parse::<Timestamp>().unwrap()),
        claim: None,
        worker: None,
        submission: Some(Submission::Fields(fields.collect::<Fields>())),
        repeats: None,
        facts: vec![SeenFact {
            fact,
            excerpt: None,
        }],
        pages: Vec::new(),
        checks: Vec::new(),
        panel: None,
        history: History::default(),
        damage: None,
    }
}

fn shown(label: &str, text: &str) -> Shown {
    Shown {
        label: label.to_owned(),
        text: text.to_owned(),
    }
}

fn row(number: usize, key: &str) -> OfficeRow {
    let mut item = item(number, key, &[("note", "=1+1")]);
    item.shown = vec![shown("Decision", "reject")];
    OfficeRow::of(&item, &bound(session(), None))
}

fn fill(form: &mut Form, heading: &str, texts: &[String]) {
    let mut columns = form.columns.iter();
    let at = columns.position(|it| it.heading == heading).unwrap();
    for (row, text) in form.rows.iter_mut().zip(texts) {
        row[at] = FormCell::text(text.as_str());
    }
}

fn read_back(form: &Form) -> Vec<Filled> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("review.xlsx");
    let folder = path.parent().unwrap();
    write_form(std::fs::File::create(&path).unwrap(), folder, form).unwrap();
    let options = ReadOptions {
        sheet: Some(SHEET.to_owned()),
        header: HeaderChoice::No,
        ..ReadOptions::default()
    };
    let mut list = List::open(&path, &options).unwrap();
    let mut filling = Filling::default();
    list.every_row(|row, cells| {
        filling.take(row, cells).unwrap();
        Ok::<_, ReadError>(())
    })
    .unwrap();
    filling.finish().unwrap()
}

fn texts() -> impl Strategy<Value = String> {
    "[=+@-]?(_x|[0-9A-Fa-f]{4}_|\\PC|[\\x00-\\x1F&<>\"'=\u{FFFE}]){1,12}[!-~]"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_filled_workbook_round_trips(
        rows in prop::collection::vec((texts(), 0_usize..3, texts()), 1..5),
    ) {
        let words = ["", "accept", "Reject "];
        let queue: Vec<OfficeRow> =
            (1..).zip(&rows).map(|(number, (key, ..))| self::row(number, key)).collect();
        let mut form = form(&queue);
        let said: Vec<String> = rows.iter().map(|(_, word, _)| words[*word].to_owned()).collect();
        let notes: Vec<String> = rows.iter().map(|(.., note)| note.clone()).collect();
        fill(&mut form, "decision", &said);
        fill(&mut form, "note", &notes);
        let records = (1..).zip(&rows).map(|(number, (key, ..))| record(number, key, State::Review));
        let found = read(read_back(&form), records.collect());
        prop_assert_eq!(&found.refused, &[]);
        let decided = (2..).zip(&rows).filter(|(_, (_, word, _))| *word > 0);
        let expected: Vec<Decided> = decided
            .map(|(row, (key, word, note))| {
                let decision = if *word == 1 { Decision::Accepted } else { Decision::Rejected };
                // A workbook cannot spell every text; what it holds instead still binds the row.
                let text = |text: &str| unambiguous(text).trim().to_owned();
                let cells = [
                    (row - 1).to_string(),
                    text(Key::new(key).unwrap().as_str()),
                    JUDGED.to_owned(),
                    "2".to_owned(),
                    words[*word].trim().to_owned(),
                    text(note),
                    session().to_string(),
                ];
                let record = record(row as usize - 1, key, State::Review);
                Decided { decision, filled: Filled { row, cells }, record }
            })
            .collect();
        prop_assert_eq!(found.undecided, rows.len() - expected.len());
        prop_assert_eq!(found.rows, expected);
    }
}

#[test]
fn does_not_mistake_columns_of_the_list_for_columns_of_the_queue() {
    let form = form(&[row(1, "=HYPERLINK(\"http://evil.kr\")")]);
    let headings: Vec<&str> = form.columns.iter().map(|it| it.heading.as_str()).collect();
    let expected = [
        "id",
        "key",
        "list: Decision",
        "submitted: note",
        "source",
        "rules",
        "facts",
        "excerpt",
        "decision",
        "note",
        "judged",
        "attempt",
        "session",
    ];
    assert_eq!(headings, expected);
    let found = read(read_back(&form), Vec::new());
    assert_eq!((found.undecided, found.rows.len()), (1, 0));
    assert_eq!(super::form(&[]).columns.len(), COLUMNS.len());
}

fn cell(item: &Item, heading: &str) -> Option<FormCell> {
    let row = OfficeRow::of(item, "session").0.into_iter();
    let mut cells = row.filter(|(_, name, _)| name == heading);
    cells.next().map(|(.., cell)| cell)
}

#[test]
fn a_row_shows_list_gate_and_reviewers() {
    let mut item = item(1, "Acme Foods", &[]);
    item.shown = vec![
        shown("City", "Seoul"),
        shown("Area", "4"),
        shown("City", "Busan"),
    ];
    item.panel = Some(json!({"reviewers": [
        {"name": "reader", "votes": [
            {"question": "faithful", "vote": {"doubt": {"quotation": "on Mars"}}},
            {"question": "whole", "vote": {"cleared": "all of it"}},
        ]},
        {"name": "second", "votes": [
            {"question": "faithful", "vote": {"unsure": {"quotation": "in 1650"}}},
        ]},
        {"name": "third", "votes": 7},
    ]}));
    for (heading, text) in rows! {
        "list: City" => "Seoul\nBusan";
        "list: Area" => "4";
        "facts" => "REVIEW reviewers-doubt (2 times)\nexpected: cleared\nactual: doubted";
        "reviewers" => "reader doubts faithful: \"on Mars\"\nsecond asks faithful: \"in 1650\"";
    } {
        assert_eq!(cell(&item, heading), Some(FormCell::text(text)));
    }
}

#[test]
fn the_source_is_a_web_url() {
    let page = ("page", "https://acme.co.kr/page");
    let source = |text: &str, location: Option<&str>| {
        let mut item = item(1, "Acme Foods", &[("source", text), page]);
        item.facts[0].fact.location = location.map(Into::into);
        match cell(&item, "source") {
            Some(FormCell::Link(url)) => Some(url.clone()),
            _ => None,
        }
    };
    let at = Some("https://acme.co.kr/at");
    let of = |text: &str| Some(text.to_owned());
    assert_eq!(
        source(" https://acme.co.kr/a ", at),
        of("https://acme.co.kr/a")
    );
    for other in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "notes.md",
        "--help",
    ] {
        assert_eq!(source(other, at), of("https://acme.co.kr/at"), "{other}");
        let field = of("https://acme.co.kr/page");
        assert_eq!(source(other, Some("notes.md:3")), field, "{other}");
    }
    let mut seen = item(1, "Acme Foods", &[]);
    assert_eq!(seen.source_page(), None);
    seen.pages = vec![SeenPage {
        url: "https://acme.co.kr/asked".parse().unwrap(),
        answer: "status 200".to_owned(),
    }];
    let shown = |seen: &Item| seen.source_page().map(Url::into);
    assert_eq!(shown(&seen), of("https://acme.co.kr/asked"));
    seen.facts[0].excerpt = Some(Excerpt {
        of: "https://acme.co.kr/shown".to_owned(),
        first: 1,
        lines: Vec::new(),
    });
    assert_eq!(shown(&seen), of("https://acme.co.kr/shown"));
}

fn cells(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn headed(headings: &[&str]) -> Filling {
    let mut filling = Filling::default();
    filling.take(1, &cells(&["a title"])).unwrap();
    filling.take(2, &cells(headings)).unwrap();
    filling
}

#[test]
fn finds_headings_in_any_order_and_spelling() {
    let mut filling = headed(&[
        "NOTE ", "who", "Decision", "ＩＤ", " key", "Attempt", "session", "judged",
    ]);
    let row = cells(&["n", "w", " accept ", "3", "k", "1"]);
    filling.take(3, &row).unwrap();
    let rows = filling.finish().unwrap();
    assert_eq!(rows[0].cells, ["3", "k", "", "1", "accept", "n", ""]);
}

#[test]
fn skips_titles_and_refuses_wrong_headings() {
    assert_eq!(places(&cells(&["Decision", "of May"])), Ok(None));
    assert_eq!(places(&[]), Ok(None));
    let missing = places(&cells(&["id", "key", "judged", "note", "decision"]));
    let expected = NotFilled::Missing(vec!["attempt", "session"]);
    assert_eq!(missing, Err(expected));
    let twice = cells(&[&HEADINGS[..], &["Note"]].concat());
    assert_eq!(places(&twice), Err(NotFilled::Twice("note")));
    let none = Filling::default().finish();
    assert_eq!(none, Err(NotFilled::all_missing()));
}

#[test]
fn skips_rows_without_id_and_decision() {
    let mut filling = headed(&HEADINGS);
    filling.take(3, &cells(&["", "total", "3"])).unwrap();
    let decides = cells(&["", "", "", "", "accept"]);
    filling.take(4, &decides).unwrap();
    filling.take(5, &cells(&["1"])).unwrap();
    let rows = filling.finish().unwrap();
    let rows: Vec<u32> = rows.iter().map(|filled| filled.row).collect();
    assert_eq!(rows, [4, 5]);
}

#[test]
fn refuses_an_oversized_sheet() {
    let mut filling = headed(&HEADINGS);
    let note = "n".repeat(1 << 20);
    let decided = cells(&["1", "k", "", "1", "accept", &note]);
    let mut rows = (3..).take(64);
    let refused = rows.find_map(|at| filling.take(at, &decided).err());
    assert_eq!(refused, Some(NotFilled::TooLarge));
}

fn filled(row: u32, id: &str, decision: &str) -> Filled {
    let session = session().to_string();
    let cells = [id, "Acme Foods", JUDGED, "2", decision, "called", &session];
    Filled {
        row,
        cells: cells.map(str::to_owned),
    }
}

fn with(mut filled: Filled, column: Column, text: &str) -> Filled {
    text.clone_into(&mut filled.cells[column as usize]);
    filled
}

fn record(number: usize, key: &str, state: State) -> QuestRecord {
    let id = QuestId::from_index(number - 1).unwrap();
    let line = Span {
        offset: 0,
        length: 1,
    };
    QuestRecord {
        progress: Progress { state, tries: 1 },
        attempts: 2,
        ..QuestRecord::new(&Quest::new(id, Key::new(key).unwrap()), line)
    }
}

/// What becomes of rows in a session of these quests.
fn read(rows: Vec<Filled>, records: Vec<QuestRecord>) -> Sorted {
    let records: BTreeMap<_, _> = records.into_iter().map(|it| (it.id, it)).collect();
    let waiting = records.values().map(|record| Waiting {
        id: record.id,
        key: record.key.clone(),
        attempt: 2,
        effective: Effective::Open,
        since: JUDGED.parse().unwrap(),
        rules: Vec::new(),
    });
    let waiting: Vec<Waiting> = waiting.collect();
    let open = waiting.iter().map(|one| (one.id, one));
    let open = open.filter(|(id, _)| records[id].progress.state == State::Review);
    sorted(rows, session(), &records, &open.collect())
}

#[test]
fn accepts_or_refuses_each_row_with_a_reason() {
    let other = Digest::of(b"other").to_string();
    let long_ago = "2026-01-02T03:04:05Z";
    let reopened = bound(session(), Some(7));
    let row = |decision| filled(2, "1", decision);
    let accepted = |column, text: &str| with(row("accept"), column, text);
    let (yes, no) = (Ok(Decision::Accepted), Ok(Decision::Rejected));
    let open = State::Review;
    for (filled, state, expected) in rows! {
        row("accept"), open => yes;
        row("ACCEPT"), open => yes;
        row("Reject"), open => no;
        row("ａｃｃｅｐｔ"), open => yes;
        row("yes"), open => Err(Why::UnknownWord);
        accepted(Column::Session, &other), open => Err(Why::OtherSession);
        accepted(Column::Note, ""), open => Err(Why::NoNote);
        accepted(Column::Id, "0"), open => Err(Why::NoId);
        accepted(Column::Id, "=3"), open => Err(Why::NoId);
        accepted(Column::Id, "2"), open => Err(Why::UnknownQuest);
        row("accept"), State::Pass => Err(Why::NotOpen);
        row("accept"), State::Todo => Err(Why::NotOpen);
        accepted(Column::Key, "Acme"), open => Err(Why::OtherKey);
        accepted(Column::Attempt, "1"), open => Err(Why::OtherAttempt);
        accepted(Column::Attempt, ""), open => Err(Why::OtherAttempt);
        accepted(Column::Attempt, "2.0"), open => Err(Why::OtherAttempt);
        accepted(Column::Judged, long_ago), open => Err(Why::JudgedAgain);
        accepted(Column::Session, &reopened), open => Err(Why::SettledSince);
    } {
        let found = read(vec![filled.clone()], vec![record(1, "Acme Foods", state)]);
        let decided = found.rows.iter().map(|row| Ok(row.decision));
        let refused = found.refused.iter().map(|row| Err(row.why));
        let found: Vec<Result<Decision, Why>> = decided.chain(refused).collect();
        assert_eq!(found, [expected], "{filled:?}");
    }
    let blank = with(row(""), Column::Note, "");
    let found = read(vec![blank, filled(3, "x", "")], Vec::new());
    assert_eq!((found.undecided, found.refused.len()), (2, 0));
}

#[test]
fn refuses_two_rows_for_the_same_quest() {
    let other = Digest::of(b"other").to_string();
    let rows = vec![
        filled(2, "1", "accept"),
        filled(5, "1", "accept"),
        filled(3, "2", "reject"),
        filled(4, "2", ""),
        filled(6, "3", "accept"),
        // The row of another session is no second one.
        with(filled(7, "3", "accept"), Column::Session, &other),
    ];
    let records = (1..=3).map(|number| record(number, "Acme Foods", State::Review));
    let found = read(rows, records.collect());
    let refused = found.refused.iter().map(|it| (it.row, it.why));
    let twice = [2, 5, 3].map(|row| (row, Why::Twice));
    let expected = [&twice[..], &[(7, Why::OtherSession)]].concat();
    assert_eq!(refused.collect::<Vec<_>>(), expected);
    assert_eq!(found.rows.len(), 1);
    let text = &found.refused[0].text;
    assert_eq!(text, "quest 1 is also in row 5: keep one of the two");
}

#[test]
fn compares_keys_as_far_as_a_sheet_holds_them() {
    assert!(is_same("a  b\r\nc", "a b\nc "));
    assert!(!is_same("ACME", "Acme"));
    let long = "k".repeat(40_000);
    assert!(is_same(&long, &shortened(&long)));
    assert!(is_same("_x\0a", "_x a"));
    assert!(!is_same("x\0a", "x a"));
    assert!(!is_same(&long, &"k".repeat(32_767)));
}
