//! Claims: which worker holds which quest, and for how long.
//!
//! A claim ends when its lease expires. Nothing has to remove it.

use std::fmt;
use std::str::FromStr;

use crate::base::clock::length_of_time;
use crate::base::serde_as_text;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quest::QuestId;

/// The name that a worker gives itself.
// Neither Python nor ECMA 262 without its `u` flag supports `\p{…}`. So the pattern excludes only the
// ASCII characters that a name cannot have.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = r"^[^\s!-,/;-?\[-^`{-~]{1,64}$"))]
pub struct Worker(Box<str>);

#[derive(Debug, thiserror::Error)]
#[error("a worker's name has 1 to {MOST_NAME_CHARS} letters, digits or any of - _ . : @")]
pub struct BadWorker;

const MOST_NAME_CHARS: usize = 64;

impl Worker {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Worker {
    type Err = BadWorker;

    fn from_str(text: &str) -> Result<Self, BadWorker> {
        let plain = |c: char| c.is_alphanumeric() || "-_.:@".contains(c);
        let length = text.chars().count();
        if (1..=MOST_NAME_CHARS).contains(&length) && text.chars().all(plain) {
            Ok(Self(text.into()))
        } else {
            Err(BadWorker)
        }
    }
}

serde_as_text!(Worker);

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long a claim lasts unless it is renewed: 1 second to 24 hours.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(extend("minimum" = 1, "maximum" = Self::MOST_SECONDS))]
pub struct Lease(u32);

#[derive(Debug, thiserror::Error)]
#[error("expected a lease from 1 second to 24 hours, such as 15m, 90s or 1h30m")]
pub struct BadLease;

impl Lease {
    pub const DEFAULT: Self = Self(15 * 60);

    const MOST_SECONDS: u32 = 24 * 60 * 60;

    pub fn seconds(self) -> u32 {
        self.0
    }

    pub fn duration(self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.0))
    }
}

impl TryFrom<u32> for Lease {
    type Error = BadLease;

    fn try_from(seconds: u32) -> Result<Self, BadLease> {
        match seconds {
            1..=Self::MOST_SECONDS => Ok(Self(seconds)),
            _ => Err(BadLease),
        }
    }
}

impl From<Lease> for u32 {
    fn from(lease: Lease) -> Self {
        lease.0
    }
}

impl FromStr for Lease {
    type Err = BadLease;

    fn from_str(text: &str) -> Result<Self, BadLease> {
        let duration = length_of_time(text).ok_or(BadLease)?;
        let seconds = u32::try_from(duration.as_secs()).map_err(|_| BadLease)?;
        if duration.subsec_nanos() != 0 {
            return Err(BadLease);
        }
        seconds.try_into()
    }
}

impl fmt::Display for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.duration())
    }
}

/// The body of `claim`: a worker takes a quest, or takes it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    /// The quest.
    pub quest: QuestId,
    /// Who takes it.
    pub worker: Worker,
    /// For how long, in seconds.
    pub lease: Lease,
}

/// The body of `released`: a person freed a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Released {
    /// The quest.
    pub quest: QuestId,
    /// Who held it.
    pub worker: Worker,
}

/// A worker's hold on a quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The quest.
    pub quest: QuestId,
    /// Who holds it.
    pub worker: Worker,
    /// When it was taken or last renewed.
    pub at: Timestamp,
    /// How long it lasts from then, in seconds.
    pub lease: Lease,
}

impl Claim {
    pub fn released(self) -> Released {
        let Self { quest, worker, .. } = self;
        Released { quest, worker }
    }

    pub fn new(claimed: &Claimed, at: Timestamp) -> Self {
        Self {
            quest: claimed.quest,
            worker: claimed.worker.clone(),
            at: to_the_millisecond(at),
            lease: claimed.lease,
        }
    }

    pub fn renew(&mut self, at: Timestamp) {
        self.at = to_the_millisecond(at);
    }

    /// Whether it holds at `now`.
    ///
    /// A claim that is further in the future than its lease does not hold: after a clock jumps back,
    /// the quest must not stay blocked until the clock catches up.
    pub fn is_live(&self, now: Timestamp) -> bool {
        now.duration_since(self.at).abs() < self.lease.duration()
    }

    /// Whether less than half of the lease is left, so that it should be renewed.
    pub fn is_worn(&self, now: Timestamp) -> bool {
        now.duration_since(self.at).abs() * 2 > self.lease.duration()
    }

    /// The rest of the lease at `now`; zero once it has expired.
    pub fn left(&self, now: Timestamp) -> SignedDuration {
        if self.is_live(now) {
            self.lease.duration() - now.duration_since(self.at)
        } else {
            SignedDuration::ZERO
        }
    }

    /// Whether `worker` may take the quest at `now` despite this claim.
    pub fn admits(&self, worker: &Worker, now: Timestamp) -> bool {
        *worker == self.worker || !self.is_live(now)
    }

    /// Whether an answer of `worker` is accepted at `now` despite this claim.
    ///
    /// A worker whose quest went to another is too late, even if the other lease has expired. A worker
    /// without a name never had a claim.
    pub fn admits_answer(&self, worker: Option<&Worker>, now: Timestamp) -> bool {
        match worker {
            Some(worker) => *worker == self.worker,
            None => !self.is_live(now),
        }
    }
}

fn to_the_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> Claim {
        Claim {
            quest: QuestId::from_index(0).unwrap(),
            worker: "w1".parse().unwrap(),
            at: "2026-01-02T03:00:00Z".parse().unwrap(),
            lease: "15m".parse().unwrap(),
        }
    }

    fn after(minutes: i64) -> Timestamp {
        claim().at + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn parses_leases_within_bounds() {
        for (text, seconds) in [
            ("15m", 900),
            ("90s", 90),
            ("1h30m", 5400),
            ("24h", 86400),
            ("1d", 86400),
        ] {
            assert_eq!(text.parse::<Lease>().unwrap().seconds(), seconds);
        }
        for bad in ["0s", "25h", "-5m", "1500ms", "15", "", "2d", "soon"] {
            assert!(bad.parse::<Lease>().is_err(), "{bad}");
        }
        assert_eq!(Lease::DEFAULT.to_string(), "15m");
    }

    #[test]
    fn rejects_unusual_worker_names() {
        for good in ["w1", "에이전트-2", "host.example:17", "a@b"] {
            assert_eq!(good.parse::<Worker>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            " ",
            "a b",
            "a\n",
            "\u{1b}[1m",
            "a\u{202e}b",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<Worker>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_claim_lasts_as_long_as_its_lease() {
        let claim = claim();
        let other: Worker = "w2".parse().unwrap();
        assert!(claim.is_live(after(0)) && claim.is_live(after(14)));
        assert!(!claim.is_live(after(15)));
        assert_eq!(claim.left(after(5)), SignedDuration::from_mins(10));
        assert_eq!(claim.left(after(16)), SignedDuration::ZERO);
        assert!(!claim.is_worn(after(7)) && claim.is_worn(after(8)));
        assert!(claim.admits(&claim.worker, after(1)));
        assert!(!claim.admits(&other, after(1)) && claim.admits(&other, after(15)));
        assert!(!claim.admits_answer(None, after(1)) && claim.admits_answer(None, after(15)));
        for minutes in [1, 15] {
            assert!(claim.admits_answer(Some(&claim.worker), after(minutes)));
            assert!(!claim.admits_answer(Some(&other), after(minutes)));
        }
    }

    #[test]
    fn a_clock_that_jumps_back_frees_a_claim() {
        assert!(claim().is_live(after(-14)));
        assert!(!claim().is_live(after(-15)));
    }
}
