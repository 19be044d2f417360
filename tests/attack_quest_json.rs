//! JSON that says one thing to the gate and another to whoever reads it next.

use std::fs;

use crate::harness::shell_quest::{Said, ShellQuest, said};
use crate::harness::{Place, Run};

const QUEST: &str = r#"name = "manifests"
unit = "task"
[input]
format = "lines"
[tree]
write = ["in/**"]
[prompt]
text = "{{ key }}"
[[field]]
name = "file"
kind = "file"
[[field]]
name = "more"
kind = "json"
[[check]]
name = "form"
kind = "json-schema"
path = "{{ field.file }}"
[check.schema]
required = ["paid"]
properties = { paid = { const = true } }
[[check]]
name = "more-form"
kind = "json-schema"
field = "more"
schema = { type = "object" }
[[check]]
name = "signed"
kind = "command"
argv = ["grep", "-q", "paid", "--", "{{ field.file }}"]
[[control]]
name = "right"
key = "a"
submit = { file = "in/right.json", more = "{}" }
verdict = "PASS"
[[control]]
name = "wrong"
key = "a"
submit = { file = "in/wrong.json", more = "{}" }
verdict = "FAIL"
fires = ["form"]
[[control]]
name = "wrong-too"
key = "a"
submit = { file = "in/right.json", more = "[]" }
verdict = "FAIL"
fires = ["more-form"]
[[control]]
name = "unsigned"
key = "a"
submit = { file = "in/unsigned.json", more = "{}" }
verdict = "FAIL"
fires = ["signed"]
"#;

fn scanned() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.at("tree/in")).expect("a folder");
    place.write("tree/in/right.json", r#"{"paid": true}"#);
    place.write("tree/in/wrong.json", r#"{"paid": false}"#);
    place.write("tree/in/unsigned.json", r#"{"\u0070aid": true}"#);
    place.write("list.txt", "one\ntwo\n");
    place.write("quest.toml", QUEST);
    let scan = ["scan", "list.txt", "--quest=quest.toml", "--tree=tree"];
    Run::of(place.command().env("PATH", "/usr/bin:/bin").args(scan)).ok();
    place
}

fn submits(place: &Place, manifest: &str, more: &str) -> Said {
    place.write("tree/in/try.json", manifest);
    let more = format!("--more={more}");
    said(place.json(["submit", "--id=1", "--file=in/try.json", &more]))
}

#[test]
fn a_manifest_that_says_two_things_is_refused() {
    let place = scanned();
    let said = submits(&place, "{\n\"paid\": false,\n\"paid\": true}", "{}");
    assert_eq!(
        (said.verdict.as_str(), said.rules),
        ("FAIL", vec!["form".to_owned()])
    );
    let fact = &said.all["facts"][0];
    assert_eq!(fact["location"], "in/try.json:3:6", "{fact:#}");
    assert!(
        fact["actual"]
            .as_str()
            .is_some_and(|it| it.contains("twice")),
        "{fact:#}"
    );
    let said = submits(&place, r#"{"paid": true}"#, r#"{"a": 1, "\u0061": 2}"#);
    assert_eq!(
        (said.verdict.as_str(), said.rules),
        (
            "FAIL",
            ["field-format", "more-form"].map(str::to_owned).to_vec()
        )
    );
    let once = submits(
        &place,
        r#"{"paid": true, "by": {"paid": true}}"#,
        r#"{"a": 1, "b": 2}"#,
    );
    assert_eq!(once.verdict, "PASS", "{:#}", once.all);
}

#[test]
fn a_submission_that_says_a_field_twice_is_not_submitted() {
    let quest = ShellQuest::new("10s");
    let submit = |answer: &str| {
        quest.place.write("answer.json", answer);
        quest.place.run(["submit", "--id=1", "--in=answer.json"])
    };
    for answer in [
        r#"{"file": "in/no.sh", "file": "in/yes.sh"}"#,
        r#"{"file": "in/yes.sh", "f\u0069le": "in/yes.sh"}"#,
        "{\"file\": \"in/yes.sh\", \"file\": [{}]}",
    ] {
        let run = submit(answer);
        assert_eq!(run.code, 2, "{answer}: {run:?}");
        assert!(run.stderr.contains("\"file\" twice"), "{answer}: {run:?}");
    }
    assert!(quest.place.attempts().is_empty());
    assert_eq!(submit(r#"{"file": "in/yes.sh"}"#).code, 0);
}

#[test]
fn a_member_of_a_submitted_object_that_stands_twice_is_not_submitted() {
    let place = scanned();
    place.write(
        "answer.json",
        r#"{"file": "in/right.json", "more": {"a": {"b": 1, "b": 2}}}"#,
    );
    let run = place.run(["submit", "--id=1", "--in=answer.json"]);
    assert_eq!(run.code, 2, "{run:?}");
    run.says("\"b\" twice");
    assert!(place.attempts().is_empty());
}
