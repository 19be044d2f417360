//! The sessions of two quarters, the later of which begins with what the earlier has proven.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use comail::session::{Attempt, Carried, Entry, Event, Session};
use serde_json::{Value, json};

use crate::harness::replayed::attempts;
use crate::harness::{EmailNet, Run};
use crate::sheets::{done, pass, review};

const OLD_LIST: &str = "company,site
Acme Foods,acme.co.kr
Beta Steel,
Gamma Optics,
Delta Labs,
Zeta Air,
";

const NEW_LIST: &str = "company,site
Kestrel Lamps,
Delta Labs,
Gamma Optics,
Beta  Steel,
Acme Foods,https://www.ACME.co.kr/
";

/// A session in which 1 and 2 have passed, 3 is REVIEW, 4 is DONE and 5 is to be worked on.
pub fn quarter() -> EmailNet {
    let world = EmailNet::unscanned();
    world.place.write("old.csv", OLD_LIST);
    world.place.write("new.csv", NEW_LIST);
    scan(&world, "old.csv", &[]).ok();
    pass(&world, 1, "acme.co.kr", "Acme Foods");
    pass(&world, 2, "beta.co.kr", "Beta Steel");
    review(&world, 3, "gamma.co.kr", "Gamma Optics", "gamma@gmail.com");
    done(&world, 4, "delta.co.kr", "Delta Labs");
    world
}

/// Scans a list of companies and their sites, with these further arguments.
pub fn scan(world: &EmailNet, list: &str, args: &[&str]) -> Run {
    let mut line = ["scan", list, "--col=company", "--site-col=site"]
        .map(str::to_owned)
        .to_vec();
    line.extend(world.flags_with(args));
    world.place.run(line)
}

/// Scans `list` into the session `to`, with what `.comail` has proven.
#[track_caller]
pub fn carry(world: &EmailNet, list: &str, to: &str, args: &[&str]) -> Value {
    let (to, from) = (format!("--session={to}"), "--carry=.comail");
    let run = scan(
        world,
        list,
        &[&[to.as_str(), from, "--json"], args].concat(),
    );
    let text = run.ok();
    let answer: Value = serde_json::from_str(&text).expect("one document");
    answer["carried"].clone()
}

/// How many were carried, and how many were not, by reason.
pub fn counts(carried: u32, not_carried: &[(&str, u32)]) -> Value {
    let not_carried: BTreeMap<_, _> = not_carried.iter().copied().collect();
    json!({"from": ".comail", "carried": carried, "not_carried": not_carried})
}

/// The numbers of PASS, REVIEW, DONE and TODO.
pub fn tally(world: &EmailNet, session: &str) -> [u64; 4] {
    let (_, status) = world.place.json(["status", "--session", session]);
    ["pass", "review", "done", "todo"]
        .map(|state| status["tally"][state].as_u64().expect("a number"))
}

/// Every file under `dir`, with its bytes.
pub fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else {
                files.insert(path.clone(), fs::read(path).expect("a file"));
            }
        }
    }
    files
}

pub fn attempts_of(world: &EmailNet, session: &str) -> Vec<Attempt> {
    attempts(&Session::open(&world.place.at(session)).expect("a session"))
}

/// Every PASS that was carried into a session.
pub fn carried_of(world: &EmailNet, session: &str) -> Vec<Carried> {
    let session = Session::open(&world.place.at(session)).expect("a session");
    let mut found = Vec::new();
    let mut take = |entry: Entry<'_>| {
        if let Event::Carried(carried) = entry.event {
            found.push(*carried);
        }
    };
    session.log().read_on(&mut take).expect("a ledger");
    found
}

/// `email,status,tries,judged-at` of each row of the export.
pub fn exported(world: &EmailNet, session: &str) -> Vec<String> {
    let out = format!("{session}.csv");
    let columns = "--columns=email,status,tries,judged-at";
    world
        .place
        .run(["export", "--out", &out, columns, "--session", session])
        .ok();
    let text = fs::read_to_string(world.place.at(&out)).expect("a file");
    let added = |line: &str| line.splitn(3, ',').nth(2).expect("three cells").to_owned();
    text.lines().skip(1).map(added).collect()
}
