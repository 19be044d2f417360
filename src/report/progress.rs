//! How far a session is: the tally, and which rules fire.

use serde::Serialize;

use crate::quest::Digest;
use crate::session::{Counts, Outcome, Store, Tally};

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// How many quests stand where.
    pub tally: Tally,
    /// All quests.
    pub total: u32,
    /// PASSes that rest on no anchor: the company's name alone ties the site to it.
    pub unanchored: u32,
    /// PASSes that an earlier session brought.
    pub carried: u32,
    /// REVIEWs that were judged again, by what became of them.
    pub resolutions: Resolutions,
    /// Submissions judged.
    pub attempts: u32,
    /// How often each rule fired, the most frequent first.
    pub rules: Vec<RuleCount>,
    /// Quests in a row that ended with nothing proven.
    pub streak: u32,
    /// Whether that pauses the session.
    pub paused: bool,
    /// The hash of the ledger's last line.
    pub head: Digest,
}

/// REVIEWs that were judged again, by what became of them. Each is a REVIEW still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Resolutions {
    /// The gate passes them now.
    pub confirmed: u32,
    /// The gate fails them now.
    pub refuted: u32,
    /// The world answered, and the gate cannot decide.
    pub open: u32,
}

impl Resolutions {
    fn of(counts: &Counts) -> Self {
        let count = |outcome| counts.resolutions.get(&outcome).copied().unwrap_or(0);
        Self {
            confirmed: count(Outcome::Confirmed),
            refuted: count(Outcome::Refuted),
            open: count(Outcome::Open),
        }
    }
}

/// How often a rule fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleCount {
    /// The rule.
    pub rule: String,
    /// In how many attempts.
    pub attempts: u32,
}

/// Counts `session`.
#[must_use]
pub fn overview(session: &dyn Store) -> Overview {
    let totals = session.totals();
    let counts = &totals.counts;
    let mut rules: Vec<_> = counts
        .rules
        .iter()
        .map(|(rule, attempts)| RuleCount {
            rule: rule.clone(),
            attempts: *attempts,
        })
        .collect();
    rules.sort_by_key(|count| std::cmp::Reverse(count.attempts));
    let tally = totals.tally;
    Overview {
        tally,
        total: tally.total(),
        unanchored: counts.unanchored,
        carried: counts.carried,
        resolutions: Resolutions::of(counts),
        attempts: counts.attempts,
        rules,
        streak: totals.streak.length(),
        paused: session.paused(),
        head: session.head(),
    }
}
