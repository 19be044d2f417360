//! How much a run may use, and which budget has ended.
//!
//! Starts, tokens and time of a quest are always bounded. Everything here is decided from values;
//! no clock is read.

use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

use crate::session::{Reason, Spent};

/// A text that is not the amount that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAmount {
    #[error("expected a number from 1")]
    Count,
    #[error("expected a number of tokens such as 100000, 100k or 2M, from 1")]
    Tokens,
    #[error("expected a share from 1% to 100%")]
    Percent,
    #[error("expected an amount of US dollars such as 2.50, more than 0")]
    Money,
    #[error("expected a length of time such as 90s, 10m or 1h30m, at most a year")]
    Time,
}

pub fn parse_count(text: &str) -> Result<u32, BadAmount> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or(BadAmount::Count)
}

pub fn parse_tokens(text: &str) -> Result<u64, BadAmount> {
    let units = [('k', 1_000), ('M', 1_000_000)];
    let (digits, unit) = units
        .into_iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
        .unwrap_or((text, 1));
    let number: Option<u64> = digits.parse().ok();
    let tokens = number.and_then(|number| number.checked_mul(unit));
    tokens.filter(|it| *it > 0).ok_or(BadAmount::Tokens)
}

pub fn parse_percent(text: &str) -> Result<u8, BadAmount> {
    let digits = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent = digits.parse().ok();
    percent
        .filter(|percent| (1..=100).contains(percent))
        .ok_or(BadAmount::Percent)
}

pub fn parse_time(text: &str) -> Result<Duration, BadAmount> {
    const YEAR: Duration = Duration::from_secs(366 * 24 * 60 * 60);
    let signed: Option<SignedDuration> = text.parse().ok();
    let time = signed.and_then(|signed| Duration::try_from(signed).ok());
    time.filter(|time| (Duration::from_millis(1)..=YEAR).contains(time))
        .ok_or(BadAmount::Time)
}

const PARTS: u64 = 1_000_000_000;

const MAX_DECIMALS: usize = 9;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    #[must_use]
    pub const fn billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub fn for_tokens(self, tokens: u64) -> Self {
        let cost = u128::from(self.0) * u128::from(tokens) / 1_000_000;
        Self(u64::try_from(cost).unwrap_or(u64::MAX))
    }
}

impl FromStr for Money {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(parts) || parts.len() > MAX_DECIMALS {
            return Err(BadAmount::Money);
        }
        let whole: u64 = whole.parse().map_err(|_| BadAmount::Money)?;
        let parts: u64 = format!("{parts:0<MAX_DECIMALS$}")
            .parse()
            .map_err(|_| BadAmount::Money)?;
        let billionths = whole
            .checked_mul(PARTS)
            .and_then(|it| it.checked_add(parts));
        match billionths {
            Some(1..) => billionths.map(Self).ok_or(BadAmount::Money),
            _ => Err(BadAmount::Money),
        }
    }
}

/// Every reason, most important first. A settled quest is settled whatever else ran out. Then come
/// a person's or the session's decision, hard budgets (the run's before the quest's), the
/// detectors, the soft budget, and last an agent that simply ended.
pub const ORDER: [Reason; 18] = [
    Reason::Settled,
    Reason::Complete,
    Reason::Interrupted,
    Reason::Paused,
    Reason::Error,
    Reason::PermissionDenied,
    Reason::WallClock,
    Reason::Cost,
    Reason::Quests,
    Reason::QuestTimeout,
    Reason::Tokens,
    Reason::Attempts,
    Reason::Repeat,
    Reason::PingPong,
    Reason::Poll,
    Reason::Breaker,
    Reason::Diminishing,
    Reason::AgentFailed,
];

#[must_use]
pub fn most_important(reasons: impl IntoIterator<Item = Reason>) -> Option<Reason> {
    let place = |reason: &Reason| ORDER.iter().position(|other| other == reason);
    reasons.into_iter().min_by_key(place)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    pub tokens: u64,
    pub cost: Money,
}

impl Bill {
    /// The bill of one start. `price` is the cost of a million tokens when the agent reports none.
    /// A reported cost that any program may have printed never lowers the estimate.
    #[must_use]
    pub fn of(spent: &Spent, price: Money) -> Self {
        let estimate = price.for_tokens(spent.tokens);
        let cost = match spent.cost.map(Money::billionths) {
            Some(told) if spent.told => told,
            Some(said) => said.max(estimate),
            None => estimate,
        };
        Self {
            tokens: spent.tokens,
            cost,
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.and(other.cost),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsedByQuest {
    pub starts: u32,
    pub bill: Bill,
    pub time: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub starts: u32,
    pub quests: u32,
    pub bill: Bill,
    pub time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diminishing {
    pub share: u8,
    pub turns: u32,
    pub new_tokens: u64,
}

impl Default for Diminishing {
    fn default() -> Self {
        Self {
            share: 90,
            turns: 3,
            new_tokens: 500,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StallBudget {
    turns: u32,
}

impl StallBudget {
    pub fn turn(&mut self, new_tokens: u64, diminishing: &Diminishing) {
        self.turns = if new_tokens < diminishing.new_tokens {
            self.turns.saturating_add(1)
        } else {
            0
        };
    }

    pub fn clear(&mut self) {
        self.turns = 0;
    }

    #[must_use]
    pub fn turns(self) -> u32 {
        self.turns
    }
}

impl Diminishing {
    #[must_use]
    pub fn of(&self, tokens: u64, budget: u64, stall: StallBudget) -> Option<Reason> {
        let used_up = u128::from(tokens) * 100 >= u128::from(budget) * u128::from(self.share);
        let dry = stall.turns >= self.turns;
        (used_up || dry).then_some(Reason::Diminishing)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub quest: OfQuest,
    pub run: OfRun,
    pub diminishing: Diminishing,
    pub price: Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfQuest {
    pub starts: u32,
    pub tokens: u64,
    pub time: Duration,
    pub cost: Option<Money>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfRun {
    pub starts: Option<u32>,
    pub quests: Option<u32>,
    pub tokens: Option<u64>,
    pub time: Option<Duration>,
    pub cost: Option<Money>,
}

impl Default for OfQuest {
    fn default() -> Self {
        Self {
            starts: 30,
            tokens: 100_000,
            time: Duration::from_secs(10 * 60),
            cost: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quest: OfQuest::default(),
            run: OfRun::default(),
            diminishing: Diminishing::default(),
            // What the dear models take for what they write: rather stopped early than late.
            price: Money::billionths(15_000_000_000),
        }
    }
}

fn at(reason: Reason, is_used_up: bool) -> Option<Reason> {
    is_used_up.then_some(reason)
}

impl Limits {
    #[must_use]
    pub fn bill(&self, spent: &Spent) -> Bill {
        Bill::of(spent, self.price)
    }

    #[must_use]
    pub fn of_quest(&self, used: &UsedByQuest) -> Option<Reason> {
        let starts = at(Reason::Attempts, used.starts >= self.quest.starts);
        most_important([starts, self.quest_under_way(used)].into_iter().flatten())
    }

    // The number of starts is not checked here: the last start may run to its end.
    #[must_use]
    pub fn quest_under_way(&self, used: &UsedByQuest) -> Option<Reason> {
        let (most, bill) = (&self.quest, &used.bill);
        let over = [
            at(Reason::QuestTimeout, used.time >= most.time),
            at(Reason::Tokens, bill.tokens >= most.tokens),
            at(
                Reason::Cost,
                most.cost.is_some_and(|cost| bill.cost >= cost),
            ),
        ];
        most_important(over.into_iter().flatten())
    }

    #[must_use]
    pub fn of_run(&self, used: &Used) -> Option<Reason> {
        let most = self.run.starts;
        let starts = at(
            Reason::Attempts,
            most.is_some_and(|most| used.starts >= most),
        );
        most_important([starts, self.run_under_way(used)].into_iter().flatten())
    }

    // A quest that is already in progress continues.
    #[must_use]
    pub fn another_quest(&self, used: &Used) -> Option<Reason> {
        let most = self.run.quests;
        let quests = at(Reason::Quests, most.is_some_and(|most| used.quests >= most));
        most_important([quests, self.of_run(used)].into_iter().flatten())
    }

    // The last call may use another tenth of the quest's budget.
    #[must_use]
    pub fn last_call_under_way(&self, used: &Bill) -> Option<Reason> {
        let most = &self.quest;
        let tokens = used.tokens >= (most.tokens / 10).max(1);
        let cost = most.cost.is_some_and(|most| {
            let tenth = Money::billionths((most.get() / 10).max(1));
            used.cost >= tenth
        });
        let over = [at(Reason::Tokens, tokens), at(Reason::Cost, cost)];
        most_important(over.into_iter().flatten())
    }

    #[must_use]
    pub fn run_is_spent(&self, used: &Used) -> Option<Reason> {
        let (most, bill) = (&self.run, &used.bill);
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most);
        let cost = most.cost.is_some_and(|most| bill.cost >= most);
        let over = [at(Reason::Tokens, tokens), at(Reason::Cost, cost)];
        most_important(over.into_iter().flatten())
    }

    #[must_use]
    pub fn run_under_way(&self, used: &Used) -> Option<Reason> {
        let (most, bill) = (&self.run, &used.bill);
        let time = most.time.is_some_and(|time| used.time >= time);
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most);
        let cost = most.cost.is_some_and(|most| bill.cost >= most);
        let over = [
            at(Reason::WallClock, time),
            at(Reason::Tokens, tokens),
            at(Reason::Cost, cost),
        ];
        most_important(over.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests;
