//! Mistakes in quest files: the message names file, line and column, and what was expected.

use serde::Deserialize;

use crate::harness::letters::{LETTERS, Letters};

#[derive(Deserialize)]
struct Table {
    cases: Vec<Vec<String>>,
}

/// Where `at` begins in `text`, as line and column.
fn place_of(text: &str, at: &str) -> (usize, usize) {
    let start = text.find(at).unwrap_or_else(|| panic!("{at:?} in {text}"));
    let before = &text[..start];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[test]
fn each_mistake_is_reported_with_its_place() {
    let letters = Letters::with(LETTERS);
    let mut wrong = Vec::new();
    let table: Table =
        toml::from_str(include_str!("quest_mistakes/cases.toml")).expect("the table");
    for case in &table.cases {
        let [from, to, at, words @ ..] = case.as_slice() else {
            panic!("{case:?} is too short");
        };
        assert!(
            LETTERS.contains(from.as_str()) && !words.is_empty(),
            "{from}"
        );
        let text = LETTERS.replacen(from, to, 1);
        letters.place.write("letters.toml", &text);
        let run = letters.check();
        let (line, column) = place_of(&text, at);
        let start = format!("error: letters.toml:{line}:{column}: ");
        let once = run.stderr.matches("letters.toml").count() == 1;
        let told = words.iter().all(|word| run.stderr.contains(word.as_str()));
        if run.code != 2 || !run.stderr.starts_with(&start) || !told || !once {
            wrong.push(format!(
                "{to}\n  {start}{words:?}\n  {}: {}",
                run.code, run.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scan_reports_the_same_mistake_and_creates_no_session() {
    let letters = Letters::with(&LETTERS.replace("timeout", "tiemout"));
    let checked = letters.check();
    let scanned = letters.scan();
    assert_eq!((scanned.code, &scanned.stderr), (2, &checked.stderr));
    assert!(!letters.has_session());
}

#[test]
fn a_missing_column_is_reported_with_the_existing_ones() {
    let other = LETTERS.replace("\"text\"]", "\"body\"]");
    let other = other
        .replace("input.text", "input.body")
        .replace("{ text", "{ body");
    let letters = Letters::with(&other);
    let run = letters.scan();
    run.says("body");
    run.says("`text`");
    assert_ne!(run.code, 0);
    assert!(!letters.has_session());
}

#[test]
fn a_missing_or_binary_quest_file_is_an_error() {
    let letters = Letters::with(LETTERS);
    for bytes in [None, Some(&b"\xff\xfe"[..])] {
        if let Some(bytes) = bytes {
            letters.place.write("other.toml", bytes);
        }
        let run = letters.run(["quest", "check", "other.toml"]);
        assert_eq!(run.code, 1, "{run:?}");
        run.says("cannot read the quest file other.toml");
    }
}
