//! Cleaning up after runs whose process was killed: open ends are recorded, claims released.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::RunError;
use super::run_dir::{RunLock, start_of};
use crate::base::clock::Clock;
use crate::judge::live_runs::{is_alive, is_locked};
use crate::quest::QuestId;
use crate::session::{
    Appended, DrivenAttempt, DrivenQuest, Event, Reason, Released, RunId, RunLine, RunStep,
    Session, SessionError, Spent, State, Worker,
};

pub fn reap(session: &mut Session, clock: &mut dyn Clock) -> Result<Vec<RunId>, RunError> {
    let mut reaped = Vec::new();
    for (run, process) in session.totals().runs {
        let lock = RunLock::if_free(session.dir(), run)?;
        // An agent can remove the lock. Then only the process shows whether the run is alive.
        let unlocked = lock.is_some() || (process.is_some() && !is_locked(session.dir(), run));
        if !unlocked || process.is_some_and(is_alive) {
            continue;
        }
        let appended = session.append_at(clock, |session, _| {
            let mut left = Left::default();
            let mut log = session.log();
            log.read_on(&mut |entry| left.take(run, &entry.event))?;
            left.ends(run, session)
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

/// What a run began and did not end.
#[derive(Debug, Default)]
struct Left {
    is_open: bool,
    starts: BTreeMap<u32, (Worker, QuestId)>,
    /// The starts for each quest.
    quests: BTreeMap<QuestId, BTreeSet<u32>>,
}

impl Left {
    fn take(&mut self, run: RunId, event: &Event) {
        let step = match event {
            Event::Claim(claimed) => {
                if let Some((of, start)) = start_of(&claimed.worker)
                    && of == run
                {
                    let worker = claimed.worker.clone();
                    self.starts.insert(start, (worker, claimed.quest));
                    self.quests.entry(claimed.quest).or_default().insert(start);
                }
                return;
            }
            Event::Run(line) if line.run == run => &line.step,
            _ => return,
        };
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

    fn ends(self, run: RunId, session: &Session) -> Result<Vec<Event>, SessionError> {
        let reason = |quest| {
            let record = session.standing(quest)?;
            let todo = record.is_some_and(|record| record.progress.state == State::Todo);
            Ok::<_, SessionError>(if todo {
                Reason::Interrupted
            } else {
                Reason::Settled
            })
        };
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut steps = Vec::new();
        for (start, (worker, quest)) in self.starts {
            let of_quest = self.quests.get(&quest);
            let place = of_quest.map_or(1, |starts| starts.range(..=start).count());
            steps.push(RunStep::Attempt(DrivenAttempt {
                quest,
                start: number(place),
                worker,
                reason: reason(quest)?,
                milliseconds: 0,
                spent: Spent::default(),
                exit: None,
            }));
        }
        for (quest, starts) in self.quests {
            steps.push(RunStep::Quest(DrivenQuest {
                quest,
                reason: reason(quest)?,
                starts: number(starts.len()),
                handover: None,
            }));
        }
        let line = |step| Event::Run(Box::new(RunLine { run, step }));
        let mut events: Vec<_> = steps.into_iter().map(line).collect();
        let claims = session.claims()?.into_iter();
        let own = claims.filter(|claim| start_of(&claim.worker).is_some_and(|it| it.0 == run));
        events.extend(own.map(|claim| {
            Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            })
        }));
        if self.is_open {
            let reason = Reason::Interrupted;
            events.push(line(RunStep::Ended { reason }));
        }
        Ok(events)
    }
}
