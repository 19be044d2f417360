//! Gates that `comail scan` refuses: they show no fact, or their controls do not prove them.

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
    let run = letters.scan();
    assert_eq!(run.code, 2, "{run:?}");
    for word in words {
        run.says(word);
    }
    assert!(!letters.has_session());
}

#[test]
fn a_gate_that_shows_no_fact_is_refused() {
    let letters = Letters::with(&of_form(""));
    refused(&letters, &["How could an agent cheat?", "`open = true`"]);
    let checked = letters.check();
    checked.says("letters.toml:1:1: every check");
    checked.exits(2);
}

#[test]
fn an_open_ended_gate_leaves_every_answer_to_a_person() {
    let open = of_form("open = true\n")
        .replace("fires =", "#fires =")
        .replace("verdict = \"PASS\"", "verdict = \"REVIEW\"");
    let letters = Letters::scanned(&open);
    let answer = letters.submits(&["--letter=one", "--quote=a 1200"], "REVIEW");
    assert_eq!(answer["facts"][0]["rule"], "open-ended");
    letters.submits(&["--letter=two", "--quote=a 900"], "FAIL");
    letters.run(["audit"]).ok();
}

#[test]
fn a_control_with_another_verdict_is_refused() {
    let letters = Letters::with(&LETTERS.replace("\"pay 1200\"", "\"pay 1300\""));
    refused(&letters, &["control `honest` must be PASS, but is FAIL"]);
    let (code, checked) = letters.json(["quest", "check", "letters.toml"]);
    assert_eq!((code, &checked["controls"][0]["fits"]), (8, &false.into()));
    let text = letters.check().exits(8);
    assert!(
        text.contains("FAILED") && text.contains("quote-in-letter"),
        "{text}"
    );
}

#[test]
fn a_control_that_fires_another_rule_is_refused() {
    let letters = Letters::with(&LETTERS.replace("[\"quote-in-letter\"]\n\"", "").replace(
        "fires = [\"quote-in-letter\"]",
        "fires = [\"field-format\"]",
    ));
    refused(&letters, &["control `made-up` must be FAIL, but is FAIL"]);
}

#[test]
fn controls_must_show_a_pass_and_a_fail() {
    let letters = Letters::with(&without_control("honest"));
    let words = ["no control shows that a right submission passes"];
    refused(&letters, &words);
    let letters = Letters::with(&without_control("made-up"));
    let words = [
        "no control shows that a wrong submission fails",
        "no control ever fired `quote-in-letter`",
    ];
    refused(&letters, &words);
}

#[test]
fn a_fail_rule_that_no_control_fires_is_refused() {
    let letters = Letters::with(&LETTERS.replace("level = \"review\"\n", ""));
    refused(&letters, &["no control ever fired `no-blank`"]);
    let (code, checked) = letters.json(["quest", "check", "letters.toml"]);
    assert_eq!(
        (code, &checked["lacking"][0]["rule"]),
        (8, &"no-blank".into())
    );
}

#[test]
fn files_that_a_control_names_must_exist() {
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
fn a_row_whose_prompt_cannot_be_rendered_is_refused() {
    let wanting = LETTERS.replace("}}: {{ input.text }}", "}}: {{ input.text | int }}");
    let letters = Letters::with(&wanting);
    let (number, word) = (
        r#"{"letter":"one","text":"10"}"#,
        r#"{"letter":"two","text":"ten"}"#,
    );
    letters
        .place
        .write("list.jsonl", format!("{number}\n{word}\n"));
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
    Letters::with(LETTERS).check().ok();
}

#[test]
fn a_check_that_does_not_depend_on_the_submission_is_refused() {
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
fn a_field_that_no_check_uses_is_refused() {
    let bare = LETTERS.replace("unchecked = true\n", "");
    refused(&Letters::with(&bare), &["`total`", "`unchecked = true`"]);
    let named = bare.replace("[\"grep\", ", "[\"grep\", \"-e{{ field.total }}\", ");
    let run = Letters::with(&named).check();
    assert!(!run.stderr.contains("unchecked"), "{run:?}");
    Letters::with(LETTERS).check().ok();
}
