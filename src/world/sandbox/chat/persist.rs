//! Asking again where no answer came, for as long as the order allows.

use std::time::{Duration, Instant};

use super::{ChatOrder, Chatted, Said, Usage};

/// The wait before the second try; it doubles for each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Tells how long it has been, and waits.
pub(super) trait Clock {
    /// How long it has been since the start.
    fn passed(&self) -> Duration;

    /// Lets this long pass.
    fn wait(&self, span: Duration);
}

/// The time of this machine.
pub(super) struct SystemClock(Instant);

/// What came of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// An answer.
    Said(String, Usage),
    /// None, and another try would bring none.
    Settled(String),
    /// None; another try may bring one.
    Silent {
        /// Why.
        why: String,
        /// How long the server asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// None, and none will come to anybody who asks as the operator set it up.
    Refused(String),
}

/// Why nothing can be asked, by no fault of the model's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(pub String);

impl SystemClock {
    /// The time since now.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn passed(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait(&self, span: Duration) {
        std::thread::sleep(span);
    }
}

/// Tries until an answer comes, each try within the time that it is given.
pub(super) fn persist(
    order: &ChatOrder,
    clock: &dyn Clock,
    mut try_once: impl FnMut(Duration) -> Tried,
) -> Result<Chatted, Refused> {
    let failed = |tries: u32, why: String| {
        let why = match tries {
            1 => why,
            _ => format!("{why}, after {tries} tries"),
        };
        Ok(Chatted::Failed(why))
    };
    let mut tries = 0;
    loop {
        tries += 1;
        let left = order.timeout().saturating_sub(clock.passed());
        let (why, retry_after) = match try_once(left) {
            Tried::Said(text, usage) => {
                let millis = u64::try_from(clock.passed().as_millis()).unwrap_or(u64::MAX);
                return Ok(Chatted::Said(Said {
                    text,
                    usage,
                    millis,
                    tries,
                }));
            }
            Tried::Refused(why) => return Err(Refused(why)),
            Tried::Settled(why) => return failed(tries, why),
            Tried::Silent { why, retry_after } => (why, retry_after),
        };
        let left = order.timeout().saturating_sub(clock.passed());
        if tries > order.retries || left.is_zero() {
            return failed(tries, why);
        }
        let wait = retry_after.unwrap_or_else(|| backoff(tries));
        if left <= wait {
            return failed(tries, format!("{why}; a next try would come too late"));
        }
        clock.wait(wait);
    }
}

/// The wait after try number `tried`, from 1.
fn backoff(tried: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << (tried - 1).min(16))
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    /// A clock that stands but for what is waited and worked.
    #[derive(Default)]
    struct Hand {
        passed: Cell<Duration>,
        waits: RefCell<Vec<u128>>,
    }

    impl Clock for Hand {
        fn passed(&self) -> Duration {
            self.passed.get()
        }

        fn wait(&self, span: Duration) {
            self.waits.borrow_mut().push(span.as_millis());
            self.passed.set(self.passed.get() + span);
        }
    }

    fn order(timeout_ms: u64, retries: u32) -> ChatOrder {
        ChatOrder {
            base_url: "http://127.0.0.1:1".to_owned(),
            model: "small".to_owned(),
            key: None,
            system: String::new(),
            prompt: String::new(),
            timeout_ms,
            retries,
            most_bytes: 1,
        }
    }

    fn silent(retry_after: Option<u64>) -> Tried {
        Tried::Silent {
            why: "silence".to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    fn said() -> Tried {
        Tried::Said("No.".to_owned(), Usage::default())
    }

    /// What comes of these tries, each of which takes a second, and what was waited between them.
    fn outcome(order: &ChatOrder, tries: &[Tried]) -> (Result<Chatted, Refused>, Vec<u128>) {
        let clock = Hand::default();
        let mut tries = tries.iter().cloned();
        let outcome = persist(order, &clock, |left| {
            assert!(!left.is_zero(), "a try without time");
            clock
                .passed
                .set(clock.passed.get() + Duration::from_secs(1));
            tries.next().expect("no more tries than were scripted")
        });
        assert_eq!(tries.next(), None, "a try that was not made");
        (outcome, clock.waits.into_inner())
    }

    fn failure(outcome: Result<Chatted, Refused>) -> String {
        match outcome {
            Ok(Chatted::Failed(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn silence_is_asked_again_after_waits_that_double() {
        let (answer, waits) = outcome(
            &order(60_000, 3),
            &[silent(None), silent(None), silent(None), said()],
        );
        let said = Chatted::Said(Said {
            text: "No.".to_owned(),
            usage: Usage::default(),
            millis: 7_500,
            tries: 4,
        });
        assert_eq!(answer, Ok(said));
        assert_eq!(waits, [500, 1_000, 2_000]);
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_asks() {
        let (answer, waits) = outcome(
            &order(60_000, 2),
            &[silent(Some(7)), silent(Some(0)), said()],
        );
        assert!(matches!(answer, Ok(Chatted::Said(_))), "{answer:?}");
        assert_eq!(waits, [7_000, 0]);
    }

    #[test]
    fn nobody_waits_beyond_the_time_there_is() {
        let (answer, waits) = outcome(&order(60_000, 2), &[silent(Some(59))]);
        assert!(failure(answer).contains("too late"));
        assert_eq!(waits, []);
        let (answer, _) = outcome(&order(60_000, 2), &[silent(Some(u64::MAX))]);
        assert!(failure(answer).contains("too late"));
        let (answer, _) = outcome(&order(1_400, 2), &[silent(None)]);
        assert!(failure(answer).contains("too late"));
        let (answer, _) = outcome(&order(1_000, 2), &[silent(None)]);
        assert_eq!(failure(answer), "silence");
    }

    #[test]
    fn no_more_tries_are_made_than_were_ordered() {
        let (answer, waits) = outcome(&order(60_000, 1), &[silent(None), silent(None)]);
        assert_eq!(failure(answer), "silence, after 2 tries");
        assert_eq!(waits, [500]);
        let (answer, _) = outcome(&order(60_000, 0), &[silent(None)]);
        assert_eq!(failure(answer), "silence");
    }

    #[test]
    fn what_another_try_would_not_change_is_not_tried_again() {
        let (answer, _) = outcome(&order(60_000, 2), &[Tried::Settled("no".to_owned())]);
        assert_eq!(failure(answer), "no");
        let (answer, _) = outcome(&order(60_000, 2), &[Tried::Refused("key".to_owned())]);
        assert_eq!(answer, Err(Refused("key".to_owned())));
    }

    #[test]
    fn no_number_of_tries_overflows_the_wait() {
        assert_eq!(backoff(u32::MAX), FIRST_WAIT * 65_536);
    }
}
