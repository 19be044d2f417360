//! One request at a time to a host, across threads and processes.

use super::*;

const GAP: Duration = Duration::from_millis(120);
const SOON: Duration = Duration::from_millis(40);
const LATER: Duration = Duration::from_secs(20);

/// A turn at a host, if those who hold its lock are waited for this long.
fn turn(politeness: &Politeness, gap: Duration, patience: Duration) -> Option<Turn> {
    politeness.turn("acme.test", gap, patience).ok()
}

#[test]
fn a_host_has_one_turn_at_a_time_and_another_host_its_own() {
    let politeness = Politeness::default();
    let held = turn(&politeness, Duration::ZERO, LATER);
    assert!(held.is_some());
    assert!(turn(&politeness, Duration::ZERO, SOON).is_none());
    assert!(politeness.turn("other.test", Duration::ZERO, SOON).is_ok());
    drop(held);
    assert!(turn(&politeness, Duration::ZERO, SOON).is_some());
}

#[test]
fn two_requests_begin_a_gap_apart_however_short_the_patience_is() {
    let politeness = Politeness::default();
    drop(turn(&politeness, GAP, LATER));
    let began = Instant::now();
    assert!(turn(&politeness, GAP, SOON).is_some());
    assert!(began.elapsed() + Duration::from_millis(20) >= GAP);
}

#[test]
fn another_process_with_the_same_directory_waits_too() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [one, other] =
        [(); 2].map(|()| Politeness::new(TurnPlace::Directory(dir.path().join("hosts"))));
    let held = turn(&one, Duration::ZERO, LATER);
    assert!(turn(&other, Duration::ZERO, SOON).is_none());
    drop(held);
    let file = other.take("acme.test").ok();
    assert!(Turn::Local(file).since_last().is_some());
}

#[test]
fn a_lock_that_is_held_names_its_host_and_its_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let politeness = Politeness::new(TurnPlace::Directory(dir.path().to_owned()));
    let _held = turn(&politeness, Duration::ZERO, LATER);
    let refused = politeness.turn("acme.test", Duration::ZERO, SOON);
    let refused = refused.expect_err("it is held").to_string();
    let mut files = fs::read_dir(dir.path()).expect("the directory is there");
    let file = files.next().expect("a file").expect("an entry").path();
    for part in [
        "the lock of acme.test",
        "0.04 s",
        &file.display().to_string(),
    ] {
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_queue_is_still_while_it_begins_no_request() {
    let start = Instant::now();
    let time = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    let mut queue = Queue::default();
    // Each row: the time of the last request, when it is looked at, and for how long all was still.
    for (begun, at, still) in [
        (None, 0, 0),
        (None, 70, 70),
        (time(9), 75, 0),
        (time(9), 80, 5),
        (time(20), 85, 0),
        (time(9), 200, 0),
        (time(9), 300, 100),
    ] {
        let still_for = queue.still_for(begun, start + Duration::from_secs(at));
        assert_eq!(still_for, Duration::from_secs(still), "{at}");
    }
}

#[test]
fn a_damaged_record_or_unusable_directory_stops_no_request() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let politeness = Politeness::new(TurnPlace::Directory(dir.path().to_owned()));
    drop(turn(&politeness, GAP, LATER));
    for entry in fs::read_dir(dir.path()).expect("the directory is there") {
        fs::write(entry.expect("an entry").path(), b"\xff not a time").expect("it is ours");
    }
    let fresh = Politeness::new(TurnPlace::Directory(dir.path().to_owned()));
    assert!(turn(&fresh, GAP, SOON).is_some());

    let file = dir.path().join("file");
    fs::write(&file, b"").expect("it is ours");
    let nowhere = Politeness::new(TurnPlace::Directory(file.join("below")));
    assert!(turn(&nowhere, GAP, SOON).is_some());
    // The threads of one process still take turns.
    let _held = turn(&nowhere, GAP, SOON).expect("nobody else is there");
    assert!(turn(&nowhere, GAP, SOON).is_none());
}

#[test]
fn a_file_that_is_not_regular_blocks_nobody() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let name = hex::encode(Sha256::digest(b"acme.test"));
    let fifo = dir.path().join(name);
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    let _taken = File::options().read(true).write(true).open(&fifo);
    let politeness = Politeness::new(TurnPlace::Directory(dir.path().to_owned()));
    assert!(turn(&politeness, GAP, SOON).is_some());
}

/// One turn a host, as a database gives them.
#[derive(Debug, Default)]
struct OneTurn(std::sync::Mutex<Option<String>>);

impl SharedTurns for OneTurn {
    fn ask(&self, host: &str, _: Duration, _: Duration) -> Result<(Duration, SystemTime), String> {
        if host == "down.test" {
            return Err("the database is gone".to_owned());
        }
        let mut held = self.0.lock().expect("no thread panicked");
        let wait = if held.is_some() { SOON } else { Duration::ZERO };
        held.get_or_insert(host.to_owned());
        Ok((wait, UNIX_EPOCH))
    }

    fn end(&self, host: &str) {
        let held = self.0.lock().expect("no thread panicked").take();
        assert_eq!(held.as_deref(), Some(host));
    }
}

#[test]
fn a_shared_turn_ends_when_it_is_dropped_and_is_waited_for_until_then() {
    let politeness = Politeness::new(TurnPlace::Shared(Arc::new(OneTurn::default())));
    let held = turn(&politeness, GAP, SOON);
    assert!(held.is_some());
    assert!(turn(&politeness, GAP, SOON).is_none());
    drop(held);
    assert!(turn(&politeness, GAP, SOON).is_some());
    let refused = politeness
        .turn("down.test", GAP, SOON)
        .expect_err("nobody can be asked");
    assert!(refused.to_string().contains("the database is gone"));
}
