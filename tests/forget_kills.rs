//! Forgetting that is cut off: the ledger is the old one or the new one, and the rest is caught
//! up on.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use comail::world::email_text::mentions;

use crate::harness::forge::found;
use crate::harness::forgotten::{ADDRESS, forget, known, left_in};
use crate::harness::{EmailNet, case, scale};

fn copy(world: &EmailNet, to: &str) {
    case::copy(&world.place.at(".comail"), &world.place.at(to));
}

fn forgetting(session: &str) -> Vec<String> {
    let session = format!("--session={session}");
    let args = [
        &session,
        "forget",
        ADDRESS,
        "--note=x",
        "--operator-key=key",
    ];
    args.map(str::to_owned).to_vec()
}

fn holds_it(text: &str) -> bool {
    !mentions(text, &|address| address == ADDRESS).is_empty()
}

#[test]
fn killed_at_any_moment_it_is_done_or_not_begun() {
    let world = known();
    copy(&world, "whole");
    let began = Instant::now();
    world.place.run(forgetting("whole")).ok();
    let whole = began.elapsed();
    let kills = u32::try_from(scale::kills(12)).expect("a small number");
    for turn in 0..kills {
        let name = format!("killed{turn}");
        copy(&world, &name);
        let mut command = world.place.command();
        // A kill in the middle of adding to a shared file of counts would spoil it.
        let command = command
            .args(forgetting(&name))
            .env("LLVM_PROFILE_FILE", "/dev/null");
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        thread::sleep(whole * turn / kills);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let dir = world.place.at(&name);
        let text = fs::read_to_string(dir.join("ledger.jsonl")).expect("a ledger");
        let (recorded, kept) = (text.contains("\"type\":\"forgotten\""), holds_it(&text));
        assert_ne!(recorded, kept, "turn {turn}");
        let session = format!("--session={name}");
        let (_, report) = world.place.json([&session, "audit"]);
        let cut_off = |kind: &String| recorded && kind.starts_with("source ");
        assert!(
            found(&report).iter().all(cut_off),
            "turn {turn}: {report:#}"
        );
        world.place.run(forgetting(&name)).ok();
        assert_eq!(left_in(&dir), Vec::<String>::new(), "turn {turn}");
        let (code, report) = world.place.json([&session, "audit"]);
        assert_eq!(
            (code, found(&report)),
            (0, vec![]),
            "turn {turn}: {report:#}"
        );
        fs::remove_dir_all(dir).expect("it can be removed");
    }
}

#[test]
fn what_was_left_over_is_told_and_removed() {
    let world = known();
    copy(&world, "before");
    forget(&world).ok();
    let dir = world.place.at(".comail");
    let ledger = world.place.ledger();
    // As if it had died right after the ledger took its new form.
    let before = world.place.at("before");
    for held in left_in(&before) {
        let held = Path::new(&held).strip_prefix(&before).expect("inside");
        if held.starts_with("evidence") || held.starts_with("source.csv") {
            fs::copy(before.join(held), dir.join(held)).expect("a copy");
        }
    }
    assert_eq!(left_in(&dir).len(), 2);
    let (code, report) = world.place.json(["audit"]);
    assert_eq!(
        (code, found(&report)),
        (8, vec!["source 1 -".to_owned()]),
        "{report:#}"
    );
    let text = report.to_string();
    assert!(
        text.contains("still contains an address that was forgotten"),
        "{text}"
    );
    assert!(text.contains("in evidence/ contain an address"), "{text}");
    world.place.run(["export", "out.csv"]).exits(8);
    forget(&world).ok();
    assert_eq!(world.place.ledger(), ledger, "nothing more is recorded");
    assert_eq!(left_in(&dir), Vec::<String>::new());
    let (code, report) = world.place.json(["audit"]);
    assert_eq!((code, found(&report)), (0, vec![]), "{report:#}");
}
