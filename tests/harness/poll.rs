//! Waiting for what must come, however slow the machine is.

use std::thread;
use std::time::{Duration, Instant};

/// How long is waited for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `come` says so.
///
/// # Panics
///
/// When it never does.
#[track_caller]
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    let began = Instant::now();
    while !come() {
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
