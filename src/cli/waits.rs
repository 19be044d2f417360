//! What `next` says when quests wait for others.

use anyhow::Result;
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Serialize;

use super::context;
use super::next::free_in;
use super::output::Paper;
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::quest::{Key, QuestId};
use crate::session::{Session, State, Waiting};

/// The most quests waited for that are named.
const MOST_NAMED: usize = 3;

/// Nothing is free: quests wait for others, and workers hold the rest.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waits {
    /// How many are TODO.
    remaining: u32,
    /// How many of them wait for others.
    waiting: u32,
    /// How many of those wait in vain, unless a person settles what they wait for.
    blocked: u32,
    /// How many workers hold.
    claimed: u32,
    /// When the first lease runs out, at the latest; 0 when nobody holds any.
    free_in_seconds: i64,
    /// The first of the quests that are waited for.
    #[serde(rename = "for")]
    awaited: Vec<Awaited>,
    /// How many more of these there are.
    #[serde(skip)]
    more: usize,
}

/// A quest that others wait for.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Awaited {
    id: QuestId,
    key: Key,
    state: State,
}

impl Waits {
    /// What `waiting` comes to.
    pub(super) fn new(session: &Session, waiting: &Waiting) -> Result<Self> {
        let mut awaited = Vec::new();
        for id in waiting.fronts.iter().take(MOST_NAMED) {
            let standing = session.standing(*id)?;
            awaited.extend(standing.map(|standing| Awaited {
                id: standing.id,
                key: standing.key,
                state: standing.progress.state,
            }));
        }
        let count = |quests: usize| u32::try_from(quests).unwrap_or(u32::MAX);
        let remaining = session.totals().tally.todo;
        Ok(Self {
            remaining,
            waiting: count(waiting.quests.len()),
            blocked: count(waiting.blocked.len()),
            claimed: remaining.saturating_sub(count(waiting.quests.len())),
            free_in_seconds: free_in(&session.claims()?, context::now()).as_secs(),
            more: waiting.fronts.len().saturating_sub(awaited.len()),
            awaited,
        })
    }

    /// Writes it as people read it.
    pub(super) fn write(&self, paper: &mut Paper) {
        let held = if self.claimed == 0 {
            String::new()
        } else {
            let free_in = SignedDuration::from_secs(self.free_in_seconds);
            format!(
                ", and other workers hold {} (the first claim expires in {free_in:#} at most)",
                self.claimed
            )
        };
        paper.line(format!(
            "no quest is available now: of the {} left, {} for other quests{held}",
            self.remaining,
            match self.waiting {
                1 => "1 waits".to_owned(),
                more => format!("{more} wait"),
            }
        ));
        for quest in &self.awaited {
            let key = Escaped(quest.key.as_str());
            paper.line(format!(
                "  for quest {} ({key}), which is {}",
                quest.id, quest.state
            ));
        }
        if self.more > 0 {
            paper.line(format!("  and for {} more", self.more));
        }
        if self.blocked > 0 {
            paper.line(format!(
                "blocked: {}, because an earlier quest ended without a PASS; a person decides",
                plural(u64::from(self.blocked), "quest")
            ));
        }
    }
}
