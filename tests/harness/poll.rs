//! Waiting for an event, however slow the machine is.

use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until `come` says so, and panics when it never does.
#[track_caller]
pub fn until(what: &str, come: impl FnMut() -> bool) {
    assert!(tried(come), "never: {what}");
}

/// Waits until `come` says so; whether it did in the end.
pub fn tried(mut come: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !come() {
        if began.elapsed() >= PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}
