//! `-v`, `-q` and `COMAIL_LOG`: what goes on, on stderr, for who asks; nothing else changes.

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Run};

#[test]
fn who_asks_is_told_what_was_opened_fetched_asked_checked_and_written() {
    let world = EmailNet::start();
    let judged = world
        .place
        .run([&["-v".to_owned()][..], &world.acme().args(1)].concat());
    let again = "info: judged from the evidence: checked check=";
    for told in [
        "info: asked DNS name=\"acme.co.kr\" kind=\"MX\"",
        "info: fetched url=\"http://www.acme.co.kr:",
        "status=200",
        "info: checked check=",
        again,
    ] {
        judged.says(told);
    }
    assert!(!judged.stderr.contains("debug"), "{judged:?}");
    let checks = |begin: &str| {
        let lines = judged.stderr.lines();
        lines.filter(|line| line.starts_with(begin)).count()
    };
    assert_eq!(checks("info: checked"), checks(again), "{judged:?}");
    let once = |run: &Run, told: &str| {
        assert_eq!(run.stderr.matches(told).count(), 1, "{told}: {run:?}");
    };
    once(&judged, "info: appended to the ledger from=");
    assert!(judged.ok().starts_with("PASS"));
    for args in [&["-v", "status"][..], &["-v", "next"], &["-v", "claims"]] {
        let run = world.place.run(args);
        once(&run, "info: opened the session dir=.comail quests=1 lines=");
        run.says(" head=");
    }
    let export = world.place.run(["-v", "export", "results.csv"]);
    once(&export, "info: wrote the export path=results.csv rows=1");
    export.ok();
}

#[test]
fn more_is_told_to_who_asks_for_more() {
    let world = EmailNet::start();
    let run = world
        .place
        .run(["-vv", "submit", "--id=1", "--none=nowhere"]);
    for told in [
        "info: appended to the ledger",
        "debug: held the session's lock waited_ms=",
    ] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
    assert!(
        run.stderr
            .lines()
            .all(|line| line.starts_with("info: ") || line.starts_with("debug: ")),
        "{run:?}"
    );
    run.exits(5);
    std::fs::remove_file(world.place.at(".comail/index.sqlite")).unwrap();
    let status = world.place.run(["status", "-v"]);
    status.says("info: rebuilt the index");
    let doctor = world.place.run(["doctor", "--offline", "-v"]);
    doctor.says("info: ran a command");
}

#[test]
fn a_variable_of_the_agents_changes_no_decision() {
    let judged = |log: Option<&str>| {
        let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
        let mut runs = Vec::new();
        let lie = world.acme().email("ceo@acme.co.kr");
        for args in [lie.args(1), world.acme().args(1), vec!["next".to_owned()]] {
            let mut command = world.place.command();
            let run = Run::of(command.args(args).envs(log.map(|log| ("COMAIL_LOG", log))));
            let port = world.net.web.address().port().to_string();
            runs.push((run.code, run.stdout.replace(&port, "PORT"), run.stderr));
        }
        runs
    };
    let plain = judged(None);
    assert!(
        plain.iter().all(|(_, _, stderr)| stderr.is_empty()),
        "{plain:?}"
    );
    assert_eq!(plain.iter().map(|run| run.0).collect::<Vec<_>>(), [5, 0, 0]);
    for (log, tells) in [
        ("trace", true),
        ("comail::world=info,off", true),
        ("off", false),
        ("", false),
        ("comail=nonsense=worse", true),
    ] {
        let told = judged(Some(log));
        let answers = |runs: &[(i32, String, String)]| -> Vec<(i32, String)> {
            runs.iter().map(|run| (run.0, run.1.clone())).collect()
        };
        assert_eq!(answers(&told), answers(&plain), "{log}");
        let spoke = told.iter().any(|(_, _, stderr)| !stderr.is_empty());
        assert_eq!(spoke, tells, "{log}: {told:?}");
        let kinds = ["note: ", "error: ", "info: ", "debug: ", "trace: "];
        let ours = |line: &str| kinds.iter().any(|kind| line.starts_with(kind));
        assert!(
            told.iter().all(|run| run.2.lines().all(ours)),
            "{log}: {told:?}"
        );
    }
}

#[test]
fn who_wants_no_notes_still_hears_of_errors() {
    let world = EmailNet::start();
    let torn = [&world.place.ledger()[..], b"{\"seq\""].concat();
    for (args, noted) in [(&["status"][..], true), (&["-q", "status"], false)] {
        world.place.write(".comail/ledger.jsonl", &torn);
        let run = world.place.run(args);
        assert_eq!(
            run.stderr.contains("incomplete last line"),
            noted,
            "{run:?}"
        );
        run.ok();
    }
    let run = world.place.run(["status", "-q", "--session", "none"]);
    run.says("error: there is no session");
    run.exits(1);
    world.place.run(["status", "-q", "-v"]).exits(2);
}
