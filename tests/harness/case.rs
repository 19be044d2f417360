//! Tables of submissions and of what the gate says of them.

use super::EmailNet;
use super::email_net::{ACME, Submission};

/// A world, a submission, and what the gate must say of it.
#[derive(Clone, Copy)]
pub struct Case {
    /// What is so.
    pub what: &'static str,
    /// Makes it so, and returns what is submitted for quest 1.
    pub make: fn(&EmailNet) -> Submission,
    /// The verdict and every rule that fires, in order of their names: `FAIL mx-null no-reply`.
    pub expected: &'static str,
    list: List,
    flags: &'static [&'static str],
}

/// What is scanned.
#[derive(Clone, Copy)]
enum List {
    Names(&'static [&'static str]),
    Csv(&'static str),
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
    ($($what:literal => $expected:expr, $make:expr $(, $scanned:ident($list:expr))?;)*) => {
        &[$($crate::harness::case::case($what, $make, $expected)$(.$scanned($list))?),*]
    };
}
pub(crate) use cases;

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

    /// The rules that must fire.
    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        self.expected.split(' ').skip(1)
    }

    /// What the gate says.
    fn said(&self) -> String {
        let net = match self.list {
            List::Names(names) => EmailNet::with(names, self.flags),
            List::Csv(csv) => EmailNet::of_csv(csv, self.flags),
        };
        let submission = (self.make)(&net);
        net.says(&submission)
    }
}

/// Runs every case in a world of its own, and names all that are judged otherwise.
#[track_caller]
pub fn run(cases: &[Case]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let said = case.said();
            (said != case.expected).then(|| {
                let Case { what, expected, .. } = case;
                format!("{what}\n  expected: {expected}\n  said:     {said}")
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
