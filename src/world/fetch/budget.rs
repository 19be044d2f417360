//! The time that the lookups of one submission share.
//!
//! Only exchanges, and pauses that a site requires, use it up. An agent can start many submissions at
//! once, hold the lock of a host, and stop or starve this process. If that time were charged to the
//! site, the agent could make any site look unresponsive, and get any answer locked as REVIEW.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::settings::Limits;
use crate::world::{Unanswered, UnansweredKind};

/// The longest time between two readings of the clock. If more has passed, this process did not run.
const TICK: Duration = Duration::from_millis(20);

/// A process that did not run for less than this is only busy.
const MIN_STOP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Budget {
    limit: Duration,
    times: Mutex<Times>,
}

#[derive(Debug, Default)]
struct Times {
    charged: Duration,
    waited: Waited,
}

/// How long this process waited for exchanges, and how long it ran during that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Waited {
    passed: Duration,
    ran: Duration,
}

impl Waited {
    fn since(self, earlier: Self) -> Self {
        Self {
            passed: self.passed.saturating_sub(earlier.passed),
            ran: self.ran.saturating_sub(earlier.ran),
        }
    }

    /// Whether this process did not run for most of the time. Then the answer may have come after a
    /// timer had expired, or the other side may have given up.
    fn was_stopped(self) -> bool {
        let stopped = self.passed.saturating_sub(self.ran);
        stopped >= MIN_STOP && stopped > self.ran
    }
}

impl Budget {
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            times: Mutex::default(),
        }
    }

    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The rest of the budget; `None` once it is used up.
    pub fn left(&self) -> Option<Duration> {
        let left = self.limit.saturating_sub(self.times().charged);
        (!left.is_zero()).then_some(left)
    }

    pub fn charge(&self, time: Duration) {
        let mut times = self.times();
        times.charged = times.charged.saturating_add(time);
    }

    pub fn used_up(&self) -> Unanswered {
        let limit = self.limit.as_secs_f64();
        let detail = format!("the {limit} s for all lookups of one submission are used up");
        Unanswered::new(UnansweredKind::Budget, detail)
    }

    /// Waits for an exchange until this process has run for `limit`, and charges the time. `None` if
    /// there is no answer by then.
    pub async fn wait<T>(&self, limit: Duration, exchange: impl Future<Output = T>) -> Option<T> {
        let mut exchange = pin!(exchange);
        let mut left = limit;
        while !left.is_zero() {
            let (tick, began) = (TICK.min(left), Instant::now());
            let answer = tokio::time::timeout(tick, exchange.as_mut()).await;
            self.note(began.elapsed());
            if let Ok(answer) = answer {
                return Some(answer);
            }
            left -= tick;
        }
        None
    }

    fn note(&self, passed: Duration) {
        let ran = passed.min(TICK);
        let mut times = self.times();
        times.charged = times.charged.saturating_add(ran);
        times.waited.passed += passed;
        times.waited.ran += ran;
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tries until there is an answer, no try is left, or the next one would exceed the budget. The error
/// of a try says why there is no answer, and how long the other side asks to wait.
pub fn retry<T>(
    limits: &Limits,
    budget: &Budget,
    mut try_once: impl FnMut() -> Result<T, (Unanswered, Option<Duration>)>,
) -> Result<T, Unanswered> {
    let before = budget.times().waited;
    let mut tried = 0;
    loop {
        tried += 1;
        let (why, asked) = match try_once() {
            Ok(answer) => return Ok(answer),
            Err(silence) => silence,
        };
        let pause = backoff(limits, tried).max(asked.unwrap_or_default());
        if tried >= limits.tries || budget.left().is_none_or(|left| left <= pause) {
            let waited = budget.times().waited.since(before);
            return Err(if waited.was_stopped() {
                not_asked(format!("comail itself was stopped meanwhile ({why})"))
            } else {
                why
            });
        }
        thread::sleep(pause);
        budget.charge(pause);
    }
}

/// No answer, for a reason on this side.
pub(super) fn not_asked(detail: String) -> Unanswered {
    Unanswered::new(UnansweredKind::NotAsked, detail)
}

/// The wait after try number `tried` (from 1): the first backoff, doubled for each further try.
fn backoff(limits: &Limits, tried: u32) -> Duration {
    let doublings = tried.saturating_sub(1).min(16);
    Duration::from_millis(limits.backoff_ms.saturating_mul(1 << doublings))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::base::rows;
    use crate::world::client::block_on;

    const NOT_YET: Duration = Duration::from_millis(1);

    fn limits(tries: u32) -> Limits {
        Limits {
            tries,
            backoff_ms: 0,
            ..Limits::default()
        }
    }

    #[test]
    fn a_budget_may_be_empty_or_endless() {
        let empty = Budget::new(Duration::ZERO);
        assert_eq!(empty.left(), None);
        assert_eq!(empty.used_up().silence, UnansweredKind::Budget);
        empty.charge(Duration::MAX);
        empty.charge(Duration::MAX);
        assert_eq!(empty.left(), None);
        assert_eq!(Budget::new(Duration::MAX).left(), Some(Duration::MAX));
    }

    #[test]
    fn only_time_of_the_world_is_charged() {
        let budget = Budget::new(Duration::from_mins(1));
        thread::sleep(NOT_YET);
        assert_eq!(budget.left(), Some(Duration::from_mins(1)));
        budget.charge(Duration::from_secs(20));
        assert_eq!(budget.left(), Some(Duration::from_secs(40)));
        let answer = block_on(budget.wait(Duration::from_secs(1), ready(7)));
        assert_eq!(answer.unwrap(), Some(7));
        let limit = TICK * 3;
        let silence = block_on(budget.wait(limit, pending::<()>()));
        assert_eq!(silence.unwrap(), None);
        assert!(budget.left().unwrap() + limit <= Duration::from_secs(40));
    }

    #[test]
    fn a_process_that_was_stopped_is_charged_one_tick() {
        let budget = Budget::new(Duration::from_mins(1));
        budget.note(Duration::from_hours(1));
        assert_eq!(budget.left().unwrap() + TICK, Duration::from_mins(1));
    }

    #[test]
    fn a_process_that_did_not_run_for_most_of_the_time_was_stopped() {
        // Each row: how long an exchange took, in milliseconds, and for how much of that comail ran.
        for (passed, ran, stopped) in rows! {
            0, 0 => false;
            20_000, 20_000 => false;
            // A busy machine.
            900, 20 => false;
            20_000, 15_000 => false;
            20_000, 10_000 => false;
            20_000, 9_000 => true;
            1_020, 20 => true;
            60_000, 20 => true;
        } {
            let [passed, ran] = [passed, ran].map(Duration::from_millis);
            assert_eq!(
                Waited { passed, ran }.was_stopped(),
                stopped,
                "{passed:?} {ran:?}"
            );
        }
    }

    #[test]
    fn a_lookup_is_silent_only_if_this_process_ran() {
        let silence = || Unanswered::new(UnansweredKind::Timeout, "no answer");
        // Each row: how long each of three tries takes, in milliseconds, and what becomes of them.
        for (times, kind) in rows! {
            [20, 20, 20] => UnansweredKind::Timeout;
            [20, 600, 600] => UnansweredKind::NotAsked;
        } {
            let budget = Budget::new(Duration::from_mins(1));
            // Time before the lookup does not count for it.
            budget.note(Duration::from_mins(1));
            let mut times = times.into_iter().map(Duration::from_millis);
            let tried = retry(&limits(3), &budget, || {
                budget.note(times.next().unwrap());
                Err::<(), _>((silence(), None))
            });
            assert_eq!(tried.unwrap_err().silence, kind);
        }
        // An answer counts, whenever it comes.
        let budget = Budget::new(Duration::from_mins(1));
        let mut tried = 0;
        let answer = retry(&limits(3), &budget, || {
            budget.note(Duration::from_mins(1));
            tried += 1;
            if tried == 2 {
                Ok(tried)
            } else {
                Err((silence(), None))
            }
        });
        assert_eq!(answer, Ok(2));
    }

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
