//! What the attacks share: each is judged in a session of its own, as a PASS locks.

use crate::harness::email_net::{Submission, rules};
use crate::harness::{EmailNet, Place};

/// The verdict on `submission` for a company called `key`, and the rules that fired.
#[track_caller]
pub fn judged(world: &EmailNet, key: &str, submission: &Submission) -> (String, Vec<String>) {
    let place = Place::new();
    place.scan(&[key], &world.flags());
    verdict(&place, submission)
}

/// The verdict on `submission` for quest 1 of the session in `place`, and the rules that fired.
#[track_caller]
pub fn verdict(place: &Place, submission: &Submission) -> (String, Vec<String>) {
    let (_, answer) = place.json(submission.args(1));
    let verdict = answer["verdict"]
        .as_str()
        .unwrap_or_else(|| panic!("not judged: {answer}"));
    (verdict.to_owned(), rules(&answer))
}

/// Expects that none of `cases`, each a name and its verdict, is a PASS.
#[track_caller]
pub fn none_passes<'a>(cases: impl IntoIterator<Item = (&'a str, (String, Vec<String>))>) {
    let passed: Vec<_> = cases
        .into_iter()
        .filter(|(_, (verdict, _))| verdict == "PASS")
        .map(|(name, _)| name)
        .collect();
    assert_eq!(passed, [""; 0], "these passed");
}
