//! What the attacks share: each is judged in a session of its own, as a PASS locks.

use crate::harness::EmailNet;
use crate::harness::case::{List, Worlds};
use crate::harness::email_net::Submission;

/// Expects that no case, each a name and what `make` makes a submission for `key` of, is a PASS.
#[track_caller]
pub fn none_passes<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
) {
    let passed = those(key, cases, make, |verdict| verdict == "PASS");
    assert_eq!(passed, [""; 0], "these passed");
}

/// Expects that every case is a PASS: the neighbours of attacks.
#[track_caller]
pub fn all_pass<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
) {
    let refused = those(key, cases, make, |verdict| verdict != "PASS");
    assert_eq!(refused, [""; 0], "these did not pass");
}

fn those<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
    is_wrong: fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut worlds = Worlds::new();
    let wrong = cases.into_iter().filter_map(|(what, case)| {
        let net = worlds.next(List::Names(&[key]), &[]);
        let (verdict, _) = net.judge(&make(net, case));
        is_wrong(&verdict).then_some(what)
    });
    wrong.collect()
}
