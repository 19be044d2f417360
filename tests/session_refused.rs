//! Session directories of which the system lets only a part be written, or nothing.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Run};

/// Somebody who owns nothing here, for tests that run as one whom no permission stops.
const NOBODY: u32 = 65534;

/// The program as one whom permissions stop.
fn stopped(world: &EmailNet, args: &[&str]) -> Run {
    let mut command = world.place.command();
    command.args(args).env("LLVM_PROFILE_FILE", "/dev/null");
    let mine = fs::metadata(world.place.path()).expect("a directory");
    if mine.uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    Run::of(&mut command)
}

fn mode(world: &EmailNet, name: &str, mode: u32) {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(world.place.at(name), permissions).expect("its mode is set");
}

/// A session that can be read and not written, with one claim and one attempt.
fn read_only() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.place.run(["next", "--worker=a"]).ok();
    assert_eq!(world.place.give_up(2), 5);
    mode(&world, ".", 0o755);
    for name in [
        "ledger.jsonl",
        "index.sqlite",
        "lock",
        "session.json",
        "source.txt",
    ] {
        mode(&world, &format!(".comail/{name}"), 0o444);
    }
    mode(&world, ".comail/evidence", 0o555);
    mode(&world, ".comail", 0o555);
    world
}

#[test]
fn a_session_that_may_only_be_read_is_read_and_nothing_is_acknowledged() {
    let world = read_only();
    let before = world.place.ledger();
    let look = || {
        let status = stopped(&world, &["status"]).ok();
        assert!(
            status.starts_with("2 quests, 2 left, 1 submission judged"),
            "{status}"
        );
        let claims = stopped(&world, &["claims"]).ok();
        assert!(claims.starts_with("1 quest claimed"), "{claims}");
        let next = stopped(&world, &["next"]).ok();
        assert!(
            next.starts_with("quest 2 of 2, 2 left, try 2 of 3"),
            "{next}"
        );
        stopped(&world, &["submit", "--id=1", "--none=x"]).exits(7);
        for (args, file) in [
            (&["submit", "--id=2", "--none=x"][..], "lock"),
            (&["next", "--worker=b"], "lock"),
        ] {
            let run = stopped(&world, args);
            assert!(
                run.stderr.contains(file) && run.stderr.contains("cannot "),
                "{run:?}"
            );
            assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        }
        assert_eq!(world.place.ledger(), before);
    };
    look();
    // Without an index, or with one that does not fit, the ledger is read each time.
    mode(&world, ".comail", 0o755);
    let index = world.place.at(".comail/index.sqlite");
    fs::write(&index, "rubbish").expect("an index");
    mode(&world, ".comail", 0o555);
    look();
    mode(&world, ".comail", 0o755);
    fs::remove_file(&index).expect("an index");
    mode(&world, ".comail", 0o555);
    look();
    mode(&world, ".comail", 0o755);
    for name in ["ledger.jsonl", "lock"] {
        mode(&world, &format!(".comail/{name}"), 0o644);
    }
    mode(&world, ".comail/evidence", 0o755);
    world.place.run(["submit", "--id=2", "--none=x"]).exits(5);
}

#[test]
fn a_ledger_that_may_not_be_written_takes_nothing() {
    let world = read_only();
    let before = world.place.ledger();
    mode(&world, ".comail", 0o777);
    mode(&world, ".comail/lock", 0o666);
    mode(&world, ".comail/index.sqlite", 0o666);
    for args in [
        &["submit", "--id=2", "--none=x"][..],
        &["next", "--worker=b"],
    ] {
        let run = stopped(&world, args);
        run.says("ledger.jsonl: cannot append");
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    }
    assert_eq!(world.place.ledger(), before);
    let (_, claims) = world.place.json(["claims"]);
    assert_eq!(
        claims["claims"].as_array().map(Vec::len),
        Some(1),
        "{claims}"
    );
    mode(&world, ".comail", 0o700);
}

/// Room for the ledger, and none for the index.
#[test]
fn what_the_ledger_has_is_acknowledged_though_the_index_has_no_room() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let index = world.place.at(".comail/index.sqlite");
    let limited = |args: &[&str]| {
        // The ledger is a few kilobytes, the index some forty.
        let script = "ulimit -f 24; exec \"$0\" \"$@\"";
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script, env!("CARGO_BIN_EXE_comail")])
            .args(args);
        command.env_clear().env("LLVM_PROFILE_FILE", "/dev/null");
        Run::of(command.current_dir(world.place.path()))
    };
    assert!(fs::metadata(&index).expect("an index").len() > 24 * 512);
    limited(&["submit", "--id=1", "--none=x"]).exits(5);
    assert_eq!(world.place.attempts(), [(1, 1)]);
    let run = limited(&["next", "--worker=a", "--json"]);
    assert!(run.stdout.contains("\"worker\":\"a\""), "{run:?}");
    run.ok();
    limited(&["submit", "--id=1", "--none=y"]).exits(7);
    fs::remove_file(&index).expect("an index");
    limited(&["submit", "--id=1", "--worker=a", "--none=y"]).exits(5);
    limited(&["status"]).ok();
    assert_eq!(world.place.attempts(), [(1, 1), (1, 2)]);
    world
        .place
        .run(["submit", "--id=1", "--worker=a", "--none=z"])
        .exits(6);
    world.place.run(["next", "--worker=a"]).ok();
}

#[test]
fn who_only_reads_does_not_wait_for_the_lock() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    world.place.run(["next", "--worker=a"]).ok();
    let lock = File::create(world.place.at(".comail/lock")).expect("the lock");
    lock.lock().expect("the lock is free");
    for args in [
        &["status"][..],
        &["claims"],
        &["next"],
        &["next", "--worker=a"],
    ] {
        world.place.run(args).ok();
    }
    assert_eq!(world.place.give_up(1), 7);
    let mut waiting = world.place.command();
    waiting
        .args(["submit", "--id=2", "--none=x"])
        .stdout(Stdio::null());
    let mut waiting = waiting.spawn().expect("it starts");
    assert!(waiting.try_wait().expect("a child").is_none());
    drop(lock);
    assert_eq!(waiting.wait().expect("it ends").code(), Some(5));
    assert_eq!(world.place.attempts(), [(2, 1)]);
}
