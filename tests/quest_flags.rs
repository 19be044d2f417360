//! The commands inside the session of a quest file: its own flags, and its own words.

use crate::harness::Run;
use crate::harness::letters::{LETTERS, Letters, PATH};

/// A field of every kind, all of which may be left out.
const EVERY_KIND: &str = r#"[[field]]
name = "total"
kind = "number"
required = false
unchecked = true

[[field]]
name = "count"
kind = "integer"
help = "How many there are"
required = false
unchecked = true

[[field]]
name = "paid"
kind = "bool"
required = false
unchecked = true

[[field]]
name = "due"
kind = "date"
required = false
unchecked = true

[[field]]
name = "more"
kind = "json"
required = false
unchecked = true

[[field]]
name = "currency"
kind = "choice"
choices = ["EUR", "KRW"]
required = false
unchecked = true

[[field]]
name = "input"
kind = "text"
required = false
unchecked = true

"#;

fn letters() -> Letters {
    let total = LETTERS
        .find("[[field]]\nname = \"total\"")
        .expect("a field");
    let checks = LETTERS.find("[[check]]").expect("a check");
    let file = format!("{}{EVERY_KIND}{}", &LETTERS[..total], &LETTERS[checks..]);
    Letters::scanned(&format!("max_tries = 9\n{file}"))
}

#[test]
fn help_lists_the_fields_of_the_session() {
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
fn every_kind_of_field_is_taken_by_flag() {
    let letters = letters();
    let right = [
        "submit",
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
    let (code, answer) = letters.json(right);
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("PASS")),
        "{answer}"
    );
    for wrong in [
        "--count=1.5",
        "--paid=yes",
        "--due=22.11.2026",
        "--more={",
        "--currency=USD",
    ] {
        let (code, answer) = letters.json(["submit", "--id=2", "--quote=due", wrong]);
        let rule = &answer["facts"][0]["rule"];
        assert_eq!((code, rule), (5, &"field-format".into()), "{wrong}");
        let field = answer["facts"][0]["field"].as_str().expect("a field");
        assert!(wrong.contains(field), "{wrong}: {answer}");
    }
}

#[test]
fn every_kind_of_field_is_taken_from_json() {
    let letters = letters();
    let fields = r#"{"quote":"pay 10","total":1.5,"count":12,"paid":false,
        "due":"2026-11-22","more":{"a":[1,"x"]},"currency":"KRW","input":"a\nb"}"#;
    letters.place.write("answer.json", fields);
    let (code, answer) = letters.json(["submit", "--letter=one", "--in=answer.json"]);
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("PASS")),
        "{answer}"
    );
    let ledger = String::from_utf8(letters.place.ledger()).expect("UTF-8");
    assert!(ledger.contains(r#""more":"{\"a\":[1,\"x\"]}""#), "{ledger}");
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
        assert_eq!(run.code, 2, "{run:?}");
        run.says(what);
    }
}

#[test]
fn a_value_may_begin_like_a_flag() {
    let (dashes, joined) = ("\"--\", \"{{ field", "\"-e{{ field");
    let letters = Letters::with(&LETTERS.replace(dashes, joined));
    letters
        .place
        .write("list.jsonl", r#"{"letter":"--one","text":"pay --now"}"#);
    letters
        .run(["scan", "list.jsonl", "--quest", "letters.toml"])
        .ok();
    let next = letters.run(["next"]).ok();
    assert!(
        next.contains("comail submit --letter=--one --quote QUOTE"),
        "{next}"
    );
    letters
        .run(["submit", "--letter", "--one", "--quote", "--now"])
        .ok();
}

#[test]
fn next_offers_what_may_be_left_out_apart() {
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
    assert!(
        text.contains("Optional fields:\n  --total NUMBER\n  --count N"),
        "{text}"
    );
}

#[test]
fn the_session_is_found_wherever_it_is_named() {
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
        Run::of(
            command
                .env("PATH", PATH)
                .env("COMAIL_SESSION", dir)
                .args(args),
        )
    };
    assert!(of("mail", &["submit", "--help"]).ok().contains("--email"));
    assert!(of("", &["submit", "--help"]).ok().contains("--quote"));
    let args = [
        "submit",
        "--session=.comail",
        "--letter=one",
        "--quote=pay 10",
    ];
    of("mail", &args).ok();
    let foreign = of("mail", &["submit", "--letter=one", "--quote=pay 10"]);
    assert_eq!(foreign.code, 2, "{foreign:?}");
}

#[test]
fn every_command_speaks_of_the_session_s_own_things() {
    let letters = Letters::scanned(LETTERS);
    letters.run(["next", "--worker=w"]).ok();
    letters
        .run(["submit", "--worker=w", "--id=1", "--quote=pay 10"])
        .ok();
    letters.run(["submit", "--id=2", "--quote=pay 10"]).exits(5);
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
            let said = [&run.stdout, &run.stderr]
                .into_iter()
                .any(|text| text.contains(word));
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
fn without_a_session_an_unknown_flag_is_told_of_with_the_reason() {
    let letters = Letters::with(LETTERS);
    let submit = ["submit", "--letter=one", "--quote=pay 10"];
    let run = letters.run(submit);
    assert_eq!(run.code, 2, "{run:?}");
    run.says("no session found in .comail");
    letters
        .run(["scan", "list.jsonl", "--quest=letters.toml"])
        .ok();
    let run = letters.run(["submit", "--latter=one"]);
    assert!(!run.stderr.contains("no session"), "{run:?}");
}

#[test]
fn a_quest_file_takes_no_flag_that_is_the_other_quest_s() {
    let letters = Letters::with(LETTERS);
    for flag in ["--carry=old", "--role-only", "--update"] {
        let run = letters.run(["scan", "list.jsonl", "--quest=letters.toml", flag]);
        assert_eq!(run.code, 2, "{run:?}");
        run.says("cannot be used with");
    }
    let level = |level: &str| {
        let args = [
            "scan",
            "list.jsonl",
            "--quest=letters.toml",
            "--level",
            level,
        ];
        letters.run(args)
    };
    let run = level("quote-in-leter=review");
    assert_eq!(run.code, 2, "{run:?}");
    run.says("did you mean `quote-in-letter`?");
    level("quote-in-letter=review").ok();
    let (code, answer) = letters.json(["submit", "--id=1", "--quote=no such"]);
    assert_eq!(
        (code, answer["verdict"].as_str()),
        (0, Some("REVIEW")),
        "{answer}"
    );
}
