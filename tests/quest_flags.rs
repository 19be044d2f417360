//! The commands in a session of a quest file: they take its flags and use its words.

use serde_json::Value;

use crate::harness::Run;
use crate::harness::letters::{LETTERS, Letters, PATH};

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
        "--key=one",
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
        (&["prove"], 0),
        (&["submit", "--help"], 0),
        (&["submit", "--letter=twoo", "--quote=x"], 2),
        (&["submit", "--quote=x"], 2),
        (&["export", "out.csv"], 0),
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
    run.says("no session found in .comail");
    run.exits(2);
    letters.scan().ok();
    let run = letters.run(["submit", "--latter=one"]);
    assert!(!run.stderr.contains("no session"), "{run:?}");
}

#[test]
fn scan_refuses_flags_of_the_email_kind() {
    let letters = Letters::with(LETTERS);
    let scan = ["scan", "list.jsonl", "--quest=letters.toml"];
    for flag in ["--carry=old", "--role-only", "--update"] {
        let run = letters.run([&scan[..], &[flag]].concat());
        run.says("cannot be used with");
        run.exits(2);
    }
    let level = |level: &str| letters.run([&scan[..], &["--level", level]].concat());
    let run = level("quote-in-leter=review");
    run.says("did you mean `quote-in-letter`?");
    run.exits(2);
    level("quote-in-letter=review").ok();
    letters.submits(&["--id=1", "--quote=no such"], "REVIEW");
}
