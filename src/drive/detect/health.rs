//! Whether an agent that says nothing is at work.

use std::time::Duration;

/// What was seen of an agent's processes at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vitals {
    /// When, by a clock that only goes forward.
    pub at: Duration,
    /// The processor time that all its processes used so far.
    pub cpu: Duration,
    /// The bytes that it logged so far.
    pub logged: u64,
}

/// How an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It works, or was silent for less than the patience.
    Well,
    /// It neither used the processor nor logged anything for longer than the patience.
    Stalled,
}

/// What is known of an agent's life.
#[derive(Debug, Clone, Copy)]
pub struct Pulse {
    last: Vitals,
    silent: Duration,
    awake: Duration,
    patience: Duration,
    longest_step: Duration,
}

impl Pulse {
    /// The pulse of an agent that is looked at about every `interval`, and may be silent for
    /// `patience`.
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

    /// Takes in what is seen now.
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

    /// How long the agent was looked at, without what was suspended.
    #[must_use]
    pub fn awake(&self) -> Duration {
        self.awake
    }
}
