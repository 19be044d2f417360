//! Cleaning up after runs whose process was killed: open ends are recorded, claims released.

use crate::base::clock::Clock;
use std::collections::{BTreeMap, BTreeSet};

use super::plan::RunError;
use super::run_dir::RunLock;
use super::run_dir::start_of;
use crate::judge::live_runs::{is_alive, is_locked};
use crate::quest::QuestId;
use crate::session::{
    Appended, DrivenAttempt, DrivenQuest, Event, Reason, Released, RunId, RunLine, RunStep,
    Session, SessionError, Spent, State, Worker,
};

pub fn reap(session: &mut Session, clock: &mut dyn Clock) -> Result<Vec<RunId>, RunError> {
    let mut open = session.totals().runs;
    let mut dead: Vec<_> = RunLock::of_the_dead(session.dir())?
        .into_iter()
        .map(|lock| (lock.run(), Some(lock)))
        .collect();
    // One whose lock is gone is as dead as its process.
    for (run, process) in &open {
        let free = !dead.iter().any(|(dead, _)| dead == run) && !is_locked(session.dir(), *run);
        if process.is_some() && free {
            dead.push((*run, None));
        }
    }
    let mut reaped = Vec::new();
    for (run, lock) in dead {
        let Some(process) = open.remove(&run) else {
            // No run of this session, or one that has ended.
            if let Some(lock) = lock {
                lock.remove();
            }
            continue;
        };
        if process.is_some_and(is_alive) {
            continue;
        }
        let appended = session.append_at(clock, |session, _| {
            let left = left_open(session, run)?;
            left.events(session)
        })?;
        if let Appended::Refused(error) = appended {
            return Err(error.into());
        }
        if let Some(lock) = lock {
            lock.remove();
        }
        reaped.push(run);
    }
    Ok(reaped)
}

#[derive(Debug)]
struct Left {
    run: RunId,
    is_open: bool,
    starts: BTreeMap<u32, (Worker, QuestId)>,
    quests: BTreeMap<QuestId, BTreeSet<u32>>,
}

fn left_open(session: &Session, run: RunId) -> Result<Left, SessionError> {
    let mut left = Left {
        run,
        is_open: false,
        starts: BTreeMap::new(),
        quests: BTreeMap::new(),
    };
    session
        .log()
        .read_on(&mut |entry| left.note(&entry.event))?;
    Ok(left)
}

impl Left {
    fn note(&mut self, event: &Event) {
        match event {
            Event::Claim(claimed) => {
                if let Some((run, start)) = start_of(&claimed.worker)
                    && run == self.run
                {
                    let worker = claimed.worker.clone();
                    self.starts.insert(start, (worker, claimed.quest));
                    self.quests.entry(claimed.quest).or_default().insert(start);
                }
            }
            Event::Run(line) if line.run == self.run => self.step(&line.step),
            _ => {}
        }
    }

    fn step(&mut self, step: &RunStep) {
        match step {
            RunStep::Began(_) => self.is_open = true,
            RunStep::Attempt(attempt) => {
                if let Some((_, start)) = start_of(&attempt.worker) {
                    self.starts.remove(&start);
                }
            }
            RunStep::Quest(quest) => {
                self.quests.remove(&quest.quest);
            }
            RunStep::Ended { .. } => self.is_open = false,
        }
    }

    fn events(self, store: &Session) -> Result<Vec<Event>, SessionError> {
        let mut events = Vec::new();
        for (start, (worker, quest)) in &self.starts {
            let of_quest = self.quests.get(quest);
            let place = of_quest.map_or(1, |starts| starts.range(..=start).count());
            events.push(self.line(RunStep::Attempt(DrivenAttempt {
                quest: *quest,
                start: u32::try_from(place).unwrap_or(u32::MAX),
                worker: worker.clone(),
                reason: ended(store, *quest)?,
                milliseconds: 0,
                spent: Spent::default(),
                exit: None,
            })));
        }
        for (quest, starts) in &self.quests {
            events.push(self.line(RunStep::Quest(DrivenQuest {
                quest: *quest,
                reason: ended(store, *quest)?,
                starts: u32::try_from(starts.len()).unwrap_or(u32::MAX),
                handover: None,
            })));
        }
        let claims = store.claims()?.into_iter();
        let own = claims.filter(|claim| start_of(&claim.worker).is_some_and(|it| it.0 == self.run));
        events.extend(own.map(|claim| {
            Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            })
        }));
        if self.is_open {
            let reason = Reason::Interrupted;
            events.push(self.line(RunStep::Ended { reason }));
        }
        Ok(events)
    }

    fn line(&self, step: RunStep) -> Event {
        Event::Run(Box::new(RunLine {
            run: self.run,
            step,
        }))
    }
}

fn ended(store: &Session, quest: QuestId) -> Result<Reason, SessionError> {
    let standing = store.standing(quest)?;
    let todo = standing.is_some_and(|it| it.progress.state == State::Todo);
    Ok(if todo {
        Reason::Interrupted
    } else {
        Reason::Settled
    })
}
