//! How often an agent's stop is refused: no hook may hold an agent for ever.

use serde::{Deserialize, Serialize};

use crate::session::Totals;

/// How often a stop is refused in a row with nothing new in the ledger.
pub const MOST_REFUSALS: u32 = 20;

/// What was refused so far in one conversation; kept in the session directory between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// How far the ledger was then.
    pub at: Progress,
    /// How often in a row since.
    pub times: u32,
}

/// How far a ledger is. Claims are no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    attempts: u32,
    todo: u32,
}

/// Whether a stop is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It is, and this is to be kept.
    Hold(Refused),
    /// It is not: the agent was sent back so often with nothing new.
    LetGo(u32),
}

impl Progress {
    /// How far the ledger is that adds up to this.
    #[must_use]
    pub fn of(totals: &Totals) -> Self {
        Self {
            attempts: totals.counts.attempts,
            todo: totals.tally.todo,
        }
    }
}

impl Refused {
    /// What becomes of the next stop, with the ledger so far.
    #[must_use]
    pub fn again(self, now: Progress, most: u32) -> Patience {
        let times = if self.at == now { self.times } else { 0 };
        if times >= most {
            return Patience::LetGo(times);
        }
        Patience::Hold(Self {
            at: now,
            times: times + 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(attempts: u32) -> Progress {
        Progress { attempts, todo: 5 }
    }

    #[test]
    fn patience_ends_where_nothing_moves_and_begins_anew_where_something_does() {
        let mut refused = Refused::default();
        for times in 1..=3 {
            let Patience::Hold(next) = refused.again(far(1), 3) else {
                panic!("let go at {times}");
            };
            assert_eq!(next.times, times);
            refused = next;
        }
        assert_eq!(refused.again(far(1), 3), Patience::LetGo(3));
        let moved = Refused {
            at: far(2),
            times: 1,
        };
        assert_eq!(refused.again(far(2), 3), Patience::Hold(moved));
        assert_eq!(Refused::default().again(far(0), 0), Patience::LetGo(0));
    }
}
