//! How long to wait before a lookup is made again.

use std::time::Duration;

use super::settings::Limits;

/// The wait after try number `tried` (from 1): the first backoff, doubled for each further try.
#[must_use]
pub fn backoff(limits: &Limits, tried: u32) -> Duration {
    let doublings = tried.saturating_sub(1).min(16);
    Duration::from_millis(limits.backoff_ms.saturating_mul(1 << doublings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_never_overflows() {
        let limits = Limits {
            backoff_ms: 500,
            ..Limits::default()
        };
        let waits = [1, 2, 3].map(|tried| backoff(&limits, tried).as_millis());
        assert_eq!(waits, [500, 1_000, 2_000]);
        let endless = Limits {
            backoff_ms: u64::MAX,
            ..Limits::default()
        };
        assert_eq!(backoff(&endless, u32::MAX), Duration::from_millis(u64::MAX));
    }
}
