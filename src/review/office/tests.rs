//! Rows, written into a workbook and read back out of it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use url::Url;

use super::*;
use crate::base::Digest;
use crate::gate::{Fact, Level, RuleId};
use crate::quest::{FieldName, Key, QuestId, Shown, Submission};
use crate::review::{Item, SeenFact};
use crate::session::{Decision, Effective};
use crate::table::new_workbook::write_form;
use crate::table::new_workbook::{Form, FormCell};
use crate::table::{HeaderChoice, List, ReadError, ReadOptions};

const SESSION: &[u8] = b"session";

fn row(number: usize, key: &str) -> OfficeRow {
    OfficeRow {
        id: QuestId::from_index(number - 1).unwrap(),
        key: Key::new(key).unwrap(),
        attempt: 2,
        since: Timestamp::from_millisecond(1_700_000_000_001).unwrap(),
        settled: None,
        shown: vec![("Decision".to_owned(), "reject".to_owned())],
        fields: BTreeMap::from([("note".to_owned(), "=1+1".to_owned())]),
        nothing: String::new(),
        rules: "email-obfuscated".to_owned(),
        facts: "REVIEW email-obfuscated".to_owned(),
        excerpt: "in https://acme.co.kr/".to_owned(),
        doubts: String::new(),
        source: None,
    }
}

fn fill(form: &mut Form, heading: &str, texts: &[String]) {
    let columns = form.columns.iter();
    let headings: Vec<&str> = columns.map(|column| column.heading.as_str()).collect();
    let at = headings.iter().position(|it| *it == heading).unwrap();
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
    fn what_is_filled_in_comes_back_with_what_its_row_binds(
        rows in prop::collection::vec((texts(), 0_usize..3, texts()), 1..5),
    ) {
        let words = ["", "accept", "Reject "];
        let queue: Vec<OfficeRow> =
            (1..).zip(&rows).map(|(number, (key, ..))| self::row(number, key)).collect();
        let session = Digest::of(SESSION);
        let mut form = form(&queue, session);
        let said: Vec<String> = rows.iter().map(|(_, word, _)| words[*word].to_owned()).collect();
        let notes: Vec<String> = rows.iter().map(|(.., note)| note.clone()).collect();
        fill(&mut form, "decision", &said);
        fill(&mut form, "note", &notes);
        let decisions = decisions(read_back(&form), session);
        prop_assert_eq!(&decisions.refused, &[]);
        let decided = rows.iter().zip(&queue).filter(|((_, word, _), _)| *word > 0);
        let expected: Vec<Decided> = decided
            .map(|((_, word, note), row)| Decided {
                row: u32::try_from(row.id.index()).unwrap() + 2,
                quest: row.id,
                // A workbook cannot spell every text; what it holds instead still binds the row.
                key: unambiguous(row.key.as_str()).trim().to_owned(),
                attempt: "2".to_owned(),
                judged: row.since.to_string(),
                settled: String::new(),
                decision: if *word == 1 { Decision::Accepted } else { Decision::Rejected },
                note: unambiguous(note).trim().to_owned(),
            })
            .collect();
        prop_assert_eq!(decisions.undecided, rows.len() - expected.len());
        prop_assert_eq!(decisions.decided, expected);
    }
}

#[test]
fn columns_of_the_list_and_fields_are_never_taken_for_those_of_the_queue() {
    let form = form(
        &[row(1, "=HYPERLINK(\"http://evil.kr\")")],
        Digest::of(SESSION),
    );
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
    let decisions = decisions(read_back(&form), Digest::of(SESSION));
    assert_eq!((decisions.undecided, decisions.decided.len()), (1, 0));
}

fn item(source: &str, location: Option<&str>) -> Item {
    let fields = [("source", source), ("page", "https://acme.co.kr/page")];
    let fields = fields.map(|(name, text)| (FieldName::known(name), text.to_owned()));
    let shown = |label: &str, text: &str| Shown {
        label: label.to_owned(),
        text: text.to_owned(),
    };
    let fact = Fact {
        cause: crate::gate::Cause::Wrong,
        rule: RuleId::known("reviewers-doubt"),
        level: Level::Review,
        field: None,
        location: location.map(Into::into),
        expected: "cleared".to_owned(),
        actual: "doubted".to_owned(),
        count: 2,
    };
    Item {
        id: QuestId::FIRST,
        key: Key::new("Acme Foods").unwrap(),
        rows: vec![2],
        anchor: None,
        known: Vec::new(),
        shown: vec![
            shown("City", "Seoul"),
            shown("Area", "4"),
            shown("City", "Busan"),
        ],
        effective: Effective::Open,
        attempt: 1,
        since: Timestamp::UNIX_EPOCH,
        submission: Submission::Fields(BTreeMap::from(fields)),
        facts: vec![SeenFact {
            fact,
            excerpt: None,
        }],
        pages: Vec::new(),
        checks: Vec::new(),
        panel: Some(json!({"reviewers": [
            {"name": "reader", "votes": [
                {"question": "faithful", "vote": {"doubt": {"quotation": "on Mars"}}},
                {"question": "whole", "vote": {"cleared": "all of it"}},
            ]},
            {"name": "second", "votes": [
                {"question": "faithful", "vote": {"unsure": {"quotation": "in 1650"}}},
            ]},
            {"name": "third", "votes": 7},
        ]})),
        again: Vec::new(),
        earlier: Vec::new(),
        settlements: Vec::new(),
        disputes: Vec::new(),
        damage: None,
    }
}

#[test]
fn a_row_tells_what_the_gate_and_the_reviewers_said() {
    let row = OfficeRow::of(&item("https://acme.co.kr/a", None));
    let shown = [("City", "Seoul\nBusan"), ("Area", "4")];
    let shown = shown.map(|(label, text)| (label.to_owned(), text.to_owned()));
    assert_eq!(row.shown, shown);
    assert_eq!(
        row.facts,
        "REVIEW reviewers-doubt (2 times)\nexpected: cleared\nactual: doubted"
    );
    assert_eq!(
        row.doubts,
        "reader doubts faithful: \"on Mars\"\nsecond asks faithful: \"in 1650\""
    );
}

#[test]
fn the_source_is_an_address_of_the_web_or_none() {
    let source = |text: &str, location: Option<&str>| {
        let row = OfficeRow::of(&item(text, location));
        row.source.as_ref().map(Url::to_string)
    };
    let at = Some("https://acme.co.kr/at");
    let of = |text: &str| Some(text.to_owned());
    assert_eq!(
        source(" https://acme.co.kr/a ", at),
        of("https://acme.co.kr/a")
    );
    for other in ["javascript:alert(1)", "file:///etc/passwd", "notes.md"] {
        assert_eq!(source(other, at), of("https://acme.co.kr/at"), "{other}");
        let field = of("https://acme.co.kr/page");
        assert_eq!(source(other, Some("notes.md:3")), field, "{other}");
    }
}
