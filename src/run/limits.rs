//! How much a run may use, and which budget has ended.
//!
//! Starts, tokens and time of a quest are always bounded. Everything here is decided from values;
//! no clock is read.

use std::time::Duration;

use crate::base::clock::length_of_time;
use crate::session::{Reason, Spent};
use crate::world::sandbox::Cost;

pub fn parse_count(text: &str) -> Result<u32, &'static str> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or("expected a number from 1")
}

pub fn parse_tokens(text: &str) -> Result<u64, &'static str> {
    let units = [('k', 1_000), ('M', 1_000_000)];
    let (digits, unit) = units
        .into_iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit)))
        .unwrap_or((text, 1));
    let number: Option<u64> = digits.parse().ok();
    let tokens = number.and_then(|number| number.checked_mul(unit));
    tokens
        .filter(|it| *it > 0)
        .ok_or("expected a number of tokens such as 100000, 100k or 2M, from 1")
}

pub fn parse_percent(text: &str) -> Result<u8, &'static str> {
    let digits = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent = digits.parse().ok();
    percent
        .filter(|percent| (1..=100).contains(percent))
        .ok_or("expected a share from 1% to 100%")
}

pub fn parse_time(text: &str) -> Result<Duration, &'static str> {
    const YEAR: Duration = Duration::from_hours(366 * 24);
    let time = length_of_time(text).and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| (Duration::from_millis(1)..=YEAR).contains(time))
        .ok_or("expected a length of time such as 90s, 1h30m or 2d, at most a year")
}

/// Reads dollars digit by digit, because a float would round them.
pub fn parse_cost(text: &str) -> Result<Cost, &'static str> {
    const MAX_DECIMALS: usize = 9;
    let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_amount = digits(whole) && digits(parts) && parts.len() <= MAX_DECIMALS;
    let billionths = format!("{whole}{parts:0<MAX_DECIMALS$}").parse().ok();
    billionths
        .filter(|billionths| is_amount && *billionths > 0)
        .map(Cost::from_billionths)
        .ok_or("expected an amount of US dollars such as 2.50, more than 0")
}

/// The usage of one or several starts of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    pub tokens: u64,
    pub cost: Cost,
}

impl Bill {
    /// The bill of one start. `price` is the cost of a million tokens when the agent reports none.
    pub fn of(spent: &Spent, price: Cost) -> Self {
        let estimate = u128::from(price.billionths()) * u128::from(spent.tokens) / 1_000_000;
        let estimate = u64::try_from(estimate).unwrap_or(u64::MAX);
        let cost = match spent.cost {
            Some(reported) if spent.told => reported,
            // Any program could have printed it, so it never lowers the estimate.
            Some(printed) => printed.max(estimate),
            None => estimate,
        };
        Self {
            tokens: spent.tokens,
            cost: Cost::from_billionths(cost),
        }
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: [self.cost, other.cost].into_iter().sum(),
        }
    }
}

/// The usage of a quest or a run; for a quest, `quests` stays 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub starts: u32,
    pub quests: u32,
    pub bill: Bill,
    pub time: Duration,
}

/// The budgets of a quest or of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub starts: Option<u32>,
    pub quests: Option<u32>,
    pub tokens: Option<u64>,
    pub time: Option<Duration>,
    pub cost: Option<Cost>,
}

/// The next action. Each one also checks the budgets of those above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Before {
    /// Spending more, in a last call.
    Spending,
    /// Letting an agent go on. The last start may run to its end.
    GoingOn,
    Start,
    /// Another quest. A quest that is in progress continues.
    Quest,
}

impl Budget {
    fn ended(&self, used: &Used, before: Before, time: Reason) -> Option<Reason> {
        fn over<T: PartialOrd + Copy>(used: T, most: Option<T>) -> bool {
            most.is_some_and(|most| used >= most)
        }
        let table = [
            (
                Before::Spending,
                Reason::Tokens,
                over(used.bill.tokens, self.tokens),
            ),
            (
                Before::Spending,
                Reason::Cost,
                over(used.bill.cost, self.cost),
            ),
            (Before::GoingOn, time, over(used.time, self.time)),
            (
                Before::Start,
                Reason::Attempts,
                over(used.starts, self.starts),
            ),
            (
                Before::Quest,
                Reason::Quests,
                over(used.quests, self.quests),
            ),
        ];
        let ended = table
            .into_iter()
            .filter(|(from, _, is_over)| *from <= before && *is_over);
        ended.map(|(_, reason, _)| reason).min()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub quest: Budget,
    pub run: Budget,
    pub diminishing: Diminishing,
    /// The cost of a million tokens.
    pub price: Cost,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            quest: Budget {
                starts: Some(30),
                tokens: Some(2_000_000),
                time: Some(Duration::from_mins(10)),
                ..Budget::default()
            },
            run: Budget::default(),
            diminishing: Diminishing::default(),
            // The input price of expensive models without a cache. Most tokens are text that was sent
            // before, and stopping too early is better than too late.
            price: Cost::from_billionths(5_000_000_000),
        }
    }
}

impl Limits {
    pub fn bill(&self, spent: &Spent) -> Bill {
        Bill::of(spent, self.price)
    }

    pub fn quest_ended(&self, used: &Used, before: Before) -> Option<Reason> {
        self.quest.ended(used, before, Reason::QuestTimeout)
    }

    pub fn run_ended(&self, used: &Used, before: Before) -> Option<Reason> {
        self.run.ended(used, before, Reason::WallClock)
    }

    /// The last call may use another tenth of the quest's budget.
    pub fn last_call_ended(&self, bill: Bill) -> Option<Reason> {
        let tenth = Budget {
            tokens: self.quest.tokens.map(|most| (most / 10).max(1)),
            cost: self
                .quest
                .cost
                .map(|most| Cost::from_billionths((most.billionths() / 10).max(1))),
            ..Budget::default()
        };
        let used = Used {
            bill,
            ..Used::default()
        };
        tenth.ended(&used, Before::Spending, Reason::QuestTimeout)
    }

    pub fn diminishing(&self, tokens: u64, stall: StallBudget) -> Option<Reason> {
        let budget = self.quest.tokens.unwrap_or(u64::MAX);
        self.diminishing.of(tokens, budget, stall)
    }
}

/// When an agent continues without adding much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diminishing {
    /// The percentage of the quest's tokens.
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

/// The number of turns in a row that added few new tokens.
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
}

impl Diminishing {
    pub fn of(&self, tokens: u64, budget: u64, stall: StallBudget) -> Option<Reason> {
        let used_up = u128::from(tokens) * 100 >= u128::from(budget) * u128::from(self.share);
        let dry = stall.turns >= self.turns;
        (used_up || dry).then_some(Reason::Diminishing)
    }
}

#[cfg(test)]
mod tests;
