//! How far a session is: the tally, and which rules fire.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::quest::{Key, QuestId, map_schema};
use crate::session::{Blocked, Counts, Effective, Outcome, SessionError, State, Store, Tally};

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Overview {
    /// How many quests stand where.
    pub tally: Tally,
    /// All quests.
    pub total: u32,
    /// Quests in TODO that wait for one that ended without a PASS.
    pub blocked: u32,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_blocked: Vec<BlockedQuest>,
    /// PASSes that rest on no anchor: the company's name alone ties the site to it.
    pub unanchored: u32,
    /// PASSes that an earlier session brought.
    pub carried: u32,
    /// REVIEWs that were judged again, by what became of them.
    pub resolutions: Resolutions,
    /// How many quests come to what, by whatever the gate or a person made of REVIEWs.
    #[schemars(schema_with = "map_schema::<Effective, u32>")]
    pub effective: BTreeMap<Effective, u32>,
    /// Quests of which somebody said that the world contradicted them.
    pub disputed: u32,
    /// Quests that are PASS or REVIEW by answers that were blotted out.
    pub forgotten: u32,
    /// Decisions that lack the operator's seal, and changed nothing.
    pub unsealed: u32,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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

/// A quest that waits for one that ended without a PASS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedQuest {
    /// Its number.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// What it waits for, if through others.
    pub by: Ended,
}

/// A quest that others wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ended {
    /// Its number.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// Where it stands.
    pub state: State,
}

/// How often a rule fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleCount {
    /// The rule.
    pub rule: String,
    /// In how many attempts.
    pub attempts: u32,
}

/// The most blocked quests that are named.
const MOST_BLOCKED: usize = 3;

fn first_blocked(
    session: &dyn Store,
    blocked: &[Blocked],
) -> Result<Vec<BlockedQuest>, SessionError> {
    let mut named = Vec::new();
    for Blocked { quest, by } in blocked.iter().take(MOST_BLOCKED) {
        let (quest, by) = (session.standing(*quest)?, session.standing(*by)?);
        named.extend(quest.zip(by).map(|(quest, by)| BlockedQuest {
            id: quest.id,
            key: quest.key,
            by: Ended {
                id: by.id,
                key: by.key,
                state: by.progress.state,
            },
        }));
    }
    Ok(named)
}

/// Counts `session`, in which as many answers were `forgotten`.
pub fn overview(session: &dyn Store, forgotten: u32) -> Result<Overview, SessionError> {
    let waiting = session.waiting()?;
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
    Ok(Overview {
        tally,
        total: tally.total(),
        blocked: u32::try_from(waiting.blocked.len()).unwrap_or(u32::MAX),
        first_blocked: first_blocked(session, &waiting.blocked)?,
        // Of a quest file the checks say what a PASS rests on.
        unanchored: match session.manifest().kind.definition {
            None => counts.unanchored,
            Some(_) => 0,
        },
        carried: counts.carried,
        resolutions: Resolutions::of(counts),
        effective: Effective::ALL
            .map(|effective| (effective, totals.effective.of(effective)))
            .into(),
        disputed: counts.disputed,
        forgotten,
        unsealed: counts.unsealed,
        attempts: counts.attempts,
        rules,
        streak: totals.streak.length(),
        paused: session.paused(),
        head: session.head(),
    })
}
