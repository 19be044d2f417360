//! How far a session is: the tally, and which rules fire.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::gate::email::anchor::is_anchored;
use crate::gate::{Judgement, RuleId};
use crate::quest::Digest;
use crate::session::{Event, Session, SessionError, State, Tally};

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// How many quests stand where.
    pub tally: Tally,
    /// All quests.
    pub total: u32,
    /// PASSes that rest on no anchor: the company's name alone ties the site to it.
    pub unanchored: u32,
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
    pub rule: RuleId,
    /// In how many attempts.
    pub attempts: u32,
}

/// What the events of a session add up to, one after the other.
#[derive(Debug, Default)]
pub struct Counter {
    attempts: u32,
    unanchored: u32,
    fired: BTreeMap<RuleId, u32>,
    /// Whether each quest has an anchor, in order of id.
    anchored: Vec<bool>,
}

impl Counter {
    /// Takes in the next event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Quest(quest) => self.anchored.push(is_anchored(quest)),
            Event::Attempt(attempt) => {
                self.attempts += 1;
                let anchored = self.anchored.get(attempt.quest.index());
                if attempt.state == State::Pass && anchored != Some(&true) {
                    self.unanchored += 1;
                }
                for rule in rules_of(attempt.judgement.get()) {
                    *self.fired.entry(rule).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// What they add up to: all of them were those of `session`.
    #[must_use]
    pub fn overview(self, session: &Session) -> Overview {
        let rules = self.fired.into_iter();
        let mut rules: Vec<_> = rules
            .map(|(rule, attempts)| RuleCount { rule, attempts })
            .collect();
        rules.sort_by_key(|count| std::cmp::Reverse(count.attempts));
        let tally = session.board().tally();
        Overview {
            tally,
            total: tally.total(),
            unanchored: self.unanchored,
            attempts: self.attempts,
            rules,
            streak: session.board().streak().length(),
            paused: session.paused(),
            head: session.head(),
        }
    }
}

/// Counts `session`.
pub fn overview(session: &Session) -> Result<Overview, SessionError> {
    let mut counter = Counter::default();
    session.each_event(&mut |_, event| counter.take(event))?;
    Ok(counter.overview(session))
}

/// The rules that fired in a judgement, each once; none in one that this version cannot read.
fn rules_of(judgement: &str) -> BTreeSet<RuleId> {
    let judgement: Option<Judgement> = serde_json::from_str(judgement).ok();
    let facts = judgement.into_iter().flat_map(|judgement| judgement.facts);
    facts.map(|fact| fact.rule).collect()
}
