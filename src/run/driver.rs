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
use crate::session::{
    Began, Event, LedgerWatch, Reason, RunLine, RunStep, Salt, Session, SessionError,
};

const EVENT_INTERVAL: Duration = Duration::from_millis(50);

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
    let work = |index: usize, events: Sender<RunEvent>| -> Result<(), RunError> {
        let session = Session::open(dir)?;
        let mut worker = RunWorker {
            shared: &shared,
            index,
            context: JudgeContext::of(&session, None)?,
            place: &place,
            launcher: &launcher,
            prompts,
            events,
            ledger: LedgerWatch::of(session.dir()),
            now,
            salts,
            session,
        };
        worker.work()
    };
    let worked = thread::scope(|scope| {
        let (sender, events) = mpsc::channel();
        let workers: Vec<_> = (0..shared.plan.workers as usize)
            .map(|index| {
                let (sender, work, shared) = (sender.clone(), &work, &shared);
                scope.spawn(move || {
                    let worked = work(index, sender);
                    if worked.is_err() {
                        shared.stop(Reason::Error);
                    }
                    worked
                })
            })
            .collect();
        drop(sender);
        listen(&events, observer, &shared);
        let ends = workers.into_iter().map(|worker| match worker.join() {
            Ok(end) => end,
            Err(_) => Err(RunError::Deserted),
        });
        // Collected first, because every worker has to have ended.
        let ends: Vec<_> = ends.collect();
        ends.into_iter().collect::<Result<(), _>>()
    });
    // Nothing may change what the report is to say any more.
    launcher.reap_orphans();
    if worked.is_err() {
        shared.stop(Reason::Error);
    }
    let complete = session.fold()?.remaining() == 0;
    let given_up = shared.counters().reasons.clone();
    let reason = if complete {
        Reason::Complete
    } else {
        let reason = shared.stopping().or_else(|| given_up.into_iter().min());
        // If all that could be driven is settled, the rest waits for what did not pass.
        reason.unwrap_or(Reason::AgentFailed)
    };
    append(&mut session, RunStep::Ended { reason })?;
    observer.observe(&RunEvent::Ended { run, reason });
    lock.remove();
    worked.map(|()| reason)
}

/// Hands on the events of the workers until all have ended.
fn listen(events: &Receiver<RunEvent>, observer: &mut dyn RunObserver, shared: &SharedRunState) {
    loop {
        match events.recv_timeout(EVENT_INTERVAL) {
            Ok(event) => observer.observe(&event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if observer.wants_to_stop() {
            shared.stop(Reason::Interrupted);
        }
    }
}
