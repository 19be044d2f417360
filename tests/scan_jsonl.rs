//! Lists of JSON Lines: scanned, worked on and exported.

use serde_json::{Value, json};

use crate::harness::Place;
use crate::sheets::{keys, rows};

const LIST: &str = r#"{"company":"Acme Foods","size": 1.50,"tags":["a", "b"]}

{"company":"Bolt Toys","email":"old@bolt.kr"}
{"company":" ","size":3}
"#;

fn scanned() -> Place {
    let place = Place::new();
    place.write("list.jsonl", LIST);
    let args = [
        "scan",
        "list.jsonl",
        "--col=company",
        "--show=tags",
        "--pause-after=0",
    ];
    let text = place.run(args).ok();
    assert!(text.contains("headed by the keys"), "{text}");
    place
}

fn exported(place: &Place, args: &[&str]) -> String {
    place.run([&["export"], args].concat()).ok();
    std::fs::read_to_string(place.at(args[0])).expect("an export")
}

#[test]
fn each_object_is_a_quest() {
    let place = scanned();
    assert_eq!(keys(&place), ["Acme Foods", "Bolt Toys"]);
    let expected: [&[u64]; 2] = [&[1], &[3]];
    assert_eq!(rows(&place), expected);
    assert!(place.at(".comail/source.jsonl").is_file());
    let (code, answer) = place.json(["next"]);
    let shown = json!([{"label": "tags", "text": "[\"a\",\"b\"]"}]);
    assert_eq!((code, &answer["quest"]["shown"]), (0, &shown));
}

#[test]
fn objects_keep_what_they_hold_and_gain_the_results() {
    let place = scanned();
    assert_eq!(place.give_up(2), 5);
    let (_, answer) = place.json(["export", "--columns=email,status,tries"]);
    assert_eq!(answer["path"], "list.comail.jsonl");
    let text = std::fs::read_to_string(place.at("list.comail.jsonl")).expect("an export");
    let first = r#"{"company":"Acme Foods","size":1.50,"tags":["a", "b"],"email (comail)":null,"status":"TODO","tries":0}"#;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, first));
    let second: Value = serde_json::from_str(lines[1]).expect("an object");
    assert_eq!(
        (&second["email"], &second["tries"]),
        (&json!("old@bolt.kr"), &json!(1))
    );
    let third: Value = serde_json::from_str(lines[2]).expect("an object");
    assert_eq!(third["status"], Value::Null);
}

#[test]
fn as_a_table_the_keys_are_the_headings() {
    let place = scanned();
    let text = exported(&place, &["out.csv", "--columns=status"]);
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(
        lines,
        [
            "company,size,tags,email,status",
            r#"Acme Foods,1.50,"[""a"",""b""]",,TODO"#,
            "Bolt Toys,,,old@bolt.kr,TODO",
            ",3,,,",
        ]
    );
    place.run(["export", "out.xlsx"]).ok();
    let cells = crate::sheets::cells(&place.at("out.xlsx"), "comail");
    assert_eq!(crate::sheets::texts(&cells, 1, 1), ["company", "size"]);
    assert_eq!(crate::sheets::texts(&cells, 3, 1), ["Bolt Toys", ""]);
}

#[test]
fn a_line_that_is_no_object_makes_no_session() {
    let place = Place::new();
    place.write("list.jsonl", "{\"a\":1}\n{\"a\" 2}\n");
    let run = place.run(["scan", "list.jsonl", "--col=a"]);
    assert_eq!(run.code, 1);
    run.says("list.jsonl: line 2, column 6: expected `:`");
    assert!(!place.at(".comail").exists());
}
