//! How much a run may use up, and which of its bounds ends it.
//!
//! Some bounds are always on: how often the agent is started for a quest, and what tokens and time
//! a quest may take. All of it is decided from values; nobody's clock is read here.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

use crate::session::{Reason, Spent};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAmount {
    #[error("expected a number of times, from 1")]
    Times,
    #[error("expected a number of tokens such as 100000, 100k or 2M, from 1")]
    Tokens,
    #[error("expected a share from 1% to 100%")]
    Percent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Times(u32);

impl Times {
    #[must_use]
    pub const fn new(times: u32) -> Self {
        Self(if times == 0 { 1 } else { times })
    }

    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Times {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let times = text.parse().map_err(|_| BadAmount::Times)?;
        (times > 0).then_some(Self(times)).ok_or(BadAmount::Times)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tokens(u64);

const UNITS: [(char, u64); 2] = [('k', 1_000), ('M', 1_000_000)];

impl Tokens {
    #[must_use]
    pub const fn new(tokens: u64) -> Self {
        Self(if tokens == 0 { 1 } else { tokens })
    }

    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Tokens {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let mut units = UNITS.into_iter();
        let (digits, unit) = units
            .find_map(|(unit, stands_for)| Some((text.strip_suffix(unit)?, stands_for)))
            .unwrap_or((text, 1));
        let number: u64 = digits.parse().map_err(|_| BadAmount::Tokens)?;
        let tokens = number.checked_mul(unit).ok_or(BadAmount::Tokens)?;
        (tokens > 0)
            .then_some(Self(tokens))
            .ok_or(BadAmount::Tokens)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u8);

impl Percent {
    #[must_use]
    pub const fn new(percent: u8) -> Self {
        Self(match percent {
            0 => 1,
            101.. => 100,
            within => within,
        })
    }

    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn is_reached(self, part: u64, whole: u64) -> bool {
        u128::from(part) * 100 >= u128::from(whole) * u128::from(self.0)
    }
}

impl FromStr for Percent {
    type Err = BadAmount;

    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let digits = text.strip_suffix('%').unwrap_or(text);
        match digits.trim_end().parse() {
            Ok(percent @ 1..=100) => Ok(Self(percent)),
            _ => Err(BadAmount::Percent),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

const PARTS: u64 = 1_000_000_000;

const MAX_DECIMALS: usize = 9;

const SHOWN_DECIMALS: usize = 2;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an amount of US dollars such as 2.50, more than 0")]
pub struct BadMoney;

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
    type Err = BadMoney;

    fn from_str(text: &str) -> Result<Self, BadMoney> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(parts) || parts.len() > MAX_DECIMALS {
            return Err(BadMoney);
        }
        let whole: u64 = whole.parse().map_err(|_| BadMoney)?;
        let parts: u64 = format!("{parts:0<MAX_DECIMALS$}")
            .parse()
            .map_err(|_| BadMoney)?;
        let billionths = whole
            .checked_mul(PARTS)
            .and_then(|it| it.checked_add(parts));
        match billionths {
            Some(1..) => billionths.map(Self).ok_or(BadMoney),
            _ => Err(BadMoney),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / PARTS, self.0 % PARTS);
        let short = text.trim_end_matches('0').len();
        let cents = text.len() - MAX_DECIMALS + SHOWN_DECIMALS;
        f.write_str(&text[..short.max(cents)])
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(Duration);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a length of time such as 90s, 10m or 1h30m, at most a year")]
pub struct BadPeriod;

const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

const SHORTEST: Duration = Duration::from_millis(1);

impl Period {
    #[must_use]
    pub const fn seconds(seconds: u32) -> Self {
        let most = LONGEST.as_secs();
        let seconds = seconds as u64;
        Self(Duration::from_secs(if seconds == 0 {
            1
        } else if seconds > most {
            most
        } else {
            seconds
        }))
    }

    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Period {
    type Err = BadPeriod;

    fn from_str(text: &str) -> Result<Self, BadPeriod> {
        let signed: SignedDuration = text.parse().map_err(|_| BadPeriod)?;
        let duration = Duration::try_from(signed).map_err(|_| BadPeriod)?;
        (SHORTEST..=LONGEST)
            .contains(&duration)
            .then_some(Self(duration))
            .ok_or(BadPeriod)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        write!(f, "{signed:#}")
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
    pub tokens_guessed: bool,
    pub cost_guessed: bool,
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
            tokens_guessed: !spent.told && spent.tokens > 0,
            cost_guessed: (spent.cost.is_none() || !spent.told) && spent.tokens > 0,
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.and(other.cost),
            tokens_guessed: self.tokens_guessed || other.tokens_guessed,
            cost_guessed: self.cost_guessed || other.cost_guessed,
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
    pub share: Percent,
    pub turns: Times,
    pub new_tokens: Tokens,
}

impl Default for Diminishing {
    fn default() -> Self {
        Self {
            share: Percent::new(90),
            turns: Times::new(3),
            new_tokens: Tokens::new(500),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StallBudget {
    turns: u32,
}

impl StallBudget {
    pub fn turn(&mut self, new_tokens: u64, diminishing: &Diminishing) {
        self.turns = if new_tokens < diminishing.new_tokens.get() {
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
    pub fn of(&self, tokens: u64, budget: Tokens, stall: StallBudget) -> Option<Reason> {
        let used_up = self.share.is_reached(tokens, budget.get());
        let dry = stall.turns >= self.turns.get();
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
    pub starts: Times,
    pub tokens: Tokens,
    pub time: Period,
    pub cost: Option<Money>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfRun {
    pub starts: Option<Times>,
    pub quests: Option<Times>,
    pub tokens: Option<Tokens>,
    pub time: Option<Period>,
    pub cost: Option<Money>,
}

impl Default for OfQuest {
    fn default() -> Self {
        Self {
            starts: Times::new(30),
            tokens: Tokens::new(100_000),
            time: Period::seconds(10 * 60),
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
        let starts = at(Reason::Attempts, used.starts >= self.quest.starts.get());
        most_important([starts, self.quest_under_way(used)].into_iter().flatten())
    }

    // The number of starts is not checked here: the last start may run to its end.
    #[must_use]
    pub fn quest_under_way(&self, used: &UsedByQuest) -> Option<Reason> {
        let (most, bill) = (&self.quest, &used.bill);
        let over = [
            at(Reason::QuestTimeout, used.time >= most.time.duration()),
            at(Reason::Tokens, bill.tokens >= most.tokens.get()),
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
            most.is_some_and(|most| used.starts >= most.get()),
        );
        most_important([starts, self.run_under_way(used)].into_iter().flatten())
    }

    // A quest that is already in progress continues.
    #[must_use]
    pub fn another_quest(&self, used: &Used) -> Option<Reason> {
        let most = self.run.quests;
        let quests = at(
            Reason::Quests,
            most.is_some_and(|most| used.quests >= most.get()),
        );
        most_important([quests, self.of_run(used)].into_iter().flatten())
    }

    // The last call may use another tenth of the quest's budget.
    #[must_use]
    pub fn last_call_under_way(&self, used: &Bill) -> Option<Reason> {
        let most = &self.quest;
        let tokens = used.tokens >= (most.tokens.get() / 10).max(1);
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
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most.get());
        let cost = most.cost.is_some_and(|most| bill.cost >= most);
        let over = [at(Reason::Tokens, tokens), at(Reason::Cost, cost)];
        most_important(over.into_iter().flatten())
    }

    #[must_use]
    pub fn run_under_way(&self, used: &Used) -> Option<Reason> {
        let (most, bill) = (&self.run, &used.bill);
        let time = most.time.is_some_and(|time| used.time >= time.duration());
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most.get());
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
