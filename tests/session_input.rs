//! What a submission may look like, and which quest a key names.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Place, Run};

fn piped(world: &EmailNet, input: &[u8]) -> Run {
    let mut command = world.place.command();
    let command = command.args(["submit", "--id=1", "--in", "-", "--json"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that has heard enough closes the pipe.
    stdin.write_all(input).ok();
    drop(stdin);
    Run::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn json_from_stdin_is_a_submission_like_any_other() {
    let world = EmailNet::start();
    let right = world.right("acme.co.kr");
    let fields = serde_json::json!({
        "site": right.site, "email": right.email, "source": right.source,
    });
    let run = piped(&world, fields.to_string().as_bytes());
    assert!(run.ok().contains("\"verdict\":\"PASS\""));
}

#[test]
fn what_is_no_submission_changes_nothing() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let long = format!("{{\"email\":\"{}\"}}", "a".repeat(2 << 20));
    let deep = "[".repeat(200_000);
    for input in [
        "",
        " ",
        "null",
        "[]",
        "\"info@acme.co.kr\"",
        "{",
        "{}",
        "{\"email\":\"x\"}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":1}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":null}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":[\"x\"]}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":\"x\",\"verdict\":\"PASS\"}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":\"x\",\"company\":\"x\"}",
        "{\"email\":\"x\",\"site\":\"x\",\"source\":\"x\"} {}",
        "{\"Email\":\"x\",\"site\":\"x\",\"source\":\"x\"}",
        "{\"email\":\"\\ud800\",\"site\":\"x\",\"source\":\"x\"}",
        long.as_str(),
        deep.as_str(),
    ] {
        let run = piped(&world, input.as_bytes());
        let head: String = input.chars().take(60).collect();
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{head}: {run:?}");
        assert!(!run.stderr.is_empty() && run.stderr.len() < 2_000, "{head}");
    }
    piped(&world, b"{\"email\":\"\xff\"}").exits(2);
    for file in ["none.json", ".", ""] {
        let run = world.place.run(["submit", "--id=1", "--in", file]);
        assert_ne!(run.code, 0, "{file}: {run:?}");
        assert!(
            run.stderr.contains("submission") || run.code == 2,
            "{run:?}"
        );
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn fields_are_given_once_and_whole_or_not_at_all() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    world.place.write("x.json", "{}");
    for (args, said) in [
        (&["--site=x", "--source=x"][..], "--email missing"),
        (&["--email=x"], "--site, --source missing"),
        (&[], "--site, --email, --source missing"),
        (&["--email=x", "--email=y"], "--email"),
        (&["--none=x", "--email=y"], "--none"),
        (&["--none="], "--none"),
        (&["--none", " \t"], "--none"),
        (&["--in=x.json", "--none=y"], "--none"),
        (&["--in=x.json", "--email=y"], "--in"),
        (&["--mail=x"], "--mail"),
        (&["PASS"], "PASS"),
    ] {
        let run = world.place.run([&["submit", "--id=1"], args].concat());
        assert!(run.stderr.contains(said), "{args:?}: {run:?}");
        run.exits(2);
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn argv_that_is_no_utf_8_is_bad_usage() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let broken = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.extend(b"\xff\xfe");
        OsStr::from_bytes(&bytes).to_owned()
    };
    for (fixed, last) in [
        (&["submit", "--id=1"][..], broken("--none=")),
        (&["submit", "--none=x"], broken("--id=")),
        (&["submit", "--none=x"], broken("--company=")),
        (&["submit", "--none=x"], broken("--key=")),
        (&["submit"], broken("--")),
        (&[], broken("next")),
    ] {
        let args = fixed.iter().map(OsString::from).chain([last]);
        let run = world.place.run(args);
        assert_eq!(run.code, 2, "{run:?}");
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn a_key_is_matched_exactly_or_else_folded_if_that_is_unique() {
    let place = Place::new();
    let list = "Acme Foods\nBolt  Toys\n㈜한빛\nCafé\nCargo\n";
    let list = place.write("list.txt", list);
    place.run([OsStr::new("scan"), list.as_os_str()]).ok();
    for (key, id) in [
        ("Acme Foods", 1),
        ("Ａｃｍｅ　Foods", 1),
        (" Acme\tFoods ", 1),
        ("Bolt Toys", 2),
        ("(주)한빛", 3),
        ("Cafe\u{301}", 4),
    ] {
        let (_, answer) = place.json(["submit", "--key", key, "--none", "x"]);
        assert_eq!(answer["id"], id, "{key}: {answer}");
    }
    let before = place.ledger();
    for (key, said) in [
        ("acme foods", "did you mean \"Acme Foods\""),
        ("Acme Food", "did you mean \"Acme Foods\""),
        ("Zzz", "there is no quest \"Zzz\""),
        ("", "a key cannot be blank"),
        ("\u{3000}", "a key cannot be blank"),
    ] {
        let run = place.run(["submit", "--company", key, "--none", "x"]);
        assert!(run.stderr.contains(said), "{key}: {run:?}");
        run.exits(2);
    }
    assert_eq!(place.ledger(), before);
}

#[test]
fn a_key_that_two_quests_share_is_named_by_number() {
    let world = EmailNet::anchored(&[[ACME, "acme.co.kr"], [ACME, "acme.com"]]);
    let before = world.place.ledger();
    let run = world
        .place
        .run(["submit", "--company", ACME, "--none", "x"]);
    run.says("--id 1 or --id 2");
    run.exits(2);
    assert_eq!(world.place.ledger(), before);
    let (_, next) = world.place.json(["next"]);
    let line = next["submit"].as_str().unwrap();
    assert!(line.starts_with("comail submit --id 1 "), "{line}");
    assert_eq!(world.place.give_up(2), 5);
}
