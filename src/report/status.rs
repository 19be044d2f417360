//! The status of a session, and the figures that all reports share.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::base::text::small;
use crate::judge::Branch;
use crate::judge::forgotten::is_forgotten;
use crate::quest::{Key, QuestId, map_schema};
use crate::report::sample::SampleEstimate;
use crate::session::{
    Blocked, Claim, Effective, Outcome, Projection, RunId, RunProcess, Session, SessionError,
    SettledTimes, State, Tally, Worker, WorldKind,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    pub overview: Overview,
    pub tries: u32,
    pub settled: SettledTimes,
    pub claims: Vec<(Claim, Key)>,
    /// The runs that began and have not ended.
    pub runs: BTreeMap<RunId, Option<RunProcess>>,
}

/// The state of a session at some time.
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
    pub run: RunId,
    /// Whether its process lives; else it died, and the next run takes up what it left.
    pub lives: bool,
}

impl Standings {
    pub fn of(session: &Session, forgotten: u32) -> Result<Self, SessionError> {
        let totals = session.totals();
        Ok(Self {
            overview: overview(session, forgotten)?,
            tries: totals.counts.tries,
            settled: totals.settled,
            claims: session.claimed()?,
            runs: totals.runs,
        })
    }

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
            // The end of a pause is unknown, so there is no forecast.
            pace: (!overview.paused)
                .then(|| Pace::of(self.settled.times(), left, now))
                .flatten(),
            claims: live
                .map(|(claim, key)| HeldClaim::of(claim, key, now))
                .collect(),
            runs: self.runs.keys().map(run).collect(),
            overview,
        }
    }
}

impl Status {
    /// Whether anything changed since `before`, except for values that change with the clock alone.
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

/// How far a session is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    pub tally: Tally,
    pub total: u32,
    /// What the session is judged by.
    pub world: WorldKind,
    /// Quests in TODO that wait for one that ended without a PASS.
    pub blocked: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first_blocked: Vec<BlockedQuest>,
    /// PASSes that rest on no anchor: the company's name alone ties the site to it.
    pub unanchored: u32,
    /// PASSes whose pages a browser showed.
    pub rendered: u32,
    /// PASSes that rest on the markup of their pages, without a browser.
    pub from_markup: u32,
    /// PASSes that an earlier session brought.
    pub carried: u32,
    /// The REVIEWs that `recheck` judged again, by what it found. It counts no other REVIEW.
    pub rechecked: Rechecked,
    /// How many quests are in each effective state: that of the tally, where a REVIEW is `open` until
    /// `recheck` or a person settles it.
    #[schemars(schema_with = "map_schema::<Effective, u32>")]
    pub effective: BTreeMap<Effective, u32>,
    /// Quests of which somebody said that the world contradicted them.
    pub disputed: u32,
    /// What a person found in a sample of the PASSes; none before the first draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleEstimate>,
    /// Quests that are PASS or REVIEW whose answers were removed.
    pub forgotten: u32,
    /// Decisions that lack the operator's seal, and changed nothing.
    pub unsealed: u32,
    /// The branch of accepted answers, if it lacks some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
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

/// REVIEWs that were judged again, by what the gate found. Their state remains REVIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rechecked {
    /// The gate passes them now.
    pub confirmed: u32,
    /// The gate fails them now.
    pub refuted: u32,
    /// The gate still cannot decide.
    pub undecided: u32,
}

/// A quest that waits for one that ended without a PASS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockedQuest {
    pub id: QuestId,
    pub key: Key,
    /// What it waits for, if through others.
    pub by: Ended,
}

/// A quest that others wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ended {
    pub id: QuestId,
    pub key: Key,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleCount {
    pub rule: String,
    pub attempts: u32,
}

const MOST_BLOCKED: usize = 3;

fn first_blocked(
    session: &Session,
    blocked: &[Blocked],
) -> Result<Vec<BlockedQuest>, SessionError> {
    let mut named = Vec::new();
    for Blocked { quest, by } in blocked.iter().take(MOST_BLOCKED) {
        let (quest, by) = (session.quest_record(*quest)?, session.quest_record(*by)?);
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

/// How many quests have answers that were removed.
pub fn forgotten(session: &Session, projection: &Projection) -> Result<u32, SessionError> {
    if session.forgetting().is_empty() {
        return Ok(0);
    }
    let mut reader = session.reader()?;
    let quests = projection.quests();
    let forgotten = quests.map(|quest| is_forgotten(&mut reader, &quest?).map(u32::from));
    forgotten.sum()
}

pub fn overview(session: &Session, forgotten: u32) -> Result<Overview, SessionError> {
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
    let resolved = |outcome| counts.resolutions.get(&outcome).copied().unwrap_or(0);
    Ok(Overview {
        world: session.manifest().frozen.world_kind(),
        tally,
        total: tally.total(),
        blocked: small(waiting.blocked.len()),
        first_blocked: first_blocked(session, &waiting.blocked)?,
        // In a quest file, the checks define what a PASS rests on.
        unanchored: match session.manifest().kind.definition {
            None => counts.unanchored,
            Some(_) => 0,
        },
        rendered: counts.rendered,
        from_markup: counts.from_markup,
        carried: counts.carried,
        rechecked: Rechecked {
            confirmed: resolved(Outcome::Confirmed),
            refuted: resolved(Outcome::Refuted),
            undecided: resolved(Outcome::Open),
        },
        effective: Effective::ALL
            .iter()
            .map(|effective| (*effective, totals.effective.of(*effective)))
            .collect(),
        disputed: counts.disputed,
        sample: SampleEstimate::of(&totals),
        forgotten,
        unsealed: counts.unsealed,
        behind: Branch::of(session)
            .ok()
            .flatten()
            .filter(|branch| branch.is_behind(session))
            .map(|branch| branch.name),
        attempts: counts.attempts,
        rules,
        streak: totals.streak,
        paused: session.paused(),
        head: session.head(),
    })
}

/// How fast quests were settled of late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Pace {
    /// How many were settled, after the first of those that count.
    pub settled: u32,
    /// In how many seconds, from that first one until now.
    pub seconds: i64,
    pub per_hour: f64,
    pub left_seconds: i64,
}

/// Time windows, the shortest first, and how many quests must have been settled within each.
const WINDOWS: [(SignedDuration, usize); 2] = [
    (SignedDuration::from_hours(1), 3),
    (SignedDuration::from_hours(24), 2),
];

const SHORTEST: SignedDuration = SignedDuration::from_secs(10);

impl Pace {
    /// The pace at `now`, if quests were settled at these times and `left` remain.
    ///
    /// The window ends now, so the pace falls while nothing is settled. None if too few quests were
    /// settled recently.
    pub fn of(settled: impl Iterator<Item = Timestamp>, left: u32, now: Timestamp) -> Option<Self> {
        let ages = settled.map(|at| now.duration_since(at));
        // A time in the future comes from another clock.
        let ages: Vec<_> = ages.filter(|age| !age.is_negative()).collect();
        WINDOWS.iter().find_map(|(window, least)| {
            let of_late = ages.iter().filter(|age| *age <= window);
            let span = *of_late.clone().max()?;
            let enough = of_late.clone().count() >= *least && span >= SHORTEST;
            if !enough {
                return None;
            }
            let settled = small(of_late.count() - 1);
            let milliseconds = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            let each = milliseconds / i64::from(settled.max(1));
            let per_hour = f64::from(settled) * 3600.0 / span.as_secs_f64();
            Some(Self {
                settled,
                seconds: span.as_secs(),
                per_hour: (per_hour * 100.0).round() / 100.0,
                left_seconds: each.saturating_mul(i64::from(left)) / 1000,
            })
        })
    }
}

/// A worker's claim on a quest at some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeldClaim {
    pub quest: QuestId,
    pub key: String,
    pub worker: Worker,
    /// When it was taken or last renewed.
    pub at: Timestamp,
    /// How long it lasts from then.
    pub lease_seconds: u32,
    pub age_seconds: i64,
    /// How long it lasts still; 0 once the lease has run out.
    pub left_seconds: i64,
}

impl HeldClaim {
    /// The claim at `now`, of the quest with this key.
    pub fn of(claim: &Claim, key: &Key, now: Timestamp) -> Self {
        Self {
            quest: claim.quest,
            key: key.to_string(),
            worker: claim.worker.clone(),
            at: claim.at,
            lease_seconds: claim.lease.seconds(),
            age_seconds: now.duration_since(claim.at).as_secs(),
            left_seconds: claim.left(now).as_secs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn pace(settled: &[i64], left: u32, now: i64) -> Option<Pace> {
        Pace::of(settled.iter().map(|seconds| at(*seconds)), left, at(now))
    }

    #[test]
    fn counts_until_now_and_estimates_the_remaining_time() {
        let expected = Pace {
            settled: 3,
            seconds: 180,
            per_hour: 60.0,
            left_seconds: 600,
        };
        assert_eq!(pace(&[0, 60, 120, 180], 10, 180), Some(expected));
        let slower = pace(&[0, 60, 120, 180], 10, 360).unwrap();
        assert_eq!(slower.left_seconds, 1200);
        assert_eq!(pace(&[0, 60, 120], 0, 120).unwrap().left_seconds, 0);
    }

    #[test]
    fn a_pause_is_ignored_once_enough_was_settled_after_it() {
        let night = 12 * 3600;
        let morning = [0, 30, night, night + 60, night + 120];
        let pace_then = pace(&morning, 1, night + 120).unwrap();
        assert_eq!((pace_then.settled, pace_then.left_seconds), (2, 60));
        // With too few in the last hour, the last day counts.
        assert_eq!(pace(&[0, 7200], 1, 7200).unwrap().left_seconds, 7200);
    }

    #[test]
    fn too_few_too_close_too_old_or_future_times_give_no_pace() {
        assert_eq!(pace(&[], 9, 0), None);
        assert_eq!(pace(&[0], 9, 600), None);
        assert_eq!(pace(&[0, 1, 2, 3], 9, 4), None);
        assert_eq!(pace(&[0, 60, 120], 9, 3 * 24 * 3600), None);
        assert_eq!(pace(&[60, 120, 180], 9, 0), None);
    }
}
