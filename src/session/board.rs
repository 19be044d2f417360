//! What the ledger adds up to: where every quest stands.
//!
//! A board is a pure fold of events; each event must be one that can have happened.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use super::event::{Attempt, Event, Grounds, Mark};
use super::manifest::SourceRecord;
use super::state::{Progress, State, Tally};
use super::streak::{Ending, Streak};
use crate::quest::{Digest, FoldedKey, Key, Quest, QuestId};

/// Where a line lies in the ledger, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub offset: u64,
    /// Its length without the line feed.
    pub length: u32,
}

/// Where one quest stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Its id.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// Its state and tries.
    pub progress: Progress,
    /// The line that made it.
    pub quest_line: Span,
    /// The line of its last attempt.
    pub last_attempt: Option<Span>,
    /// Its submissions, in order, and what each verdict rested on.
    pub submissions: Vec<(Digest, Grounds)>,
}

/// Where every quest stands.
#[derive(Debug, Clone)]
pub struct Board {
    max_tries: NonZeroU32,
    quests: Vec<Standing>,
    tally: Tally,
    counts: Counts,
    holders: HashMap<Mark, QuestId>,
    streak: Streak,
    extensions: Vec<SourceRecord>,
}

/// What all attempts add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Submissions judged.
    pub attempts: u32,
    /// PASSes that were held against nothing known beforehand.
    pub unanchored: u32,
    /// In how many attempts each rule fired.
    pub rules: BTreeMap<String, u32>,
}

impl Board {
    /// A board without quests.
    #[must_use]
    pub fn new(max_tries: NonZeroU32) -> Self {
        Self {
            max_tries,
            quests: Vec::new(),
            tally: Tally::default(),
            counts: Counts::default(),
            holders: HashMap::new(),
            streak: Streak::default(),
            extensions: Vec::new(),
        }
    }

    /// Every quest, in order of id.
    #[must_use]
    pub fn quests(&self) -> &[Standing] {
        &self.quests
    }

    /// How many quests stand where.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What all attempts add up to.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The first quest that passed with this mark.
    #[must_use]
    pub fn holder(&self, mark: &Mark) -> Option<&Standing> {
        self.get(*self.holders.get(mark)?)
    }

    /// The unproven streak.
    #[must_use]
    pub fn streak(&self) -> Streak {
        self.streak
    }

    /// The list that was read last, where it is not the first.
    #[must_use]
    pub fn extensions(&self) -> &[SourceRecord] {
        &self.extensions
    }

    /// The quest with this id.
    #[must_use]
    pub fn get(&self, id: QuestId) -> Option<&Standing> {
        self.quests.get(id.index())
    }

    /// The first quest in TODO.
    #[must_use]
    pub fn first_todo(&self) -> Option<&Standing> {
        if self.tally.todo == 0 {
            return None;
        }
        self.quests
            .iter()
            .find(|quest| quest.progress.state == State::Todo)
    }

    /// The quests by folded key, for finding many at once.
    #[must_use]
    pub fn by_folded_key(&self) -> HashMap<FoldedKey, Vec<QuestId>> {
        let mut found: HashMap<FoldedKey, Vec<QuestId>> = HashMap::new();
        for quest in &self.quests {
            found.entry(quest.key.folded()).or_default().push(quest.id);
        }
        found
    }

    /// Takes in one event, whose line lies at `span`; says why when it cannot have happened.
    pub fn apply(&mut self, event: Event, span: Span) -> Result<(), &'static str> {
        match event {
            Event::Session(_) => Err("a session begins but once"),
            Event::Quest(quest) => self.add(quest, span),
            Event::Attempt(attempt) => self.judge(&attempt, span),
            Event::Extended(extended) => {
                self.extensions.push(extended.source);
                Ok(())
            }
            Event::Resumed(_) => {
                self.streak = Streak::default();
                Ok(())
            }
        }
    }

    fn add(&mut self, quest: Quest, span: Span) -> Result<(), &'static str> {
        if quest.id.index() != self.quests.len() {
            return Err("quests are numbered without gaps");
        }
        self.tally.add(State::Todo);
        self.quests.push(Standing {
            id: quest.id,
            key: quest.key,
            progress: Progress::NEW,
            quest_line: span,
            last_attempt: None,
            submissions: Vec::new(),
        });
        Ok(())
    }

    fn judge(&mut self, attempt: &Attempt, span: Span) -> Result<(), &'static str> {
        let max_tries = self.max_tries;
        let quest = self
            .quests
            .get_mut(attempt.quest.index())
            .ok_or("there is no such quest")?;
        if attempt.number as usize != quest.submissions.len() + 1 {
            return Err("attempts are numbered without gaps");
        }
        let next = quest
            .progress
            .judged(attempt.verdict, max_tries)
            .map_err(|_| "a locked quest takes no submission")?;
        if (next.state, next.tries) != (attempt.state, attempt.tries) {
            return Err("the verdict leads to another state");
        }
        if next.state != State::Pass && !attempt.holds.is_empty() {
            return Err("only a PASS takes anything");
        }
        self.tally.shift(quest.progress.state, next.state);
        quest.progress = next;
        quest.last_attempt = Some(span);
        quest.submissions.push((attempt.submitted, attempt.grounds));
        if let Some(ending) = quest.ending() {
            self.streak = self.streak.after(ending);
        }
        self.counts.add(attempt);
        for mark in &attempt.holds {
            self.holders.entry(mark.clone()).or_insert(attempt.quest);
        }
        Ok(())
    }
}

impl Counts {
    fn add(&mut self, attempt: &Attempt) {
        self.attempts += 1;
        self.unanchored += u32::from(attempt.state == State::Pass && !attempt.anchored);
        for rule in &attempt.rules {
            match self.rules.get_mut(rule) {
                Some(count) => *count += 1,
                None => {
                    self.rules.insert(rule.clone(), 1);
                }
            }
        }
    }
}

impl Standing {
    /// The number of the earlier attempt that sent the same, if the world was heard on it.
    #[must_use]
    pub fn repeats(&self, submitted: Digest) -> Option<u32> {
        let same = |(digest, grounds): &(Digest, Grounds)| {
            *digest == submitted && *grounds != Grounds::Silence
        };
        let index = self.submissions.iter().position(same)?;
        u32::try_from(index + 1).ok()
    }

    fn ending(&self) -> Option<Ending> {
        let (_, last) = self.submissions.last()?;
        Ending::of(self.progress.state, *last)
    }
}
