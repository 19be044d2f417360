//! Where a session stands at some time: what `status` shows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::claim::HeldClaim;
use super::pace::Pace;
use super::progress::{Overview, overview};
use crate::quest::Key;
use crate::session::{Claim, RunId, RunProcess, SessionError, SettledTimes, State, Store};

/// What a session tells of where it stands, whatever the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standings {
    /// The tally, and which rules fire.
    pub overview: Overview,
    /// Tries that FAILs used up.
    pub tries: u32,
    /// When quests were settled of late.
    pub settled: SettledTimes,
    /// Every claim, also those whose lease has run out, with its quest's key.
    pub claims: Vec<(Claim, Option<Key>)>,
    /// The runs that began and have not ended.
    pub runs: BTreeMap<RunId, Option<RunProcess>>,
}

/// Where a session stands at some time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Status {
    /// The tally, and which rules fire.
    #[serde(flatten)]
    pub overview: Overview,
    /// Tries that FAILs used up.
    pub tries: u32,
    /// How fast quests are settled, where enough were of late and nothing pauses the session.
    pub pace: Option<Pace>,
    /// The claims that hold, in order of quests.
    pub claims: Vec<HeldClaim>,
    /// The runs that began and have not ended.
    pub runs: Vec<OpenRun>,
}

/// A run that began and has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenRun {
    /// The run.
    pub run: RunId,
    /// Whether its process lives; else it died, and the next run takes up what it left.
    pub lives: bool,
}

impl Standings {
    /// Asks `session`, in which as many answers were `forgotten`. Nothing is read whole.
    pub fn of(session: &dyn Store, forgotten: u32) -> Result<Self, SessionError> {
        let totals = session.totals();
        let mut claims = Vec::new();
        for claim in session.claims()? {
            let standing = session.standing(claim.quest)?;
            claims.push((claim, standing.map(|standing| standing.key)));
        }
        Ok(Self {
            overview: overview(session, forgotten)?,
            tries: totals.counts.tries,
            settled: totals.settled,
            claims,
            runs: totals.runs,
        })
    }

    /// Where the session stands at `now`, while these runs live.
    #[must_use]
    pub fn at(&self, now: Timestamp, lives: &BTreeSet<RunId>) -> Status {
        let overview = self.overview.clone();
        let left = overview.tally.of(State::Todo);
        let left = left.saturating_sub(overview.blocked);
        let live = self.claims.iter().filter(|(claim, _)| claim.is_live(now));
        let run = |run: &RunId| OpenRun {
            run: *run,
            lives: lives.contains(run),
        };
        Status {
            tries: self.tries,
            // Nobody knows when a pause ends.
            pace: (!overview.paused)
                .then(|| Pace::of(self.settled.times(), left, now))
                .flatten(),
            claims: live
                .map(|(claim, key)| HeldClaim::of(claim, key.as_ref(), now))
                .collect(),
            runs: self.runs.keys().map(run).collect(),
            overview,
        }
    }
}

impl Status {
    /// Whether there is anything to tell after `before` but what the clock changes by itself.
    #[must_use]
    pub fn is_news(&self, before: &Self) -> bool {
        let holds = |status: &Self| -> Vec<_> {
            let claims = status.claims.iter();
            claims
                .map(|claim| (claim.quest, claim.worker.clone()))
                .collect()
        };
        self.overview != before.overview || self.runs != before.runs || holds(self) != holds(before)
    }
}
