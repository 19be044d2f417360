//! What is told of a quest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::history::{Run, RunHistory};
use super::runs::{Took, of_quest};
use super::shares::is_unproven;
use crate::quest::{Key, QuestId};
use crate::session::{Effective, Reason, RunId, Standing, State};

/// What is told of a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestReport {
    /// Its number.
    pub quest: QuestId,
    /// Its key.
    pub key: Key,
    /// Where it stands.
    pub state: State,
    /// What it comes to, by whatever the gate or a person made of a REVIEW.
    pub effective: Effective,
    /// Whether it ended with nothing proven.
    pub unproven: bool,
    /// How many submissions failed.
    pub tries: u32,
    /// How many were judged.
    pub submissions: u32,
    /// In how many of them each rule fired.
    pub rules: BTreeMap<String, u32>,
    /// What each run took for it, the runs in the order in which they began.
    pub driven: Vec<DrivenIn>,
}

/// What a run took for a quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrivenIn {
    /// The run.
    pub run: RunId,
    /// What its starts took.
    #[serde(flatten)]
    pub took: Took,
    /// Why the drive ended; none while it goes on.
    pub reason: Option<Reason>,
}

impl QuestReport {
    /// What is told of the quest of `standing`, at which these runs drove an agent.
    #[must_use]
    pub fn of(
        standing: &Standing,
        history: &RunHistory,
        runs: &[&Run],
        lives: &dyn Fn(RunId) -> bool,
    ) -> Self {
        let driven = runs.iter().filter_map(|run| {
            let (took, reason) = of_quest(run, standing.id, lives(run.id))?;
            Some(DrivenIn {
                run: run.id,
                took,
                reason,
            })
        });
        let judged = history.judged(standing.id);
        Self {
            quest: standing.id,
            key: standing.key.clone(),
            state: standing.progress.state,
            effective: Effective::of(standing),
            unproven: is_unproven(standing),
            tries: standing.progress.tries,
            submissions: standing.attempts,
            rules: judged
                .map(|judged| judged.rules.clone())
                .unwrap_or_default(),
            driven: driven.collect(),
        }
    }

    /// What all runs took for it; none where no run drove an agent at it.
    #[must_use]
    pub fn took(&self) -> Option<Took> {
        let driven = self.driven.iter().map(|driven| driven.took);
        driven.reduce(Took::and)
    }
}
