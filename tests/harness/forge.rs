//! Forged ledgers, as a process of the session's own user could write them.

use std::fs;
use std::path::Path;

use comail::session::{Event, EventType, Line, Salt, Tip};
use serde_json::Value;
use serde_json::value::RawValue;

/// Rewrites the ledger of `session` with a valid chain, each event as `edit` leaves it and without
/// the lines for which it returns `false`. The index is removed.
///
/// `edit` gets the number of the line, from 1.
#[track_caller]
pub fn rewrite(session: &Path, edit: impl FnMut(usize, &mut Event) -> bool) {
    rewrite_with(session, edit, Vec::new());
}

/// The same, with further events behind the last line.
#[track_caller]
pub fn rewrite_with(
    session: &Path,
    mut edit: impl FnMut(usize, &mut Event) -> bool,
    more: Vec<Event>,
) {
    let path = session.join("ledger.jsonl");
    let text = fs::read_to_string(&path).expect("a ledger");
    let mut events: Vec<Event> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut event = event(line);
        if edit(index + 1, &mut event) {
            events.push(event);
        }
    }
    events.extend(more);
    fs::write(&path, chained(&events)).expect("a ledger");
    fs::remove_file(session.join("index.sqlite")).ok();
}

/// Appends a line with a valid chain to the ledger.
#[track_caller]
pub fn append(session: &Path, event: &Event) {
    let path = session.join("ledger.jsonl");
    let mut text = fs::read_to_string(&path).expect("a ledger");
    let at = "2026-12-02T03:04:05.678Z".parse().expect("a time");
    let line = Line::next(tip(session), at, Salt([7; 16]), event).expect("a line");
    text.extend([line.text(), "\n"]);
    fs::write(&path, text).expect("a ledger");
}

#[track_caller]
pub fn tip(session: &Path) -> Tip {
    let text = fs::read_to_string(session.join("ledger.jsonl")).expect("a ledger");
    let last = text.lines().last().expect("a line");
    Line::parse_unchained(last).expect("a ledger line").tip()
}

#[track_caller]
pub fn event(line: &str) -> Event {
    #[derive(serde::Deserialize)]
    struct Form {
        r#type: String,
        body: Box<RawValue>,
    }

    let form: Form = serde_json::from_str(line).expect("a ledger line");
    let kind = form.r#type.parse::<EventType>().expect("a type");
    Event::parse(kind, form.body.get()).expect("an event")
}

#[track_caller]
pub fn events(session: &Path) -> Vec<Event> {
    let text = fs::read_to_string(session.join("ledger.jsonl")).expect("a ledger");
    text.lines().map(event).collect()
}

/// A value with another text in place of each `from`; there must be one.
#[track_caller]
pub fn replaced(value: &RawValue, from: &str, to: &str) -> Box<RawValue> {
    assert!(value.get().contains(from), "no {from} in {value}");
    RawValue::from_string(value.get().replace(from, to)).expect("JSON")
}

/// Rewrites a line of the session's ledger, by number from 0, as if it had been redacted: `edit`
/// changes the body, and the line keeps its length, so that the index still fits.
///
/// The body is that of an attempt with fields; its source is filled up or cut.
#[track_caller]
pub fn blot_in_place(session: &Path, number: usize, edit: impl FnOnce(&mut Value)) {
    let path = session.join("ledger.jsonl");
    let text = fs::read_to_string(&path).expect("a ledger");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = Line::parse_unchained(&lines[number]).expect("a line");
    let mut body: Value = serde_json::from_str(line.body()).expect("a body");
    edit(&mut body);
    body["submission"]["fields"]["source"] = "".into();
    let bare = line.with_body(&body.to_string()).text().len();
    let missing = lines[number].len().checked_sub(bare).expect("room");
    body["submission"]["fields"]["source"] = "z".repeat(missing).into();
    let forged = line.with_body(&body.to_string()).text().to_owned();
    assert_eq!(forged.len(), lines[number].len());
    lines[number] = forged;
    fs::write(&path, lines.join("\n") + "\n").expect("a ledger");
}

/// The number, from 0, of the first line of this text.
#[track_caller]
pub fn line_with(session: &Path, parts: &[&str]) -> usize {
    let text = fs::read_to_string(session.join("ledger.jsonl")).expect("a ledger");
    let is_it = |line: &str| parts.iter().all(|part| line.contains(part));
    text.lines().position(is_it).expect("such a line")
}

/// The findings of an audit, each as `kind line quest`, with `-` for what it does not name.
pub fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().expect("findings");
    let findings = findings.iter().map(|finding| {
        let kind = finding["kind"].as_str().expect("a kind");
        let number = |name: &str| finding[name].as_u64().map_or("-".into(), |n| n.to_string());
        format!("{kind} {} {}", number("line"), number("quest"))
    });
    findings.collect()
}

fn chained(events: &[Event]) -> String {
    let at = "2026-01-02T03:04:05.678Z".parse().expect("a time");
    let mut tip = Tip::start();
    let mut text = String::new();
    for event in events {
        let line = Line::next(tip, at, Salt([7; 16]), event).expect("a line");
        tip = line.tip();
        text.extend([line.text(), "\n"]);
    }
    text
}
