//! How far a session is: the tally, and which rules fire.

use serde::Serialize;

use crate::quest::Digest;
use crate::session::{Store, Tally};

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
        attempts: counts.attempts,
        rules,
        streak: totals.streak.length(),
        paused: session.paused(),
        head: session.head(),
    }
}
