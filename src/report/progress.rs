//! How far a session is: the tally, and which rules fire.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::gate::email::anchor::is_anchored;
use crate::gate::{Judgement, RuleId};
use crate::quest::{Digest, QuestId};
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

/// Counts `session`.
pub fn overview(session: &Session) -> Result<Overview, SessionError> {
    let mut fired: BTreeMap<RuleId, u32> = BTreeMap::new();
    let mut anchored: BTreeSet<QuestId> = BTreeSet::new();
    let (mut attempts, mut unanchored) = (0, 0);
    session.each_event(&mut |_, event| match event {
        Event::Quest(quest) if is_anchored(quest) => {
            anchored.insert(quest.id);
        }
        Event::Attempt(attempt) => {
            attempts += 1;
            if attempt.state == State::Pass {
                unanchored += u32::from(!anchored.contains(&attempt.quest));
            }
            for rule in rules_of(attempt.judgement.get()) {
                *fired.entry(rule).or_default() += 1;
            }
        }
        _ => {}
    })?;
    let mut rules: Vec<_> = fired
        .into_iter()
        .map(|(rule, attempts)| RuleCount { rule, attempts })
        .collect();
    rules.sort_by_key(|count| std::cmp::Reverse(count.attempts));
    let tally = session.board().tally();
    Ok(Overview {
        tally,
        total: tally.total(),
        unanchored,
        attempts,
        rules,
        streak: session.board().streak().length(),
        paused: session.paused(),
        head: session.head(),
    })
}

/// The rules that fired in a judgement, each once; none in one that this version cannot read.
fn rules_of(judgement: &str) -> BTreeSet<RuleId> {
    let judgement: Option<Judgement> = serde_json::from_str(judgement).ok();
    let facts = judgement.into_iter().flat_map(|judgement| judgement.facts);
    facts.map(|fact| fact.rule).collect()
}
