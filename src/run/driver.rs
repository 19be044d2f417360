//! A whole run: it cleans up after killed runs, starts the workers, and ends for one reason.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use super::plan::{Plan, RunError, RunEvent};
use super::quest_run::PromptBuilder;
use super::reap::reap;
use super::run_dir::{RunDir, RunLock};
use super::shared::SharedRunState;
use super::worker::RunWorker;
use crate::judge::JudgeContext;
use crate::judge::live_runs::this_process;
use crate::run::agent::AgentLauncher;
use crate::run::limits::most_important;
use crate::session::{
    Began, Event, LedgerWatch, Reason, RunLine, RunStep, Salt, Session, SessionError,
};

const LOOK: Duration = Duration::from_millis(50);

pub trait RunObserver {
    fn observe(&mut self, events: &RunEvent);
    fn wants_to_stop(&self) -> bool;
}

#[derive(Debug, Clone, Copy)]
pub struct Sources {
    pub now: fn() -> Timestamp,
    pub salts: fn() -> Salt,
}

pub fn run(
    dir: &Path,
    plan: Plan,
    prompts: &dyn PromptBuilder,
    observer: &mut dyn RunObserver,
    sources: Sources,
) -> Result<Reason, RunError> {
    let Sources { now, salts } = sources;
    let mut session = Session::open(dir)?;
    let launcher = AgentLauncher::this().and_then(AgentLauncher::adopting);
    let launcher = launcher.map_err(RunError::io("find", dir))?;
    let lock = RunLock::take(dir, plan.run)?;
    for run in reap(&mut session, &mut (now, salts))? {
        observer.observe(&RunEvent::Note {
            text: format!("run {run} was killed; its open work is recorded as interrupted"),
        });
    }
    let place = RunDir::set_up(dir, &plan)?;
    let began = Began {
        agent: plan.command.name(),
        model: plan.model.clone(),
        workers: plan.workers,
        process: this_process(),
    };
    let run = plan.run;
    let append = |session: &mut Session, step| {
        let line = Event::Run(Box::new(RunLine { run, step }));
        let append = |_: &Session, _| Ok::<_, SessionError>(vec![line]);
        session.append_at(&mut (now, salts), append)
    };
    append(&mut session, RunStep::Began(began.clone()))?;
    observer.observe(&RunEvent::Began { run, began });

    let shared = SharedRunState::new(plan);
    let crew = Crew {
        dir,
        shared: &shared,
        place: &place,
        launcher: &launcher,
        prompts,
        sources,
    };
    let worked = crew.work(observer);
    // Nothing may change any more what the report is to say.
    launcher.reap_orphans();
    if worked.is_err() {
        shared.stop(Reason::Error);
    }
    let board = session.fold()?;
    let reason = reason(&shared, board.remaining() == 0);
    append(&mut session, RunStep::Ended { reason })?;
    observer.observe(&RunEvent::Ended { run, reason });
    lock.remove();
    worked.map(|()| reason)
}

fn reason(shared: &SharedRunState, complete: bool) -> Reason {
    if complete {
        return Reason::Complete;
    }
    let reasons = shared.stopping().or_else(|| {
        let reasons = shared.counters().reasons.clone();
        most_important(reasons)
    });
    // Where all that could be driven is settled, the rest waits for what did not pass.
    most_important(reasons).unwrap_or(Reason::AgentFailed)
}

struct Crew<'a> {
    dir: &'a Path,
    shared: &'a SharedRunState,
    place: &'a RunDir,
    launcher: &'a AgentLauncher,
    prompts: &'a dyn PromptBuilder,
    sources: Sources,
}

impl Crew<'_> {
    fn work(&self, observer: &mut dyn RunObserver) -> Result<(), RunError> {
        thread::scope(|scope| {
            let (sender, events) = mpsc::channel();
            let workers: Vec<_> = (0..self.shared.plan.workers as usize)
                .map(|index| {
                    let sender = sender.clone();
                    scope.spawn(move || self.worker(index, sender))
                })
                .collect();
            drop(sender);
            self.listen(&events, observer);
            let ends = workers.into_iter().map(|worker| match worker.join() {
                Ok(end) => end,
                Err(_) => Err(RunError::Deserted),
            });
            // Every one has to have ended.
            let ends: Vec<_> = ends.collect();
            ends.into_iter().collect()
        })
    }

    fn worker(&self, index: usize, sender: Sender<RunEvent>) -> Result<(), RunError> {
        let worked = self.run_worker(index, sender);
        if worked.is_err() {
            self.shared.stop(Reason::Error);
        }
        worked
    }

    fn run_worker(&self, index: usize, sender: Sender<RunEvent>) -> Result<(), RunError> {
        let session = Session::open(self.dir)?;
        let context = JudgeContext::of(&session, None)?;
        let mut worker = RunWorker {
            shared: self.shared,
            index,
            context,
            place: self.place,
            launcher: self.launcher,
            prompts: self.prompts,
            events: sender,
            ledger: LedgerWatch::of(session.dir()),
            now: self.sources.now,
            salts: self.sources.salts,
            session,
        };
        worker.work()
    }

    fn listen(&self, events: &Receiver<RunEvent>, observer: &mut dyn RunObserver) {
        loop {
            match events.recv_timeout(LOOK) {
                Ok(events) => observer.observe(&events),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if observer.wants_to_stop() {
                self.shared.stop(Reason::Interrupted);
            }
        }
    }
}
