//! Tables of submissions and the verdicts that the gate must give.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use walkdir::WalkDir;

use super::email_net::{ACME, Submission};
use super::{EmailNet, Place};

/// A world, a submission, and the verdict that the gate must give.
#[derive(Clone, Copy)]
pub struct Case {
    pub what: &'static str,
    /// Sets up the world, and returns the submission for quest 1.
    pub make: fn(&EmailNet) -> Submission,
    /// The verdict and every rule that fires, in order of their names: `FAIL mx-null no-reply`.
    pub expected: &'static str,
    list: List<'static>,
    flags: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
pub enum List<'a> {
    Names(&'a [&'a str]),
    Csv(&'a str),
}

/// A case of a session that holds Acme Foods alone.
pub const fn case(
    what: &'static str,
    make: fn(&EmailNet) -> Submission,
    expected: &'static str,
) -> Case {
    Case {
        what,
        make,
        expected,
        list: List::Names(&[ACME]),
        flags: &[],
    }
}

/// A table of cases, a row each: `"what is so" => expected, make;`, and where something else is
/// scanned, `"what is so" => expected, make, with(flags);`.
macro_rules! cases {
    ($($what:literal => $expected:expr, $make:expr $(, $scanned:ident($list:expr))*;)*) => {
        &[$($crate::harness::case::case($what, $make, $expected)$(.$scanned($list))*),*]
    };
}
pub(crate) use cases;

/// A table of cases, a row each: `"what is tried", value => expected;`.
macro_rules! rows {
    ($($($value:expr),+ => $expected:expr;)+) => {
        [$(($($value),+, $expected)),+]
    };
}
pub(crate) use rows;

impl Case {
    /// The same, scanned with these further flags.
    pub const fn with(mut self, flags: &'static [&'static str]) -> Self {
        self.flags = flags;
        self
    }

    /// The same in a session of these companies.
    pub const fn named(mut self, names: &'static [&'static str]) -> Self {
        self.list = List::Names(names);
        self
    }

    /// The same in a session of this list.
    pub const fn listed(mut self, csv: &'static str) -> Self {
        self.list = List::Csv(csv);
        self
    }

    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.expected.split(' ').skip(1)
    }
}

/// Worlds one after the other, on the same servers: each list is scanned once, and every later
/// world begins with a copy of its session.
pub struct Worlds {
    net: EmailNet,
    /// By list and flags.
    scanned: HashMap<String, TempDir>,
}

impl Worlds {
    pub fn new() -> Self {
        Self {
            net: EmailNet::unscanned(),
            scanned: HashMap::new(),
        }
    }

    /// A new world with a session of this list; what was judged in the one before is judged
    /// again from its evidence.
    pub fn next(&mut self, list: List<'_>, flags: &[&str]) -> &EmailNet {
        self.net.assert_honest();
        self.net.place = Place::new();
        self.net.forget_servers();
        let session = self.net.place.at(".comail");
        let key = format!("{list:?} {flags:?}");
        if let Some(kept) = self.scanned.get(&key) {
            copy(kept.path(), &session);
            return &self.net;
        }
        match list {
            List::Names(names) => self.net.place.scan(names, &self.net.flags_with(flags)),
            List::Csv(csv) => self.net.scan_csv(csv, flags),
        }
        let kept = tempfile::tempdir().expect("a temporary directory");
        copy(&session, kept.path());
        self.scanned.insert(key, kept);
        &self.net
    }
}

/// Copies the folders and files below `from`, except what Python compiled.
pub fn copy(from: &Path, to: &Path) {
    let entries = WalkDir::new(from).into_iter();
    for entry in entries.filter_entry(|entry| entry.file_name() != "__pycache__") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.path().strip_prefix(from).expect("below it"));
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).expect("a directory");
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// Runs every case in a world of its own, and lists all that get another verdict.
#[track_caller]
pub fn run(cases: &[Case]) {
    let mut worlds = Worlds::new();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let net = worlds.next(case.list, case.flags);
            let said = net.says(&(case.make)(net));
            (said != case.expected).then(|| {
                let Case { what, expected, .. } = case;
                format!("{what}\n  expected: {expected}\n  said:     {said}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
