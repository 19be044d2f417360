//! The hard budgets, and which of them has ended.

use super::amount::{Times, Tokens};
use super::diminishing::Diminishing;
use super::money::Money;
use super::order::foremost;
use super::period::Period;
use super::used::{Bill, Used, UsedByQuest};
use crate::session::{Reason, Spent};

/// What a run may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For each quest: always on.
    pub quest: OfQuest,
    /// For the whole run.
    pub run: OfRun,
    /// When a quest's drive is no longer worth going on.
    pub diminishing: Diminishing,
    /// What a million tokens are taken to cost where the agent tells no price.
    pub price: Money,
}

/// What the drive of one quest may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfQuest {
    /// Starts of the agent.
    pub starts: Times,
    /// Tokens.
    pub tokens: Tokens,
    /// Time.
    pub time: Period,
    /// Money.
    pub cost: Option<Money>,
}

/// What a whole run may use up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfRun {
    /// Starts of the agent.
    pub starts: Option<Times>,
    /// Quests taken up.
    pub quests: Option<Times>,
    /// Tokens.
    pub tokens: Option<Tokens>,
    /// Time.
    pub time: Option<Period>,
    /// Money.
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
    /// What one start of the agent used up.
    #[must_use]
    pub fn bill(&self, spent: &Spent) -> Bill {
        Bill::of(spent, self.price)
    }

    /// Why the agent is not started for this quest once more.
    #[must_use]
    pub fn of_quest(&self, used: &UsedByQuest) -> Option<Reason> {
        let starts = at(Reason::Attempts, used.starts >= self.quest.starts.get());
        foremost([starts, self.quest_under_way(used)].into_iter().flatten())
    }

    /// Why the agent that is at work for this quest is stopped: its last start may go on.
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

    /// Why the agent is not started in this run once more.
    ///
    /// The number of quests bounds which are taken up; see [`Limits::another_quest`].
    #[must_use]
    pub fn of_run(&self, used: &Used) -> Option<Reason> {
        let most = self.run.starts;
        let starts = at(
            Reason::Attempts,
            most.is_some_and(|most| used.starts >= most.get()),
        );
        foremost([starts, self.run_under_way(used)].into_iter().flatten())
    }

    /// Why no further quest is taken up in this run: a quest in hand may be driven on.
    #[must_use]
    pub fn another_quest(&self, used: &Used) -> Option<Reason> {
        let most = self.run.quests;
        let quests = at(
            Reason::Quests,
            most.is_some_and(|most| used.quests >= most.get()),
        );
        foremost([quests, self.of_run(used)].into_iter().flatten())
    }

    /// Why the agent at its last call for a quest is stopped: it may use up a tenth as much again.
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

    /// Which of what the whole run may use up is used up, the time and the starts left aside.
    #[must_use]
    pub fn run_is_spent(&self, used: &Used) -> Option<Reason> {
        let (most, bill) = (&self.run, &used.bill);
        let tokens = most.tokens.is_some_and(|most| bill.tokens >= most.get());
        let cost = most.cost.is_some_and(|most| bill.cost >= most);
        let over = [at(Reason::Tokens, tokens), at(Reason::Cost, cost)];
        foremost(over.into_iter().flatten())
    }

    /// Why the agents that are at work in this run are stopped.
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
