//! `comail quest new` and `comail quest schema`: where a new quest file begins.

use std::path::Path;

use serde_json::Value;

use crate::harness::letters::{LETTERS, Letters};

fn as_json(text: &str) -> Value {
    toml::from_str(text).expect("a TOML text")
}

fn schema(letters: &Letters) -> Value {
    let schema = letters.run(["quest", "schema"]).ok();
    serde_json::from_str(&schema).expect("a schema is JSON")
}

#[test]
fn a_new_file_is_proven_as_it_is_written_and_scans() {
    let letters = Letters::with(LETTERS);
    letters.run(["quest", "new", "my-letters"]).ok();
    let text = letters.run(["quest", "check", "my-letters.toml"]).ok();
    assert!(text.contains("4 controls, each as it must"), "{text}");
    letters
        .run(["scan", "list.jsonl", "--quest", "my-letters.toml"])
        .ok();
    let next = letters.run(["next"]).ok();
    assert!(
        next.contains("Read the letter one") && next.contains("10 EUR"),
        "{next}"
    );
    let right = [
        "submit",
        "--letter=one",
        "--total=10",
        "--quote=please pay 10 EUR",
    ];
    letters.run(right).ok();
    let wrong = [
        "submit",
        "--letter=two",
        "--total=10",
        "--quote=please pay 10 EUR",
    ];
    letters.run(wrong).exits(5);
}

#[test]
fn a_new_file_replaces_none_and_has_a_name_that_can_be() {
    let letters = Letters::with(LETTERS);
    let run = letters.run(["quest", "new", "letters"]);
    assert_eq!(run.code, 1, "{run:?}");
    let kept = std::fs::read_to_string(letters.place.at("letters.toml"));
    assert_eq!(kept.expect("the file"), LETTERS);
    for bad in ["My Letters", "../letters", ""] {
        let run = letters.run(["quest", "new", bad]);
        assert_eq!(run.code, 2, "{run:?}");
    }
    letters
        .run(["quest", "new", "letters", "--out", "other.toml"])
        .ok();
    assert!(letters.place.at("other.toml").exists());
}

#[test]
fn the_schema_knows_every_quest_file_there_is() {
    let letters = Letters::with(LETTERS);
    letters.run(["quest", "new", "starter"]).ok();
    let schema = schema(&letters);
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let starter = std::fs::read_to_string(letters.place.at("starter.toml")).expect("the starter");
    let mut files = vec![LETTERS.to_owned(), starter];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quests");
    let entries = std::fs::read_dir(fixtures).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    files.extend(paths.map(|path| std::fs::read_to_string(path).expect("a fixture")));
    for file in files {
        let wrong: Vec<_> = validator
            .iter_errors(&as_json(&file))
            .map(|it| it.to_string())
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}\n{file}");
    }
}

#[test]
fn the_schema_knows_mistakes() {
    let letters = Letters::with(LETTERS);
    let schema = schema(&letters);
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    for (from, to) in [
        ("about =", "abuot ="),
        ("anchor =", "anchr ="),
        ("unit = \"letter\"\n", ""),
        ("unit = \"letter\"", "unit = 7"),
        ("kind = \"number\"", "kind = \"nubmer\""),
        ("kind = \"command\"", "kind = \"comand\""),
        ("kind = \"matches\"\n", ""),
        ("timeout =", "tiemout ="),
        ("pattern =", "patern ="),
        ("level = \"review\"", "level = \"warn\""),
        ("verdict = \"PASS\"", "verdict = \"OK\""),
        ("fires =", "fire ="),
    ] {
        let text = LETTERS.replacen(from, to, 1);
        assert!(!validator.is_valid(&as_json(&text)), "{to}");
    }
}
