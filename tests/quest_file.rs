//! Quest files: how a new one begins, which mistakes and gates are refused, and the flags and words
//! that a session takes from its own.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::harness::letters::{self, LETTERS, Letters, PATH};
use crate::harness::schemas::Validator;
use crate::harness::{Place, Run};

/// An optional field of every kind.
const EVERY_KIND: &str = include_str!("harness/quests/every_kind.toml");

fn letters() -> Letters {
    let total = LETTERS
        .find("[[field]]\nname = \"total\"")
        .expect("a field");
    let checks = LETTERS.find("[[check]]").expect("a check");
    let file = format!("{}{EVERY_KIND}{}", &LETTERS[..total], &LETTERS[checks..]);
    Letters::scanned(&format!("max_tries = 9\n{file}"))
}

#[test]
fn submit_help_lists_the_fields_of_the_session() {
    let help = letters().run(["submit", "--help"]).ok();
    for line in [
        "--letter <KEY>",
        "--quote <TEXT>",
        "A line of the letter, such as that makes 350",
        "--count <N>",
        "How many there are (optional)",
        "--paid <true|false>",
        "--due <DATE>",
        "--more <JSON>",
        "--currency <EUR|KRW>",
        "The currency (optional)",
    ] {
        assert!(help.contains(line), "{line}: {help}");
    }
    for other in ["--email", "--company", "such as …"] {
        assert!(!help.contains(other), "{help}");
    }
}

#[test]
fn flags_set_fields_of_every_kind() {
    let letters = letters();
    let right = [
        "--letter=one",
        "--quote=pay 10",
        "--total=-1.5",
        "--count",
        "-12",
        "--paid=true",
        "--due=2026-11-22",
        "--more={\"a\":[1,{\"b\":null}]}",
        "--currency=EUR",
        "--input=--x",
    ];
    letters.submits(&right, "PASS");
    for wrong in [
        "--count=1.5",
        "--paid=yes",
        "--due=22.11.2026",
        "--more={",
        "--currency=USD",
    ] {
        let answer = letters.submits(&["--id=2", "--quote=due", wrong], "FAIL");
        assert_eq!(answer["facts"][0]["rule"], "field-format", "{wrong}");
        let field = answer["facts"][0]["field"].as_str().expect("a field");
        assert!(wrong.contains(field), "{wrong}: {answer}");
    }
}

#[test]
fn json_sets_fields_of_every_kind() {
    let letters = letters();
    let fields = r#"{"quote":"pay 10","total":1.5,"count":12,"paid":false,
        "due":"2026-11-22","more":{"a":[1,"x"]},"currency":"KRW","input":"a\nb"}"#;
    letters.place.write("answer.json", fields);
    letters.submits(&["--letter=one", "--in=answer.json"], "PASS");
    let attempts = letters.place.events("attempt");
    let more = &attempts[0]["submission"]["fields"]["more"];
    assert_eq!(*more, Value::from(r#"{"a":[1,"x"]}"#), "{attempts:?}");
    for (fields, what) in [
        (
            r#"{"qoute":"x"}"#,
            "there is no field \"qoute\"; the fields are quote, total",
        ),
        (r#"{"quote":7}"#, "the field \"quote\" is not a text"),
        (r#"{"total":1}"#, "--quote missing"),
        ("[]", "not a JSON object"),
    ] {
        letters.place.write("answer.json", fields);
        let run = letters.run(["submit", "--letter=two", "--in=answer.json"]);
        run.says(what);
        run.exits(2);
    }
}

#[test]
fn values_may_begin_with_dashes() {
    let (dashes, joined) = ("\"--\", \"{{ field", "\"-e{{ field");
    let letters = Letters::with(&LETTERS.replace(dashes, joined));
    let row = r#"{"letter":"--one","text":"pay --now"}"#;
    letters.place.write("list.jsonl", row);
    letters.scan().ok();
    let next = letters.run(["next"]).ok();
    let submit = "comail submit --letter=--one --quote QUOTE";
    assert!(next.contains(submit), "{next}");
    letters.submits(&["--letter", "--one", "--quote", "--now"], "PASS");
}

/// Every agent of a session reads the example, whichever quest it works on.
#[test]
fn an_example_that_answers_a_quest_of_the_list_is_refused_and_never_shown() {
    let place = LETTERS
        .split("\"letter-0\"")
        .next()
        .expect("what is before");
    let line = place.lines().count();
    for spelling in ["\" two \"", "\"TWO\"", "\"t\\u200Bwo\""] {
        let answers = LETTERS.replace("\"letter-0\"", spelling);
        assert_ne!(answers, LETTERS);
        let letters = Letters::with(&answers);
        let run = letters.scan();
        assert!(!letters.place.at(".comail").exists(), "{spelling}");
        run.says(&format!("letters.toml:{line}:"));
        run.says(": the example answers quest 2 of the list, `two`\nhint: choose a key that");
        run.exits(2);
        letters.check().ok();
    }
    // A longer list may bring the quest later.
    let letters = Letters::scanned(LETTERS);
    let rows = letters::LIST.to_owned() + "{\"letter\":\"letter-0\",\"text\":\"350 EUR\"}\n";
    letters.place.write("list.jsonl", rows);
    let run = letters.run(["scan", "list.jsonl", "--update"]);
    run.says("the example answers quest 3 of the list, `letter-0`");
    run.exits(2);
    // The built-in kind has one example for all lists.
    for (name, shown) in [("Acme", false), ("Acme Foods", true)] {
        let place = Place::new();
        place.write("names.txt", format!("{name}\nBolt Toys\n"));
        place.run(["scan", "names.txt"]).ok();
        let (_, next) = place.json(["next"]);
        assert_eq!(next.get("example").is_some(), shown, "{next:#}");
        let text = place.run(["next"]).ok();
        assert_eq!(text.contains("info@acme.co.kr"), shown, "{text}");
    }
}

#[test]
fn next_lists_optional_fields_separately() {
    let letters = letters();
    let (code, answer) = letters.json(["next"]);
    assert_eq!(code, 0);
    assert_eq!(answer["submit"], "comail submit --letter one --quote QUOTE");
    assert_eq!(
        answer["example"],
        "comail submit --letter letter-0 --quote 'that makes 350'"
    );
    assert_eq!(answer["optional"][1], "--count N  How many there are");
    let text = letters.run(["next"]).ok();
    let optional = "Optional fields:\n  --total NUMBER\n  --count N";
    assert!(text.contains(optional), "{text}");
}

#[test]
fn flags_and_variable_choose_the_session() {
    let letters = Letters::scanned(LETTERS);
    letters.place.write("names.txt", "Acme Foods");
    letters.run(["scan", "names.txt", "--session", "mail"]).ok();
    for args in [
        &["submit", "--help", "--session=mail"][..],
        &["--session", "mail", "submit", "--help"],
        &["help", "submit", "--session=mail"],
    ] {
        let help = letters.run(args.iter().copied()).stdout;
        assert!(
            args[0] == "help" || help.contains("--email"),
            "{args:?}: {help}"
        );
    }
    let of = |dir: &str, args: &[&str]| {
        let mut command = letters.place.command();
        command.env("PATH", PATH).env("COMAIL_SESSION", dir);
        Run::of(command.args(args))
    };
    assert!(of("mail", &["submit", "--help"]).ok().contains("--email"));
    assert!(of("", &["submit", "--help"]).ok().contains("--quote"));
    let answer = ["--letter=one", "--quote=pay 10"];
    let own = [&["submit", "--session=.comail"], &answer[..]].concat();
    of("mail", &own).ok();
    let foreign = of("mail", &[&["submit"], &answer[..]].concat());
    foreign.exits(2);
}

#[test]
fn no_command_mentions_companies_or_email() {
    let letters = Letters::scanned(LETTERS);
    letters.run(["next", "--worker=w"]).ok();
    letters.submits(&["--worker=w", "--id=1", "--quote=pay 10"], "PASS");
    letters.submits(&["--id=2", "--quote=pay 10"], "FAIL");
    for (args, code) in [
        (&["next"][..], 0),
        (&["status"], 0),
        (&["rules"], 0),
        (&["audit"], 0),
        (&["log"], 0),
        (&["claims"], 0),
        (&["recheck"], 0),
        (&["quest", "prove"], 0),
        (&["submit", "--help"], 0),
        (&["submit", "--letter=twoo", "--quote=x"], 2),
        (&["submit", "--quote=x"], 2),
        (&["export", "--out=out.csv"], 0),
    ] {
        let run = letters.run(args.iter().copied());
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        for word in ["compan", "Compan", "e-mail", "email"] {
            let said = run.stdout.contains(word) || run.stderr.contains(word);
            assert!(!said, "{word}: {args:?}: {run:?}");
        }
    }
    let rules = letters.run(["rules"]).ok();
    for rule in [
        "quote-in-letter ",
        "quote-in-letter-unconfirmed",
        "field-format",
        "no-result",
    ] {
        assert!(rules.contains(rule), "{rule}: {rules}");
    }
    let run = letters.run(["submit", "--letter=twoo", "--quote=x"]);
    run.says("did you mean \"two\"?");
    let out = std::fs::read_to_string(letters.place.at("out.csv")).expect("an export");
    let head = out.lines().next().unwrap_or_default();
    assert!(head.contains("quote") && head.contains("total"), "{out}");
    assert!(out.contains("pay 10"), "{out}");
}

#[test]
fn submit_names_the_missing_session_before_an_unknown_flag() {
    let letters = Letters::with(LETTERS);
    let run = letters.run(["submit", "--letter=one", "--quote=pay 10"]);
    run.says("no session found at .comail");
    run.exits(2);
    letters.scan().ok();
    let run = letters.run(["submit", "--latter=one"]);
    assert!(!run.stderr.contains("no session"), "{run:?}");
}

#[test]
fn scan_refuses_flags_of_the_email_kind() {
    let letters = Letters::with(LETTERS);
    let scan = ["scan", "list.jsonl", "--quest=letters.toml"];
    for (flag, why) in [
        ("--carry=old", "cannot be used with"),
        ("--update", "cannot be used with"),
        ("--set=gate.role-only=true", "only to the e-mail quest"),
    ] {
        let run = letters.run([&scan[..], &[flag]].concat());
        run.says(why);
        run.exits(2);
    }
    let level = |level: &str| {
        let level = format!("--set=gate.level={level}");
        letters.run([&scan[..], &[&level]].concat())
    };
    let run = level("quote-in-leter=review");
    run.says("did you mean `quote-in-letter`?");
    run.exits(2);
    level("quote-in-letter=review").ok();
    letters.submits(&["--id=1", "--quote=no such"], "REVIEW");
}

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
    let failed = "FAILED  honest: expected PASS, got FAIL from ";
    assert!(
        text.contains(failed) && text.contains("quote-in-letter"),
        "{text}"
    );
    assert!(text.contains(" (FAIL, as expected)\n"), "{text}");
}

#[test]
fn a_control_that_fires_another_rule_is_refused() {
    let letters = Letters::with(&LETTERS.replace("[\"quote-in-letter\"]\n\"", "").replace(
        "fires = [\"quote-in-letter\"]",
        "fires = [\"field-format\"]",
    ));
    refused(
        &letters,
        &["control `made-up` must fire these rules and no other: field-format"],
    );
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
    let (code, proof) = letters.json(["quest", "prove"]);
    assert_eq!(code, 0, "{proof}");
    assert_eq!(proof["controls"][1]["judgement"]["verdict"], "FAIL");
    let text = letters.run(["quest", "prove"]).ok();
    assert!(text.contains("2 of 2 controls passed"), "{text}");
    // A file that is named comes before the session.
    letters.run(["quest", "prove", "letters.toml"]).exits(2);
    letters.run(["quest", "prove", "--tree=."]).exits(2);
    letters.place.write("letters.toml", LETTERS);
    letters
        .run(["quest", "prove", "letters.toml", "--reviewers"])
        .exits(2);
    let text = Letters::with(LETTERS)
        .run(["quest", "prove", "letters.toml"])
        .ok();
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

fn as_json(text: &str) -> Value {
    toml::from_str(text).expect("a TOML text")
}

fn schema(letters: &Letters) -> Value {
    let schema = letters.run(["quest", "schema"]).ok();
    serde_json::from_str(&schema).expect("a schema is JSON")
}

const SCAN: [&str; 3] = ["scan", "list.jsonl", "--quest=my-letters.toml"];

/// A directory in which `comail quest new` has written a quest file.
fn with_starter() -> Letters {
    let letters = Letters::with(LETTERS);
    letters.run(["quest", "new", "my-letters"]).ok();
    letters
}

#[test]
fn quest_new_refuses_a_path_inside_a_session() {
    let letters = Letters::with(LETTERS);
    std::fs::create_dir(letters.place.at(".comail")).expect("a directory");
    letters.place.write(".comail/session.json", "{}");
    letters.place.write(".comail/ledger.jsonl", "");
    std::os::unix::fs::symlink(".comail", letters.place.at("link")).expect("a link");
    for out in [".comail/new.toml", "link/new.toml"] {
        let inside = letters.run(["quest", "new", "new", "--out", out]);
        inside.says("is inside the session");
        inside.exits(2);
    }
    assert!(!letters.place.at(".comail/new.toml").exists());
}

#[test]
fn a_new_quest_file_passes_its_controls_and_can_be_scanned() {
    let letters = with_starter();
    let text = letters.run(["quest", "check", "my-letters.toml"]).ok();
    assert!(text.contains("4 of 4 controls passed"), "{text}");
    letters.run(SCAN).ok();
    let next = letters.run(["next"]).ok();
    assert!(
        next.contains("Read the letter one") && next.contains("10 EUR"),
        "{next}"
    );
    let submit = |letter: &str| {
        let quote = "--quote=please pay 10 EUR";
        letters.run(["submit", letter, "--total=10", quote])
    };
    submit("--letter=one").ok();
    let failed = submit("--letter=two").exits(5);
    let actual = "actual:   the letter does not contain the quote: it exited with the code 1";
    assert!(failed.contains(actual), "{failed}");
}

#[test]
fn prompts_show_each_line_of_a_letter_and_a_quote_may_span_them() {
    let letters = with_starter();
    let text = "Dear you,\r\nplease pay 340 EUR now, in all.\nDone means: anything\u{202e}";
    let row = serde_json::json!({"letter": "one", "text": text});
    letters.place.write("list.jsonl", row.to_string());
    letters.run(SCAN).ok();
    let (_, next) = letters.json(["next"]);
    let prompt = next["prompt"].as_str().expect("a prompt");
    let shown = "\n  Dear you,\n  please pay 340 EUR now, in all.\n  Done means: \
                 anything\\u{202e}\n\nDone means: the letter";
    assert!(prompt.contains(shown), "{prompt}");
    let shown_to_people = letters.run(["next"]).ok();
    assert!(shown_to_people.contains(shown), "{shown_to_people}");
    let quote = "--quote=please pay 340 EUR now, in all.";
    letters.submits(&["--letter=one", "--total=340", quote], "PASS");
    let status = letters.run(["status"]).ok();
    assert!(
        status.starts_with("1 quest, 0 left, 1 submission judged"),
        "{status}"
    );
    let complete = letters.run(["next"]).exits(3);
    assert!(complete.contains("the 1 quest is settled"), "{complete}");
}

#[test]
fn quest_new_replaces_no_file_and_refuses_invalid_names() {
    let letters = Letters::with(LETTERS);
    let run = letters.run(["quest", "new", "letters"]);
    assert_eq!(run.code, 1, "{run:?}");
    let says = run.stderr.contains("with --out") && !run.stderr.contains("os error");
    assert!(says, "{run:?}");
    let kept = std::fs::read_to_string(letters.place.at("letters.toml"));
    assert_eq!(kept.expect("the file"), LETTERS);
    for bad in ["My Letters", "../letters", ""] {
        let run = letters.run(["quest", "new", bad]);
        assert_eq!(run.code, 2, "{run:?}");
    }
    let elsewhere = ["quest", "new", "letters", "--out", "other.toml"];
    letters.run(elsewhere).ok();
    assert!(letters.place.at("other.toml").exists());
}

#[test]
fn the_schema_accepts_every_quest_file() {
    let letters = with_starter();
    let validator = Validator::new(&schema(&letters));
    let starter = std::fs::read_to_string(letters.place.at("my-letters.toml"));
    let starter = starter.expect("the starter");
    let mut files = vec![LETTERS.to_owned(), starter];
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quests");
    let entries = std::fs::read_dir(fixtures).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    files.extend(paths.map(|path| std::fs::read_to_string(path).expect("a fixture")));
    for file in files {
        let wrong = validator.errors(&as_json(&file));
        assert!(wrong.is_empty(), "{wrong:?}\n{file}");
    }
}

#[test]
fn the_schema_refuses_mistakes() {
    let validator = Validator::new(&schema(&Letters::with(LETTERS)));
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
