//! Exit codes: one for each way a command may end, whoever still reads what it prints.

use std::process::Stdio;

use crate::harness::EmailNet;
use crate::harness::email_net::ACME;

/// Runs a command whose stdout nobody reads, and returns its exit code.
fn unread(world: &EmailNet, args: &[String]) -> i32 {
    let mut command = world.place.command();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let command = command.args(args).stdout(writer).stderr(Stdio::null());
    let status = command.status().expect("the program starts");
    status.code().unwrap_or(-1)
}

fn none() -> Vec<String> {
    ["submit", "--id=1", "--none=x"].map(str::to_owned).to_vec()
}

#[test]
fn every_ending_has_its_code() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--pause-after", "1"]);
    let right = world.right("acme.co.kr");
    let code = |args: &[&str]| world.place.run(args).code;
    assert_eq!(code(&["next"]), 0);
    assert_eq!(code(&["--help"]), 0);
    assert_eq!(code(&["--version"]), 0);
    assert_eq!(code(&["submit", "--help"]), 0);
    assert_eq!(code(&["status", "--session", "none"]), 1);
    assert_eq!(code(&["scan", "none.txt"]), 1);
    assert_eq!(code(&[]), 2);
    assert_eq!(code(&["nonsense"]), 2);
    assert_eq!(code(&["submit", "--id", "one"]), 2);
    assert_eq!(code(&["submit", "--id=1", "--site=x"]), 2);
    assert_eq!(world.submit(1, &right.clone().email("ceo@acme.co.kr")).0, 5);
    assert_eq!(world.submit(1, &right).0, 0);
    assert_eq!(world.submit(1, &right).0, 7);
    for code in [5, 5, 6] {
        assert_eq!(world.place.give_up(2), code);
    }
    assert_eq!(code(&["next"]), 3);
    assert_eq!(code(&["next", "--json"]), 3);
    assert_eq!(code(&["audit"]), 0);
    world.place.write(".comail/source.txt", "x");
    for finding in ["audit", "export"] {
        assert_eq!(code(&[finding]), 8);
    }
    let list = std::fs::read(world.place.at("companies.txt")).expect("the list");
    world.place.write(".comail/source.txt", list);
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &["--pause-after", "1"]);
    for code in [5, 5, 6, 7] {
        assert_eq!(world.place.give_up(1), code);
    }
    assert_eq!(world.place.attempts().len(), 3);
    // Giving up needs no answer of the world.
    assert_eq!(world.net.web.connections(), 0);
    assert_eq!(world.place.run(["next"]).code, 9);
    assert_eq!(world.place.give_up(2), 9);
}

#[test]
fn a_reader_who_has_gone_does_not_change_the_verdicts_code() {
    let world = EmailNet::with(&["Bolt Toys", "Cargo Ring", ACME], &["--pause-after", "1"]);
    for json in [false, true] {
        let mut right = world.right("acme.co.kr").args(3);
        right.extend(json.then(|| "--json".to_owned()));
        assert_eq!(unread(&world, &right), if json { 7 } else { 0 });
    }
    for code in [5, 5, 6, 7] {
        assert_eq!(unread(&world, &none()), code);
    }
    let other = ["submit", "--id=2", "--none=x"].map(str::to_owned);
    assert_eq!(unread(&world, &other), 9);
    assert_eq!(unread(&world, &["next".to_owned()]), 9);
    assert_eq!(world.place.attempts(), [(3, 1), (1, 1), (1, 2), (1, 3)]);
    let world = EmailNet::start();
    assert_eq!(unread(&world, &["next".to_owned()]), 0);
    world.expect(1, &world.right("acme.co.kr"), "PASS", &[]);
    assert_eq!(
        unread(&world, &["next".to_owned()]),
        3,
        "complete is no error"
    );
}

#[test]
fn a_full_stdout_does_not_change_the_verdicts_code() {
    let world = EmailNet::start();
    for code in [5, 5, 6] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = world.place.command();
        let status = command.args(none()).stdout(full.unwrap()).status().unwrap();
        assert_eq!(status.code(), Some(code));
    }
    assert_eq!(world.place.attempts().len(), 3);
}
