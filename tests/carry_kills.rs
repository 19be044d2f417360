//! `scan --carry` that is killed at any moment: a session that is whole, or none.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::harness::{EmailNet, Run};
use crate::sheets::pass;

const PASSES: u32 = 8;

/// Into how many parts a whole scan is cut by the moments at which one is killed.
const PARTS: u32 = 20;

fn carrying(world: &EmailNet) -> Command {
    let mut command = world.place.command();
    command
        .args(["scan", "companies.txt", "--session=q2", "--carry=.comail"])
        .args(world.flags())
        // A kill in the middle of adding to a shared file of counts would spoil it.
        .env("LLVM_PROFILE_FILE", "/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_killed_scan_leaves_a_whole_session_or_none() {
    let names: Vec<String> = (1..=PASSES).map(|n| format!("Company Number{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let world = EmailNet::with(&names, &[]);
    for (id, name) in (1..).zip(&names) {
        pass(&world, id, &format!("number{id}.co.kr"), name);
    }
    let before = world.place.ledger();
    let new = world.place.at("q2");
    let began = Instant::now();
    Run::of(&mut carrying(&world)).ok();
    let whole = began.elapsed();
    fs::remove_dir_all(&new).unwrap();
    let mut not_made = 0;
    for turn in 0.. {
        let mut child = carrying(&world).spawn().expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        thread::sleep(whole * turn / PARTS);
        let ended = child.try_wait().expect("a child");
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        if new.exists() {
            let (code, status) = world.place.json(["status", "--session=q2"]);
            assert_eq!(code, 0, "{status}");
            assert_eq!(status["carried"], PASSES);
            assert_eq!(status["tally"]["pass"], PASSES);
            world.place.run(["next", "--session=q2"]).exits(3);
            fs::remove_dir_all(&new).expect("a session");
        } else {
            not_made += 1;
        }
        // From here on a scan is over before it is killed.
        if ended.is_some() {
            break;
        }
    }
    assert!(not_made > 0, "the first is killed before it can have begun");
    assert_eq!(world.place.ledger(), before);
}
