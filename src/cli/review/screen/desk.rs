//! The session under the screens: items out of it, decisions into it.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::cli::context;
use crate::cli::person::PersonArgs;
use crate::cli::person::{self, Authority};
use crate::quest::QuestId;
use crate::review::{self, Item, NotSettled, Person, Queue, Viewer};
use crate::session::{
    Decision, Effective, Session, SettledQuest, SigningKey, Span, Standing, Store as _,
};

/// What is said of a decision that is taken back at once.
const TAKEN_BACK: &str = "taken back in the queue";

/// The session, and the person who goes through its queue.
pub(super) struct Desk {
    session: Session,
    by: String,
    key: Option<SigningKey>,
    /// Shows the quests as they stood when it was made.
    viewer: Viewer,
    stood: BTreeMap<QuestId, Standing>,
    /// The lines in which this person settled quests here.
    settled: BTreeMap<QuestId, Span>,
}

/// How it went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// It is on disk.
    Recorded,
    /// Somebody else was faster.
    Overruled,
    /// It cannot be, and why.
    Refused(String),
}

impl Desk {
    /// The desk of `person`, who shows the key where the session froze one.
    pub(super) fn new(session: Session, person: &PersonArgs, queue: &Queue) -> Result<Self> {
        let key = match person::authority(&session, person.operator_key.as_deref())? {
            Authority::Key(key) => Some(key),
            // Whoever asks sits at a terminal, and types why at each decision.
            Authority::NoneFrozen => None,
        };
        let mut stood = BTreeMap::new();
        for one in queue.all() {
            stood.extend(session.standing(one.id)?.map(|standing| (one.id, standing)));
        }
        let viewer = Viewer::new(&session, &stood.keys().copied().collect())?;
        Ok(Self {
            session,
            by: person.name(),
            key,
            viewer,
            stood,
            settled: BTreeMap::new(),
        })
    }

    /// The session.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// The item of a quest that waits for a person; none of one that waits no more.
    pub(super) fn item(&mut self, quest: QuestId) -> Result<Option<Item>> {
        let Some(standing) = self.waiting(quest)? else {
            return Ok(None);
        };
        if self.stood.get(&quest) == Some(&standing) {
            return Ok(self.viewer.item(&standing)?);
        }
        let mut viewer = Viewer::new(&self.session, &[quest].into())?;
        Ok(viewer.item(&standing)?)
    }

    /// Accepts or rejects a REVIEW that still waits.
    pub(super) fn settle(
        &mut self,
        quest: QuestId,
        attempt: u32,
        decision: Decision,
        note: &str,
    ) -> Result<Done> {
        if self.waiting(quest)?.is_none() {
            return Ok(Done::Overruled);
        }
        let done = self.record(SettledQuest { quest, attempt }, decision, note)?;
        if done == Done::Recorded {
            self.settled
                .extend(self.line(quest)?.map(|line| (quest, line)));
        }
        Ok(done)
    }

    /// Takes this person's own decision back.
    pub(super) fn reopen(&mut self, quest: QuestId, attempt: u32) -> Result<Done> {
        self.freshen()?;
        if self.line(quest)?.as_ref() != self.settled.get(&quest) {
            return Ok(Done::Overruled);
        }
        let settled = SettledQuest { quest, attempt };
        self.record(settled, Decision::Reopened, TAKEN_BACK)
    }

    fn record(&mut self, settled: SettledQuest, decision: Decision, note: &str) -> Result<Done> {
        let person = Person {
            by: &self.by,
            note,
            key: self.key.as_ref(),
        };
        let recorded = review::settle(
            &mut self.session,
            vec![settled],
            decision,
            person,
            &mut context::clock(),
        );
        match recorded {
            Ok(()) => Ok(Done::Recorded),
            Err(NotSettled::Session(error)) => Err(error.into()),
            Err(why) => Ok(Done::Refused(why.to_string())),
        }
    }

    /// Where a quest stands that waits for a person.
    fn waiting(&mut self, quest: QuestId) -> Result<Option<Standing>> {
        self.freshen()?;
        let standing = self.session.standing(quest)?;
        Ok(standing.filter(|standing| Effective::of(standing).is_open()))
    }

    fn line(&self, quest: QuestId) -> Result<Option<Span>> {
        let standing = self.session.standing(quest)?;
        Ok(standing
            .and_then(|standing| standing.settled)
            .map(|settled| settled.line))
    }

    /// Takes in what others appended meanwhile, by the ledger itself.
    fn freshen(&mut self) -> Result<()> {
        self.session.fold()?;
        Ok(())
    }
}
