//! One request at a time to a host, across threads and processes.

use super::*;

const GAP: Duration = Duration::from_millis(120);
const HOUR: Duration = Duration::from_secs(3_600);
const SOON: Duration = Duration::from_millis(40);
const LATER: Duration = Duration::from_secs(20);

/// A turn at a host within this time.
fn turn(politeness: &Politeness, gap: Duration, within: Duration) -> Option<Turn> {
    politeness.turn("acme.test", gap, Instant::now() + within)
}

#[test]
fn a_host_has_one_turn_at_a_time_and_another_host_its_own() {
    let politeness = Politeness::new(None);
    let held = turn(&politeness, Duration::ZERO, LATER);
    assert!(held.is_some());
    assert!(turn(&politeness, Duration::ZERO, SOON).is_none());
    let other = politeness.turn("other.test", Duration::ZERO, Instant::now() + SOON);
    assert!(other.is_some());
    drop(held);
    assert!(turn(&politeness, Duration::ZERO, SOON).is_some());
}

#[test]
fn two_requests_begin_a_gap_apart_and_one_that_does_not_fit_is_not_waited_for() {
    let politeness = Politeness::new(None);
    drop(turn(&politeness, GAP, LATER));
    let began = Instant::now();
    assert!(turn(&politeness, GAP, LATER).is_some());
    assert!(began.elapsed() + Duration::from_millis(20) >= GAP);
    assert!(turn(&politeness, HOUR, LATER).is_none());
    // Giving up leaves the host free for whoever is less patient about the gap.
    assert!(turn(&politeness, Duration::ZERO, SOON).is_some());
}

#[test]
fn another_process_with_the_same_directory_waits_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [one, other] = [(); 2].map(|()| Politeness::new(Some(dir.path().join("hosts"))));
    let held = turn(&one, Duration::ZERO, LATER);
    assert!(turn(&other, Duration::ZERO, SOON).is_none());
    drop(held);
    assert!(turn(&other, HOUR, LATER).is_none());
    assert!(turn(&other, Duration::ZERO, SOON).is_some());
}

#[test]
fn a_damaged_record_or_an_unusable_directory_stops_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let politeness = Politeness::new(Some(dir.path().to_owned()));
    drop(turn(&politeness, GAP, LATER));
    for entry in fs::read_dir(dir.path()).expect("the directory is there") {
        fs::write(entry.expect("an entry").path(), b"\xff not a time").expect("it is ours");
    }
    let fresh = Politeness::new(Some(dir.path().to_owned()));
    assert!(turn(&fresh, GAP, SOON).is_some());

    let file = dir.path().join("file");
    fs::write(&file, b"").expect("it is ours");
    let nowhere = Politeness::new(Some(file.join("below")));
    assert!(turn(&nowhere, GAP, SOON).is_some());
    assert!(turn(&nowhere, HOUR, LATER).is_none());
}
