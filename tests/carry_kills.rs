//! `scan --carry` that is killed at any moment: a session that is whole, or none.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::harness::{EmailNet, Run};
use crate::sheets::pass;

const PASSES: u32 = 12;

/// How many scans are killed, at moments spread evenly over one and a quarter of a whole one.
const KILLS: u32 = 40;

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
    let (mut made, mut not_made) = (0, 0);
    for turn in 0..KILLS {
        let mut child = carrying(&world).spawn().expect("the program starts");
        // The moment is the test's subject; there is nothing to wait for instead.
        thread::sleep(whole * turn * 5 / (KILLS * 4));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        if !new.exists() {
            not_made += 1;
            continue;
        }
        made += 1;
        let (code, status) = world.place.json(["status", "--session=q2"]);
        assert_eq!(code, 0, "{status}");
        assert_eq!(status["carried"], PASSES);
        assert_eq!(status["tally"]["pass"], PASSES);
        world.place.run(["next", "--session=q2"]).exits(3);
        fs::remove_dir_all(&new).unwrap();
    }
    assert_eq!(world.place.ledger(), before);
    // Moments on both sides of the end were met.
    assert!(made > 0 && not_made > 0, "{made} made, {not_made} not");
}
