//! One request at a time to a host, across threads and processes.

use super::*;

const GAP: Duration = Duration::from_millis(120);

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(40)
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn a_host_has_one_turn_at_a_time_and_another_host_its_own() {
    let politeness = Politeness::new(None);
    let held = politeness.turn("acme.test", Duration::ZERO, later());
    assert!(held.is_some());
    assert!(
        politeness
            .turn("acme.test", Duration::ZERO, soon())
            .is_none()
    );
    assert!(
        politeness
            .turn("other.test", Duration::ZERO, soon())
            .is_some()
    );
    drop(held);
    assert!(
        politeness
            .turn("acme.test", Duration::ZERO, soon())
            .is_some()
    );
}

#[test]
fn two_requests_begin_a_gap_apart() {
    let politeness = Politeness::new(None);
    drop(politeness.turn("acme.test", GAP, later()));
    let began = Instant::now();
    assert!(politeness.turn("acme.test", GAP, later()).is_some());
    assert!(began.elapsed() + Duration::from_millis(20) >= GAP);
}

#[test]
fn a_gap_that_does_not_fit_is_not_waited_for() {
    let politeness = Politeness::new(None);
    let hour = Duration::from_secs(3_600);
    assert!(politeness.turn("acme.test", hour, soon()).is_some());
    assert!(politeness.turn("acme.test", hour, later()).is_none());
    // Giving up leaves the host free for whoever is less patient about the gap.
    assert!(
        politeness
            .turn("acme.test", Duration::ZERO, soon())
            .is_some()
    );
}

#[test]
fn another_process_with_the_same_directory_waits_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [one, other] = [(); 2].map(|()| Politeness::new(Some(dir.path().join("hosts"))));
    let held = one.turn("acme.test", Duration::ZERO, later());
    assert!(other.turn("acme.test", Duration::ZERO, soon()).is_none());
    drop(held);
    assert!(
        other
            .turn("acme.test", Duration::from_secs(3_600), later())
            .is_none()
    );
    assert!(other.turn("acme.test", Duration::ZERO, soon()).is_some());
}

#[test]
fn a_damaged_record_or_an_unusable_directory_stops_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let politeness = Politeness::new(Some(dir.path().to_owned()));
    drop(politeness.turn("acme.test", GAP, later()));
    for entry in fs::read_dir(dir.path()).expect("the directory is there") {
        fs::write(entry.expect("an entry").path(), b"\xff not a time").expect("it is ours");
    }
    let fresh = Politeness::new(Some(dir.path().to_owned()));
    assert!(fresh.turn("acme.test", GAP, soon()).is_some());

    let file = dir.path().join("file");
    fs::write(&file, b"").expect("it is ours");
    let nowhere = Politeness::new(Some(file.join("below")));
    assert!(nowhere.turn("acme.test", GAP, soon()).is_some());
    assert!(
        nowhere
            .turn("acme.test", Duration::from_secs(3_600), later())
            .is_none()
    );
}
