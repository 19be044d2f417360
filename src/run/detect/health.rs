//! Whether an agent that says nothing is at work.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    pub at: Duration,
    pub cpu: Duration,
    pub logged: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Well,
    Stalled,
}

#[derive(Debug, Clone, Copy)]
pub struct Pulse {
    last: Vitals,
    silent: Duration,
    awake: Duration,
    patience: Duration,
    longest_step: Duration,
}

impl Pulse {
    #[must_use]
    pub fn new(first: Vitals, interval: Duration, patience: Duration) -> Self {
        Self {
            last: first,
            silent: Duration::ZERO,
            awake: Duration::ZERO,
            patience,
            longest_step: interval.saturating_mul(10),
        }
    }

    pub fn see(&mut self, now: Vitals) -> Health {
        let step = now.at.saturating_sub(self.last.at);
        // What took much longer than the next look was due is time in which the machine, or this
        // program, was suspended: nobody could do anything.
        let step = step.min(self.longest_step);
        let works = now.cpu > self.last.cpu || now.logged > self.last.logged;
        self.awake = self.awake.saturating_add(step);
        self.silent = if works {
            Duration::ZERO
        } else {
            self.silent.saturating_add(step)
        };
        self.last = now;
        if self.silent > self.patience {
            Health::Stalled
        } else {
            Health::Well
        }
    }

    #[must_use]
    pub fn awake(&self) -> Duration {
        self.awake
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);
    const PATIENCE: Duration = Duration::from_secs(60);

    fn vitals(at: u64, cpu: u64, logged: u64) -> Vitals {
        Vitals {
            at: Duration::from_millis(at),
            cpu: Duration::from_millis(cpu),
            logged,
        }
    }

    fn after(seconds: u64, cpu: impl Fn(u64) -> u64, logged: impl Fn(u64) -> u64) -> Health {
        let mut pulse = Pulse::new(vitals(0, 0, 0), INTERVAL, PATIENCE);
        let looks = (1..=seconds * 10).map(|look| vitals(look * 100, cpu(look), logged(look)));
        looks.map(|now| pulse.see(now)).last().unwrap()
    }

    #[test]
    fn silence_alone_is_a_stall_after_the_patience() {
        assert_eq!(after(60, |_| 0, |_| 0), Health::Well);
        assert_eq!(after(61, |_| 0, |_| 0), Health::Stalled);
    }

    #[test]
    fn who_computes_or_logs_is_well_however_long_it_takes() {
        assert_eq!(after(36_000, |look| look / 500 * 10, |_| 0), Health::Well);
        assert_eq!(after(36_000, |_| 0, |look| look / 500), Health::Well);
    }

    #[test]
    fn who_comes_back_is_well_again() {
        let mut pulse = Pulse::new(vitals(0, 0, 0), INTERVAL, PATIENCE);
        for look in 1..=700 {
            pulse.see(vitals(look * 100, 0, 0));
        }
        assert_eq!(pulse.see(vitals(70_100, 0, 0)), Health::Stalled);
        assert_eq!(pulse.see(vitals(70_200, 10, 0)), Health::Well);
    }

    #[test]
    fn time_in_which_the_machine_was_suspended_is_forgiven() {
        let mut pulse = Pulse::new(vitals(0, 0, 0), INTERVAL, PATIENCE);
        assert_eq!(pulse.see(vitals(8 * 3_600_000, 0, 0)), Health::Well);
        assert_eq!(pulse.awake(), Duration::from_secs(1));
    }

    proptest! {
        #[test]
        fn no_more_time_is_counted_than_went_by(steps in prop::collection::vec(0..100_000_u64, 0..50)) {
            let mut pulse = Pulse::new(vitals(0, 0, 0), INTERVAL, PATIENCE);
            let mut at = 0;
            for step in steps {
                at += step;
                pulse.see(vitals(at, 0, 0));
                prop_assert!(pulse.awake() <= Duration::from_millis(at));
                prop_assert!(pulse.awake() >= Duration::from_millis(step.min(1_000)));
            }
        }
    }
}
