//! An agent that puts something in the way of a script, or has it say what nobody can read.

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

/// A script that repeats what it was told in ways that are hard to read.
const REPEATS: &str = r#"told=$(cat)
case $told in
*flood*) head -c 5000 /dev/zero | tr '\0' x ;;
*lone*) printf '%s' '{"verdict":"FAIL","facts":[{"expected":"a text","actual":"it says \ud83d."}]}' ;;
*byte*) printf '{"verdict":"FAIL","facts":[{"expected":"a text","actual":"it says \377."}]}' ;;
*broken*) printf '{"verdict":"FAIL"' ;;
*'"answer":"good'*) ;;
*) exit 1 ;;
esac
"#;

#[test]
fn what_a_submission_has_a_script_say_is_wrong_and_not_left_to_a_person() {
    let capped = "interpreter = [\"sh\"]\noutput_cap = \"2 KiB\"";
    let file = FILE.replace("interpreter = [\"sh\"]", capped);
    let letters = Letters::with(&format!("max_tries = 9\n{file}"));
    letters.place.write("judge.sh", REPEATS);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters
        .run(["scan", "list.jsonl", "--quest", "letters.toml"])
        .ok();
    let says = |letter: &str, answer: &str| {
        let (letter, field) = (format!("--letter={letter}"), format!("--answer={answer}"));
        letters.json(["submit", &letter, &field]).1
    };
    let flood = says("one", "good flood");
    assert_eq!(flood["verdict"], "FAIL", "{flood:#}");
    assert_eq!(flood["facts"][0]["location"], "judge.sh", "{flood:#}");
    let expected = "it prints at most 2048 bytes";
    assert_eq!(flood["facts"][0]["expected"], expected, "{flood:#}");
    for answer in ["good lone", "good byte"] {
        let unreadable = says("one", answer);
        assert_eq!(unreadable["verdict"], "FAIL", "{unreadable:#}");
        let actual = &unreadable["facts"][0]["actual"];
        assert_eq!(actual, "it says \u{fffd}.", "{unreadable:#}");
    }
    assert_eq!(says("one", "good")["verdict"], "PASS");
    assert_eq!(says("two", "good broken")["verdict"], "REVIEW");
    letters.run(["audit"]).ok();
}
