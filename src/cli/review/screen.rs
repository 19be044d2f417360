//! The review queue at a terminal: shows one item at a time and acts on one key each.

use std::collections::BTreeMap;

use anyhow::Result;
use ratatui::text::Line;

use super::list;
use crate::base::text::plural;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::person::PersonArgs;
use crate::cli::review::state::{ReviewScreen, Wish};
use crate::cli::screen::{Screen, lines};
use crate::cli::terminal::size;
use crate::cli::{context, person, show};
use crate::quest::QuestId;
use crate::review;
use crate::review::{Item, NotSettled, Person, Queue, Viewer};
use crate::session::{Decision, QuestRecord, Session, SettledQuest, SigningKey, Span};

pub(super) fn run(context: &mut Context, person: &PersonArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    if session.operator_key()?.is_some() && person.operator_key.is_none() {
        let hint = "settle them one by one with: comail review --operator-key FILE";
        list(context)?;
        context.output.note(hint);
        return Ok(Exit::Done);
    }
    let queue = Queue::read(&session)?;
    if queue.groups.is_empty() {
        return list(context);
    }
    let mut desk = Desk::new(session, person, &queue)?;
    let mut state = ReviewScreen::new(&queue);
    let mut screen = Screen::enter(&context.output)?;
    let ended = review(&mut desk, &mut state, &mut screen, &context.output);
    drop(screen);
    context.report_repairs(&desk.session);
    let tally = state.tally();
    let noun = if queue.sampled == 0 { "REVIEW" } else { "item" };
    let waiting = plural(tally.waiting as u64, noun);
    let verb = if tally.waiting == 1 { "waits" } else { "wait" };
    let summary = format!(
        "{} accepted, {} rejected; {waiting} still {verb} for a person",
        tally.accepted, tally.rejected
    );
    context.output.show(&(), |out, ()| out.line(summary))?;
    context.hint_at_closing(&desk.session);
    ended
}

fn review(
    desk: &mut Desk,
    state: &mut ReviewScreen,
    screen: &mut Screen,
    output: &Output,
) -> Result<Exit> {
    let (mut quest, mut text) = read(desk, state, output)?;
    loop {
        screen.show(state.view(&text, size()))?;
        let Some(key) = screen.key()? else {
            continue;
        };
        match state.press(&key) {
            Some(Wish::Quit) => return Ok(Exit::Done),
            Some(Wish::Break) => return Ok(Exit::Interrupted),
            Some(wish) => decide(desk, state, wish)?,
            None if state.quest() == quest => continue,
            None => {}
        }
        (quest, text) = read(desk, state, output)?;
    }
}

/// The quest that is looked at and its text, after those that no longer wait for a person.
fn read(
    desk: &mut Desk,
    state: &mut ReviewScreen,
    output: &Output,
) -> Result<(Option<QuestId>, Vec<Line<'static>>)> {
    while let Some(quest) = state.quest() {
        if let Some(item) = desk.item(quest)? {
            let mut out = output.out();
            show::write(&mut out, &item);
            return Ok((Some(item.id), lines(&out)));
        }
        state.gone();
    }
    Ok((None, Vec::new()))
}

fn decide(desk: &mut Desk, state: &mut ReviewScreen, wish: Wish) -> Result<()> {
    match wish {
        Wish::Settle { quest, .. } if desk.waiting(quest)?.is_none() => state.gone(),
        Wish::Settle {
            quest,
            attempt,
            decision,
            note,
        } => {
            let refused = desk.record(SettledQuest { quest, attempt }, decision, &note)?;
            if let Some(refusal) = refused {
                state.tell(refusal);
            } else {
                let line = desk.line(quest)?;
                desk.settled.extend(line.map(|line| (quest, line)));
                state.settled(decision);
            }
        }
        Wish::Reopen { quest, attempt } => {
            desk.session.fold()?;
            // Another line settles the quest if somebody else decided since.
            if desk.line(quest)?.as_ref() != desk.settled.get(&quest) {
                state.overruled();
                return Ok(());
            }
            let settled = SettledQuest { quest, attempt };
            match desk.record(settled, Decision::Reopened, UNDONE)? {
                None => state.reopened(),
                Some(refusal) => {
                    state.overruled();
                    state.tell(refusal);
                }
            }
        }
        Wish::Quit | Wish::Break => {}
    }
    Ok(())
}

/// The note of a decision that was undone.
const UNDONE: &str = "withdrawn in the queue";

struct Desk {
    session: Session,
    by: String,
    key: Option<SigningKey>,
    viewer: Viewer,
    stood: BTreeMap<QuestId, QuestRecord>,
    settled: BTreeMap<QuestId, Span>,
}

impl Desk {
    fn new(session: Session, person: &PersonArgs, queue: &Queue) -> Result<Self> {
        // Without a key, a person at a terminal types a reason for each decision.
        let key = person::authority(&session, person.operator_key.as_deref())?;
        let mut stood = BTreeMap::new();
        for one in queue.all() {
            stood.extend(session.quest_record(one.id)?.map(|record| (one.id, record)));
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

    /// The item of a quest; none if it no longer waits for a person.
    fn item(&mut self, quest: QuestId) -> Result<Option<Item>> {
        let Some(record) = self.waiting(quest)? else {
            return Ok(None);
        };
        if self.stood.get(&quest) == Some(&record) {
            return Ok(Some(self.viewer.item(&record)?));
        }
        let mut viewer = Viewer::new(&self.session, &[quest].into())?;
        Ok(Some(viewer.item(&record)?))
    }

    /// Records the decision, or says why it is refused.
    fn record(
        &mut self,
        settled: SettledQuest,
        decision: Decision,
        note: &str,
    ) -> Result<Option<String>> {
        let person = Person {
            by: &self.by,
            note,
            key: self.key.as_ref(),
        };
        let clock = &mut context::clock();
        match review::settle(&mut self.session, vec![settled], decision, person, clock) {
            Ok(()) => Ok(None),
            Err(NotSettled::Session(error)) => Err(error.into()),
            Err(why) => Ok(Some(why.to_string())),
        }
    }

    fn waiting(&mut self, quest: QuestId) -> Result<Option<QuestRecord>> {
        self.session.fold()?;
        let record = self.session.quest_record(quest)?;
        Ok(record.filter(QuestRecord::waits_for_a_person))
    }

    fn line(&self, quest: QuestId) -> Result<Option<Span>> {
        let record = self.session.quest_record(quest)?;
        let settled = record.and_then(|record| record.settled);
        Ok(settled.map(|settled| settled.line))
    }
}
