//! Gates that no session is made with: nothing shown, or not proven by their controls.

use crate::harness::letters::{LETTERS, Letters};

/// The file without its table `[[control]]` of this name.
fn without_control(name: &str) -> String {
    let tables = LETTERS.split_inclusive("\n\n");
    let head = format!("[[control]]\nname = \"{name}\"");
    tables.filter(|table| !table.starts_with(&head)).collect()
}

/// The file with a check of form in place of the command.
fn of_form(open: &str) -> String {
    let command = LETTERS.find("kind = \"command\"").expect("a command");
    let end = LETTERS
        .find("[[check]]\nname = \"no-blank\"")
        .expect("another check");
    let form = "kind = \"matches\"\nfield = \"quote\"\npattern = '1200'\n\n";
    format!("{open}{}{form}{}", &LETTERS[..command], &LETTERS[end..])
}

#[track_caller]
fn refused(letters: &Letters, words: &[&str]) {
    let run = letters.run(["scan", "list.jsonl", "--quest", "letters.toml"]);
    assert_eq!(run.code, 2, "{run:?}");
    for word in words {
        assert!(run.stderr.contains(word), "{word}: {run:?}");
    }
    assert!(!letters.has_session());
}

#[test]
fn a_file_that_shows_no_fact_is_asked_how_it_would_be_cheesed() {
    let letters = Letters::with(&of_form(""));
    refused(&letters, &["How could an agent cheat?", "`open = true`"]);
    let checked = letters.run(["quest", "check", "letters.toml"]);
    assert_eq!(checked.code, 2, "{checked:?}");
    checked.says("letters.toml:1:1: every check");
}

#[test]
fn an_open_file_leaves_every_answer_to_a_person() {
    let open = of_form("open = true\n")
        .replace("fires =", "#fires =")
        .replace("verdict = \"PASS\"", "verdict = \"REVIEW\"");
    let letters = Letters::scanned(&open);
    let (code, answer) = letters.json(["submit", "--letter=one", "--quote=a 1200"]);
    assert_eq!((code, answer["verdict"].as_str()), (0, Some("REVIEW")));
    assert_eq!(answer["facts"][0]["rule"], "open-ended");
    let (code, answer) = letters.json(["submit", "--letter=two", "--quote=a 900"]);
    assert_eq!((code, answer["verdict"].as_str()), (5, Some("FAIL")));
    letters.run(["audit"]).ok();
}

#[test]
fn a_control_that_gets_another_verdict_makes_no_session() {
    let letters = Letters::with(&LETTERS.replace("\"pay 1200\"", "\"pay 1300\""));
    refused(&letters, &["control `honest` must be PASS, but is FAIL"]);
    let (code, checked) = letters.json(["quest", "check", "letters.toml"]);
    assert_eq!((code, &checked["controls"][0]["fits"]), (8, &false.into()));
    let text = letters.run(["quest", "check", "letters.toml"]).exits(8);
    assert!(
        text.contains("FAILED") && text.contains("quote-in-letter"),
        "{text}"
    );
}

#[test]
fn a_control_that_fires_another_rule_makes_no_session() {
    let letters = Letters::with(&LETTERS.replace("[\"quote-in-letter\"]\n\"", "").replace(
        "fires = [\"quote-in-letter\"]",
        "fires = [\"field-format\"]",
    ));
    refused(&letters, &["control `made-up` must be FAIL, but is FAIL"]);
}

#[test]
fn a_gate_must_have_said_yes_and_no() {
    let letters = Letters::with(&without_control("honest"));
    refused(
        &letters,
        &["no control shows that a right submission passes"],
    );
    let letters = Letters::with(&without_control("made-up"));
    let words = [
        "no control shows that a wrong submission fails",
        "no control ever fired `quote-in-letter`",
    ];
    refused(&letters, &words);
}

#[test]
fn a_rule_of_level_fail_that_never_fired_makes_no_session() {
    let letters = Letters::with(&LETTERS.replace("level = \"review\"\n", ""));
    refused(&letters, &["no control ever fired `no-blank`"]);
    let (code, checked) = letters.json(["quest", "check", "letters.toml"]);
    assert_eq!(
        (code, &checked["lacking"][0]["rule"]),
        (8, &"no-blank".into())
    );
}

#[test]
fn what_a_control_names_beside_the_file_must_be_there() {
    let tree = LETTERS.replace("[prompt]", "[tree]\nroot = \".\"\n[prompt]");
    for key in ["tree", "writes"] {
        let letters = Letters::with(&tree.replace("fires", &format!("{key} = \"gone\"\nfires")));
        refused(&letters, &["control `made-up`", "gone"]);
    }
    let letters = Letters::with(&LETTERS.replace("fires", "world = \"gone.json\"\nfires"));
    refused(&letters, &["control `made-up`", "gone.json"]);
    letters.place.write("gone.json", "{");
    refused(&letters, &["control `made-up`"]);
}

#[test]
fn a_prompt_that_cannot_be_made_up_for_a_row_makes_no_session() {
    let wanting = LETTERS.replace("}}: {{ input.text }}", "}}: {{ input.text | int }}");
    let letters = Letters::with(&wanting);
    letters.place.write(
        "list.jsonl",
        r#"{"letter":"one","text":"10"}
{"letter":"two","text":"ten"}
"#,
    );
    refused(&letters, &["row 2 (two)", "prompt"]);
}

#[test]
fn prove_runs_the_frozen_controls_of_a_session() {
    let letters = Letters::scanned(LETTERS);
    letters.place.write("letters.toml", "gone");
    let (code, proof) = letters.json(["prove"]);
    assert_eq!(code, 0, "{proof}");
    assert_eq!(proof["controls"][1]["judgement"]["verdict"], "FAIL");
    let text = letters.run(["prove"]).ok();
    assert!(text.contains("2 of 2 controls passed"), "{text}");
    let checked = Letters::with(LETTERS);
    checked.run(["quest", "check", "letters.toml"]).ok();
}

#[test]
fn a_fact_of_nothing_that_is_submitted_makes_no_session() {
    let says = "the gate is not proven";
    let constant = LETTERS.replace("{{ field.quote }}", "pay");
    refused(&Letters::with(&constant), &["letters.toml", says]);
    let page = "kind = \"contains\"\ntext = \"Acme\"\nurl = \"https://acme.com/\"\n\n";
    let more = format!("[[check]]\nname = \"more\"\n{page}[[control]]");
    let beside = LETTERS.replacen("[[control]]", &more, 1);
    refused(&Letters::with(&beside), &["letters.toml", says]);
    refused(&Letters::with(&format!("open = true\n{beside}")), &[says]);
}

#[test]
fn a_field_that_nobody_verifies_makes_no_session() {
    let bare = LETTERS.replace("unchecked = true\n", "");
    refused(&Letters::with(&bare), &["`total`", "`unchecked = true`"]);
    let named = bare.replace("[\"grep\", ", "[\"grep\", \"-e{{ field.total }}\", ");
    let run = Letters::with(&named).run(["quest", "check", "letters.toml"]);
    assert!(!run.stderr.contains("unchecked"), "{run:?}");
    Letters::with(LETTERS)
        .run(["quest", "check", "letters.toml"])
        .ok();
}
