//! `comail schema`: what is published, and that it says what is so.
//!
//! That everything the program prints fits is held by the harness, wherever a test has it print
//! JSON.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use comail::cli::schema::{DOCUMENTS, Document};
use comail::quest::email;
use serde_json::{Value, json};

use crate::harness::Place;
use crate::harness::schemas::{Validator, closed, document, errors};

/// Where the schemas are published.
fn published() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/schemas"))
}

/// A name that is gone, or that means something else, breaks whoever reads it: it has to be meant.
#[test]
fn what_is_published_is_what_the_program_says() {
    let place = Place::new();
    let (code, written) = place.json(["schema", "--out", "new"]);
    assert_eq!((code, &written["directory"]), (0, &json!("new")));
    let files = |dir: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(dir).expect("a directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|name| name.to_string_lossy().into()).collect()
    };
    let renew = "`comail schema --out fixtures/schemas` publishes them anew";
    assert_eq!(files(&place.at("new")), files(published()), "{renew}");
    let places: BTreeSet<&str> = DOCUMENTS.iter().map(|document| document.place).collect();
    assert_eq!(files(published()).len(), DOCUMENTS.len());
    assert_eq!(places.len(), DOCUMENTS.len());
    for file in files(published()) {
        let read = |dir: &Path| fs::read_to_string(dir.join(&file)).expect("a schema");
        let (new, old) = (read(&place.at("new")), read(published()));
        assert!(new == old, "{file} is not as it was published: {renew}");
        // No schema leads out of itself.
        let outside = new.lines().find(|line| {
            line.contains("\"$id\":") || line.contains("\"$ref\":") && !line.contains("\"#/$defs/")
        });
        assert_eq!(outside, None, "{file}");
    }
}

#[test]
fn the_list_names_all_and_each_is_printed() {
    let place = Place::new();
    let (code, listed) = place.json(["schema"]);
    let names = listed["documents"].as_array().expect("a list");
    assert_eq!((code, names.len()), (0, DOCUMENTS.len()));
    let status = fs::read_to_string(published().join("status.schema.json")).expect("a schema");
    assert_eq!(place.run(["schema", "status"]).ok(), status);
    let (_, quest) = place.json(["schema", "quest"]);
    assert_eq!(place.json(["quest", "schema"]), (0, quest));
    let text = place.run(["schema"]).ok();
    insta::assert_snapshot!("schema_list", text);
    let mistyped = place.run(["schema", "statsu"]);
    assert_eq!(mistyped.code, 2);
    mistyped.says("'status'");
}

fn named(name: &str) -> &'static Document {
    Document::named(name).expect("a document")
}

#[test]
fn a_broken_document_is_refused() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let (_, whole) = place.json(["status"]);
    let wrong = |name: &str, value: Value| {
        let mut broken = whole.clone();
        broken[name] = value;
        errors(named("status"), &broken)
    };
    assert_eq!(wrong("total", json!(1)), [""; 0]);
    for (name, value) in [
        ("total", json!("1")),
        ("total", json!(-1)),
        ("head", json!("no digest")),
        ("effective", json!({"passed": 1})),
        ("tally", json!({"todo": 1})),
        ("unheard-of", json!(1)),
    ] {
        assert_ne!(wrong(name, value.clone()), [""; 0], "{name} {value}");
    }
    let mut short = whole.clone();
    short.as_object_mut().expect("an object").remove("tally");
    assert_ne!(errors(named("status"), &short), [""; 0]);
    assert_ne!(errors(named("next"), &whole), [""; 0]);
}

#[test]
fn readers_are_told_to_bear_new_members_and_tests_are_not() {
    let open = named("claims").schema(&email::kind()).to_value();
    let value = json!({"claims": [], "later": {"a": 1}});
    assert!(Validator::new(&open).is_valid(&value));
    assert!(!Validator::new(&closed(&open)).is_valid(&value));
    let nested = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"oneOf": [{"properties": {"b": true}}]}}});
    let nested = Validator::new(&closed(&nested));
    assert!(nested.is_valid(&json!({"a": {"b": {"any": 1}}})));
    assert!(!nested.is_valid(&json!({"a": {"c": 1}})));
}

#[test]
fn a_command_line_leads_to_the_document_of_its_form() {
    let name = |args: &[&str]| document(args).map(|document| document.name);
    assert_eq!(name(&["--json", "status"]), Some("status"));
    assert_eq!(name(&["review", "accept", "3"]), Some("review-accept"));
    assert_eq!(name(&["review", "--import=a.xlsx"]), Some("review-import"));
    assert_eq!(name(&["review"]), Some("review"));
    assert_eq!(
        name(&["quest", "prove", "--reviewers"]),
        Some("quest-prove-reviewers")
    );
    assert_eq!(name(&["schema", "status"]), None);
    assert_eq!(name(&["unheard-of"]), None);
}

#[test]
fn what_lies_in_a_session_is_as_it_says_and_so_is_what_it_asks_for() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let kept = fs::read(place.at(".comail/session.json")).expect("a session");
    let kept: Value = serde_json::from_slice(&kept).expect("JSON");
    assert_eq!(errors(named("session"), &kept), [""; 0]);
    let ledger = String::from_utf8(place.ledger()).expect("UTF-8");
    for line in ledger.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(errors(named("log"), &line), [""; 0]);
    }
    let (_, submission) = place.json(["schema", "submission"]);
    assert_eq!(submission["required"], json!(["site", "email", "source"]));
}

#[test]
fn nothing_is_written_into_a_session_whichever_it_is() {
    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let other = ["--session", "other", "scan", "companies.txt"];
    place.run(other).ok();
    let files = |dir: &str| fs::read_dir(place.at(dir)).expect("a session").count();
    let before = (files(".comail"), files("other"));
    for words in [
        &["schema", "--out", ".comail"][..],
        &["schema", "status", "--out", "other/new"],
        &["man", "--out=.comail/x"],
        &["man", "--out=other"],
        &["export", "--session", "other", "--out=.comail/out.csv"],
        &["export", "--out=other/out.csv", "--force"],
        &["report", "--out=other/out.html"],
        &["review", "--export", "other/out.xlsx"],
        &["demo", "--out", "other/new"],
    ] {
        let run = place.run(words);
        run.says(" session, where only comail writes");
        assert_eq!(run.exits(2), "");
    }
    assert_eq!((files(".comail"), files("other")), before);
    let no_session = Place::new();
    no_session.run(["man", "--out=.comail/x"]).exits(2);
    assert!(!no_session.at(".comail").exists());
}

#[test]
fn no_planted_link_is_written_through() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    place.scan(&["Acme"], &[]);
    let ledger = place.ledger();
    fs::create_dir(place.at("out")).expect("a directory");
    place.write("theirs", "theirs");
    symlink(".comail", place.at("way")).expect("a link");
    for words in [&["schema", "--out", "way"][..], &["man", "--out=way/man"]] {
        place.run(words).exits(2);
    }
    for (target, code) in [
        ("../.comail/ledger.jsonl", 1),
        ("../theirs", 1),
        ("../none", 1),
    ] {
        for (name, words) in [
            ("status.schema.json", &["schema", "--out", "out"][..]),
            ("comail-next.1", &["man", "--out=out"]),
        ] {
            let link = place.at("out").join(name);
            symlink(target, &link).expect("a link");
            let run = place.run(words);
            run.says("is a symbolic link");
            assert_eq!(run.exits(code), "");
            fs::remove_file(&link).expect("still the link");
        }
    }
    assert_eq!(
        fs::read_dir(place.at("out")).expect("a directory").count(),
        0
    );
    assert_eq!(fs::read(place.at("theirs")).expect("a file"), b"theirs");
    assert!(place.ledger() == ledger && !place.at("none").exists());
    // Out of the session through a link that was put there for an export.
    symlink(".comail/new.csv", place.at("out.csv")).expect("a link");
    place.run(["export", "--out=out.csv", "--force"]).exits(2);
}

fn patterns_in(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            found.extend(
                members
                    .get("pattern")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members.values().for_each(|value| patterns_in(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| patterns_in(value, found)),
        _ => {}
    }
}

#[test]
fn patterns_mean_the_same_to_python_and_to_javascript() {
    let mut patterns = BTreeSet::new();
    for document in DOCUMENTS {
        patterns_in(&document.schema(&email::kind()).to_value(), &mut patterns);
    }
    let worker = patterns.iter().position(|pattern| pattern.contains("1,64"));
    let texts = [
        "w1",
        "김.1:@x-_",
        "é",
        "",
        "a b",
        "a/b",
        "a\\b",
        "{a}",
        "[a]",
    ];
    let asked = json!({"patterns": patterns, "texts": texts}).to_string();
    let matches = |program: &str, flag: &str, script: &str| -> Value {
        let mut child = Command::new(program)
            .args([flag, script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`.ci/tools` installs it");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(asked.as_bytes()).expect("written");
        drop(stdin);
        let output = child.wait_with_output().expect("an end");
        serde_json::from_slice(&output.stdout).expect("each pattern is one of its language")
    };
    let python = matches(
        "python3",
        "-c",
        "import json, re, sys; asked = json.load(sys.stdin); print(json.dumps([[bool(re.search(pattern, \
         text)) for text in asked['texts']] for pattern in asked['patterns']]))",
    );
    let javascript = matches(
        "node",
        "-e",
        "const asked = JSON.parse(require('fs').readFileSync(0)); console.log(JSON.stringify(\
         asked.patterns.map((it) => asked.texts.map((text) => new RegExp(it).test(text)))))",
    );
    assert_eq!(python, javascript);
    let names = [true, true, true, false, false, false, false, false, false];
    assert_eq!(python[worker.expect("a worker's name")], json!(names));
}
