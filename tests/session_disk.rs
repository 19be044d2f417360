//! A disk without room, and files that cannot be opened, read or written: an error, and nothing is
//! acknowledged.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::email_net::ACME;
use crate::harness::{EmailNet, Place, Run};

/// The program in a shell that lets no file grow beyond so many blocks of 512 bytes.
fn limited(place: &Place, blocks: usize, args: &[String]) -> Run {
    let program = env!("CARGO_BIN_EXE_comail");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("/bin/sh");
    let command = command.args(["-c", &script, program]).args(args);
    // A program that is built to count its lines would write the counts beside its files.
    let command = command.env_clear().env("LLVM_PROFILE_FILE", "/dev/null");
    Run::of(command.current_dir(place.path()))
}

fn none() -> Vec<String> {
    ["submit", "--id=1", "--none=x"].map(str::to_owned).to_vec()
}

/// Expects an error that names the file and what could not be done, and no verdict.
#[track_caller]
fn assert_refused(run: &Run, file: &str) {
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains(file), "{file}: {run:?}");
    run.says("cannot ");
}

#[test]
fn a_submit_without_room_is_not_acknowledged_and_the_next_one_works() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    assert_refused(&limited(&world.place, 0, &none()), "ledger.jsonl");
    assert_eq!(world.place.ledger(), before);
    // Room for a part of the line.
    let blocks = before.len() / 512 + 1;
    assert_refused(&limited(&world.place, blocks, &none()), "ledger.jsonl");
    assert_eq!(world.place.ledger(), before);
    // The world was asked; what it said finds no room.
    let right = world.right("acme.co.kr");
    assert_refused(&limited(&world.place, 0, &right.args(1)), "evidence");
    assert_eq!(world.place.ledger(), before);
    let run = world.place.run(right.args(1));
    assert_eq!(run.stderr, "");
    run.ok();
}

#[test]
fn a_scan_without_room_leaves_nothing() {
    let place = Place::new();
    place.write("companies.txt", "Acme Foods\n".repeat(100));
    let scan = ["scan", "companies.txt"].map(str::to_owned);
    for blocks in [0, 1] {
        let run = limited(&place, blocks, &scan);
        assert_refused(&run, "cannot");
        let left: Vec<_> = fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["companies.txt"]);
    }
    place.run(scan).ok();
}

#[test]
fn an_update_without_room_changes_nothing() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let more: Vec<String> = (0..200).map(|n| format!("Company {n}")).collect();
    let more = format!("{ACME}\n{}\n", more.join("\n"));
    world.place.write("more.txt", more);
    let update = ["scan", "more.txt", "--update"].map(str::to_owned);
    for blocks in [0, before.len() / 512 + 1] {
        let run = limited(&world.place, blocks, &update);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert_eq!(world.place.ledger(), before);
    }
    let status = world.place.run(["status"]).ok();
    assert!(status.starts_with("1 quest,"), "{status}");
    world.place.run(update).ok();
}

#[test]
fn an_export_without_room_leaves_no_file() {
    let world = EmailNet::start();
    let run = limited(&world.place, 0, &["export".to_owned()]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(!run.stderr.is_empty());
    let names = fs::read_dir(world.place.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        names.iter().all(|name| name != "companies.comail.csv"),
        "{names:?}"
    );
    assert_eq!(names.len(), 3, "{names:?}");
}

/// A disk of its own, as small as they come, where the system lets one be made.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir(at).expect("an empty directory");
        let mut command = Command::new("mount");
        let mount = command.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]);
        let done = mount.arg(at).output().is_ok_and(|end| end.status.success());
        done.then(|| Self(at.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    fn fill(&self) {
        let mut room = vec![0; 512 << 10];
        // Writing ends where the room does.
        while fs::write(self.filler(), &room).is_err() {
            let written = fs::metadata(self.filler()).map_or(0, |file| file.len());
            room.truncate(usize::try_from(written).expect("a small disk"));
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.filler()).expect("the filler is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).status().ok();
    }
}

#[test]
fn a_full_disk_is_an_error_until_there_is_room() {
    let world = EmailNet::unscanned();
    let at = world.place.at("disk");
    // Where nothing can be mounted, the limit on file sizes has to do.
    let disk = SmallDisk::mount(&at);
    let named = |mut args: Vec<String>| {
        args.push(format!("--session={}", at.join("s").display()));
        args
    };
    world.place.scan(&[ACME], &named(world.flags()));
    let right = world.right("acme.co.kr");
    // More than the last page of the ledger has room for.
    let mut long = none();
    long[2] += &"because ".repeat(2_000);
    let submits = [named(long), named(right.args(1))];
    if let Some(disk) = &disk {
        disk.fill();
    }
    for submit in &submits {
        let run = match &disk {
            Some(_) => world.place.run(submit),
            None => limited(&world.place, 0, submit),
        };
        assert_refused(&run, at.to_str().unwrap());
        world.place.run(named(vec!["status".to_owned()])).ok();
    }
    if let Some(disk) = &disk {
        disk.make_room();
    }
    world.place.run(&submits[0]).exits(5);
    world.place.run(&submits[1]).ok();
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let session = world.place.at(".comail");
    let in_the_way = |name: &str, run: &mut dyn FnMut()| {
        let (path, aside) = (session.join(name), session.join("aside"));
        let was = fs::rename(&path, &aside).is_ok();
        fs::create_dir(&path).unwrap();
        run();
        fs::remove_dir(&path).unwrap();
        if was {
            fs::rename(&aside, &path).unwrap();
        }
    };
    in_the_way("lock", &mut || {
        assert_refused(&world.place.run(none()), ".comail/lock");
        world.place.run(["next"]).ok();
        world.place.run(["status"]).ok();
    });
    in_the_way("ledger.jsonl", &mut || {
        assert_refused(&world.place.run(none()), "ledger.jsonl");
        assert_refused(&world.place.run(["status"]), "ledger.jsonl");
    });
    in_the_way("session.json", &mut || {
        assert_refused(&world.place.run(["next"]), "session.json");
    });
    assert_eq!(world.place.ledger(), before);

    let evidence = session.join("evidence");
    fs::remove_dir(&evidence).unwrap();
    fs::write(&evidence, "in the way").unwrap();
    let right = world.right("acme.co.kr");
    assert_refused(&world.place.run(right.args(1)), "evidence");
    assert_eq!(world.place.ledger(), before);
    fs::remove_file(&evidence).unwrap();
    // Where no record of requests can be kept, requests are made all the same.
    fs::remove_dir_all(session.join("hosts")).ok();
    fs::write(session.join("hosts"), "in the way").unwrap();
    world.place.run(right.args(1)).ok();
}

/// What was done is done, whether or not anybody can read of it.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_is_full_does_not_make_what_was_done_undone() {
    let place = Place::new();
    place.write("list.csv", "company\nAcme Foods\n");
    for args in [&["scan", "list.csv", "--col=company"][..], &["export"]] {
        let full = fs::File::create("/dev/full").expect("a full device");
        let ended = place.command().args(args).stdout(full).status();
        assert_eq!(ended.expect("it runs").code(), Some(0), "{args:?}");
    }
    assert!(place.at("list.comail.csv").exists());
}

#[test]
fn a_workbook_without_room_is_an_error_and_leaves_nothing() {
    let world = EmailNet::start();
    let export = ["export", "--out=results.xlsx"].map(str::to_owned);
    let run = limited(&world.place, 0, &export);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    run.says("the disk has room");
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    assert!(!world.place.at("results.xlsx").exists());
    world.place.run(export).ok();
}

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
    // The ledger is a few kilobytes, the index some forty.
    let limited = |args: &[&str]| {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        limited(&world.place, 24, &args)
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
