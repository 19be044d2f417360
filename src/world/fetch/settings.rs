//! The network settings that `scan` froze, which nothing that an agent passes later changes, and
//! the time that the lookups of one submission share.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::world::{Unanswered, UnansweredKind};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// The name servers; empty for those of the system's `resolv.conf`.
    pub dns_servers: Vec<SocketAddr>,
    pub allow_net: Vec<IpNet>,
    /// Further certificate authorities, as PEM text; the compiled-in roots always hold.
    pub ca_certs_pem: Vec<String>,
    pub proxy: Option<Url>,
    pub min_gap_ms: u64,
    pub user_agent: String,
    pub robots: RobotsPolicy,
    pub limits: Limits,
}

impl NetworkSettings {
    /// Whether `other` gets its answers from the same world: the same resolvers, networks,
    /// authorities and proxy. How patiently and politely it asks is another matter.
    pub fn asks_as(&self, other: &Self) -> bool {
        self.dns_servers == other.dns_servers
            && self.allow_net == other.allow_net
            && self.ca_certs_pem == other.ca_certs_pem
            && self.proxy == other.proxy
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsPolicy {
    #[default]
    Obey,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub connect_ms: u64,
    pub request_ms: u64,
    pub submission_ms: u64,
    pub dns_ms: u64,
    pub body_bytes: u64,
    /// How often a lookup that brings no answer is made in all.
    pub tries: u32,
    /// The wait before the second try; it doubles for each further one.
    pub backoff_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_ms: 5_000,
            request_ms: 20_000,
            submission_ms: 75_000,
            dns_ms: 3_000,
            body_bytes: 5 * 1024 * 1024,
            tries: 3,
            backoff_ms: 500,
        }
    }
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            dns_servers: Vec::new(),
            allow_net: Vec::new(),
            ca_certs_pem: Vec::new(),
            proxy: None,
            min_gap_ms: 1_000,
            user_agent: format!(
                "comail/{} (verifies published company contacts; contact: the operator)",
                env!("CARGO_PKG_VERSION")
            ),
            robots: RobotsPolicy::Obey,
            limits: Limits::default(),
        }
    }
}

/// The most that a budget is ever given, so that no setting can overflow the clock.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug)]
pub struct Budget {
    limit: Duration,
    deadline: OnceLock<Instant>,
}

impl Budget {
    pub fn new(limit: Duration) -> Self {
        Self {
            limit: limit.min(LONGEST),
            deadline: OnceLock::new(),
        }
    }

    pub fn limit(&self) -> Duration {
        self.limit
    }

    pub fn deadline(&self) -> Instant {
        *self.deadline.get_or_init(|| Instant::now() + self.limit)
    }

    /// What is left of it, `None` once it is used up; the first call starts it.
    pub fn left(&self) -> Option<Duration> {
        let left = self.deadline().saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    pub fn used_up(&self) -> Unanswered {
        let limit = self.limit.as_secs_f64();
        let detail = format!("the {limit} s for all lookups of one submission are used up");
        Unanswered::new(UnansweredKind::Budget, detail)
    }
}

/// Tries until there is an answer, no try is left, or the next would come after the budget's end. An
/// error is why there is no answer, and how long the other side asks to be left alone.
pub fn retry<T>(
    limits: &Limits,
    budget: &Budget,
    mut try_once: impl FnMut() -> Result<T, (Unanswered, Option<Duration>)>,
) -> Result<T, Unanswered> {
    let mut tried = 0;
    loop {
        tried += 1;
        let (why, asked) = match try_once() {
            Ok(answer) => return Ok(answer),
            Err(silence) => silence,
        };
        let pause = backoff(limits, tried).max(asked.unwrap_or_default());
        if tried >= limits.tries || budget.left().is_none_or(|left| left <= pause) {
            return Err(why);
        }
        thread::sleep(pause);
    }
}

/// The wait after try number `tried` (from 1): the first backoff, doubled for each further try.
fn backoff(limits: &Limits, tried: u32) -> Duration {
    let doublings = tried.saturating_sub(1).min(16);
    Duration::from_millis(limits.backoff_ms.saturating_mul(1 << doublings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_starts_with_the_first_look_at_it_and_never_moves() {
        let budget = Budget::new(Duration::from_secs(60));
        let first = budget.deadline();
        assert_eq!(budget.deadline(), first);
        assert!(budget.left().is_some_and(|left| left <= budget.limit()));
    }

    #[test]
    fn budgets_may_be_empty_or_endless() {
        let empty = Budget::new(Duration::ZERO);
        assert_eq!(empty.left(), None);
        assert_eq!(empty.used_up().silence, UnansweredKind::Budget);
        let endless = Budget::new(Duration::MAX);
        assert!(endless.left().is_some_and(|left| left <= LONGEST));
    }

    #[test]
    fn the_wait_doubles_and_never_overflows() {
        let limits = Limits {
            backoff_ms: 500,
            ..Limits::default()
        };
        let waits = [1, 2, 3].map(|tried| backoff(&limits, tried).as_millis());
        assert_eq!(waits, [500, 1_000, 2_000]);
        let endless = Limits {
            backoff_ms: u64::MAX,
            ..Limits::default()
        };
        assert_eq!(backoff(&endless, u32::MAX), Duration::from_millis(u64::MAX));
    }
}
