//! An agent that puts something in the way of the folder in which a script is run.

use std::fs;

use serde_json::Value;

use crate::harness::letters::Letters;

const FILE: &str = r#"name = "answers"
unit = "letter"

[input]
key = ["letter"]

[tree]
root = "tree"
write = ["**"]

[prompt]
text = "Answer {{ key }}."

[[field]]
name = "answer"
kind = "text"

[[check]]
name = "judged"
kind = "script"
script = "judge.sh"
interpreter = ["sh"]

[[control]]
name = "right"
key = "one"
submit = { answer = "good" }
verdict = "PASS"

[[control]]
name = "wrong"
key = "one"
submit = { answer = "bad" }
verdict = "FAIL"
fires = ["judged"]
"#;

fn scanned() -> Letters {
    let letters = Letters::with(FILE);
    letters
        .place
        .write("judge.sh", "grep -q '\"answer\":\"good\"'\n");
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    let scan = ["scan", "list.jsonl", "--quest", "letters.toml"];
    letters.run(scan).ok();
    letters
}

/// The verdict on a good answer, and where its first fact is.
fn submit(letters: &Letters) -> (Value, Value) {
    let (_, answer) = letters.json(["submit", "--letter=one", "--answer=good"]);
    (
        answer["verdict"].clone(),
        answer["facts"][0]["location"].clone(),
    )
}

#[test]
fn what_stands_in_the_way_of_a_script_is_wrong_and_not_left_to_a_person() {
    let letters = scanned();
    letters.place.write("tree/.comail", "in the way\n");
    assert_eq!(submit(&letters), ("FAIL".into(), ".comail".into()));
    fs::remove_file(letters.place.at("tree/.comail")).expect("a file");
    std::os::unix::fs::symlink("/tmp", letters.place.at("tree/.comail")).expect("a link");
    assert_eq!(submit(&letters), ("FAIL".into(), ".comail".into()));
    fs::remove_file(letters.place.at("tree/.comail")).expect("a link");
    letters.place.write("tree/notes", "beside it\n");
    assert_eq!(submit(&letters).0, "PASS");
    letters.run(["audit"]).ok();
}
