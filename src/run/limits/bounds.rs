//! The hard budgets, and which of them has ended.

use super::amount::{Times, Tokens};
use super::diminishing::Diminishing;
use super::money::Money;
use super::order::foremost;
use super::period::Period;
use super::used::{Bill, Used, UsedByQuest};
use crate::session::{Reason, Spent};

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
        foremost([starts, self.quest_under_way(used)].into_iter().flatten())
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
        foremost(over.into_iter().flatten())
    }

    #[must_use]
    pub fn of_run(&self, used: &Used) -> Option<Reason> {
        let most = self.run.starts;
        let starts = at(
            Reason::Attempts,
            most.is_some_and(|most| used.starts >= most.get()),
        );
        foremost([starts, self.run_under_way(used)].into_iter().flatten())
    }

    // A quest that is already in progress continues.
    #[must_use]
    pub fn another_quest(&self, used: &Used) -> Option<Reason> {
        let most = self.run.quests;
        let quests = at(
            Reason::Quests,
            most.is_some_and(|most| used.quests >= most.get()),
        );
        foremost([quests, self.of_run(used)].into_iter().flatten())
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
        foremost(over.into_iter().flatten())
    }

    #[must_use]
    pub fn run_is_spent(&self, used: &Used) -> Option<Reason> {
        let (most, bill) = (&self.run, &used.bill);
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most.get());
        let cost = most.cost.is_some_and(|most| bill.cost >= most);
        let over = [at(Reason::Tokens, tokens), at(Reason::Cost, cost)];
        foremost(over.into_iter().flatten())
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
        foremost(over.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests;
