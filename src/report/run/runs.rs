//! What is told of a run.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::history::Run;
use super::used::Used;
use crate::quest::QuestId;
use crate::session::{DrivenAttempt, Reason, RunId};

/// What is told of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunReport {
    /// Its name.
    pub run: RunId,
    /// What the agent is called.
    pub agent: String,
    /// The model that the operator says it uses.
    pub model: Option<String>,
    /// How many agents worked at once.
    pub workers: u32,
    /// When it began.
    pub began: Timestamp,
    /// When it ended; the time of its last line where it was cut off, none while it goes on.
    pub ended: Option<Timestamp>,
    /// Why it ended; none while it goes on.
    pub reason: Option<Reason>,
    /// At how many quests the agent was started.
    pub quests: u32,
    /// How many drives of a quest ended by its being settled.
    pub settled: u32,
    /// How often the agent was started, those that were cut off included.
    pub starts: u32,
    /// Starts that were cut off: what they took is not known, and comes on top.
    pub lost: u32,
    /// How long the agent ran in all, in milliseconds.
    pub milliseconds: u64,
    /// What it used up in all.
    #[serde(flatten)]
    pub used: Used,
}

/// What starts of an agent took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Took {
    /// How many.
    pub starts: u32,
    /// Those that were cut off or go on: what they took is not known.
    pub lost: u32,
    /// How long they ran, in milliseconds.
    pub milliseconds: u64,
    /// What they used up.
    #[serde(flatten)]
    pub used: Used,
}

impl Took {
    /// What these starts took; none stands for one without an end.
    #[must_use]
    pub fn of<'a>(starts: impl Iterator<Item = &'a Option<DrivenAttempt>>) -> Self {
        starts.fold(Self::default(), |took, start| took.with(start.as_ref()))
    }

    fn with(self, start: Option<&DrivenAttempt>) -> Self {
        let starts = self.starts.saturating_add(1);
        match start {
            None => Self {
                starts,
                lost: self.lost + 1,
                ..self
            },
            Some(ended) => Self {
                starts,
                milliseconds: self.milliseconds.saturating_add(ended.milliseconds),
                used: self.used.with(ended.spent),
                ..self
            },
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            starts: self.starts.saturating_add(other.starts),
            lost: self.lost.saturating_add(other.lost),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
            used: self.used.and(other.used),
        }
    }
}

impl RunReport {
    /// What is told of `run`, which goes on if it `lives`.
    #[must_use]
    pub fn of(run: &Run, lives: bool) -> Self {
        let starts = run.quests.values().flat_map(|it| it.starts.values());
        let took = Took::of(starts);
        let reason = run.reason(lives);
        let settled = run.quests.values().filter(|driven| {
            let reason = run.reason_of(driven, lives);
            reason == Some(Reason::Settled)
        });
        Self {
            run: run.id,
            agent: run.began.agent.clone(),
            model: run.began.model.clone(),
            workers: run.began.workers,
            began: run.at,
            ended: reason.map(|_| run.ended.map_or(run.last, |(at, _)| at)),
            reason,
            quests: small(run.quests.len()),
            settled: small(settled.count()),
            starts: took.starts,
            lost: took.lost,
            milliseconds: took.milliseconds,
            used: took.used,
        }
    }
}

/// What a run took for one quest, and why its drive ended.
#[must_use]
pub fn of_quest(run: &Run, quest: QuestId, lives: bool) -> Option<(Took, Option<Reason>)> {
    let driven = run.quests.get(&quest)?;
    let took = Took::of(driven.starts.values());
    Some((took, run.reason_of(driven, lives)))
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
