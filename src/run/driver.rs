//! A whole run: it cleans up after killed runs, starts the workers, and ends for one reason.

use std::path::Path;
use std::sync::mpsc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::access::Judge;
use super::agents::PlannedAgent;
use super::plan::{Plan, RunError, RunEvent, SharedRunState};
use super::quest_run::PromptBuilder;
use super::run_dir::{RunDir, RunLock};
use super::worker::RunWorker;
use crate::base::clock::SystemClock;
use crate::base::text::small;
use crate::judge::live_runs::start_of;
use crate::judge::live_runs::{is_alive, is_locked, this_process};
use crate::judge::{JudgeContext, judge_all_again, record_lost, root_of_worktrees};
use crate::report::run::{Run, RunHistory};
use crate::run::agent::AgentLauncher;
use crate::session::{
    Began, DrivenAttempt, DrivenQuest, Event, LaterAgent, LedgerWatch, Reason, RunId, RunLine,
    RunStep, Session, SessionError, Spent, State,
};

/// How often a run works on quests whose PASS no longer holds. Two quests can break each other for ever.
const MAX_ROUNDS: u32 = 3;

const EVENT_INTERVAL: Duration = Duration::from_millis(50);

pub trait RunObserver {
    fn observe(&mut self, events: &RunEvent);
    /// Called every moment, for what changes with the time.
    fn tick(&mut self);
    fn wants_to_stop(&self) -> bool;
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd {
    pub reason: Reason,
    /// Whether every PASS was judged again in the end, and holds in the accepted tree.
    pub holds: bool,
}

pub fn run(
    dir: &Path,
    plan: Plan,
    prompts: &dyn PromptBuilder,
    judge: &dyn Judge,
    observer: &mut dyn RunObserver,
) -> Result<RunEnd, RunError> {
    let mut session = Session::open(dir)?;
    let launcher = AgentLauncher::this().map_err(RunError::io("find", dir))?;
    let lock = RunLock::take(dir, plan.run)?;
    for run in reap(&mut session)? {
        observer.observe(&RunEvent::Note {
            text: format!("run {run} was killed; its open work is recorded as interrupted"),
        });
    }
    let place = RunDir::set_up(dir, &plan)?;
    let began = Began {
        agent: plan.agents.first.command.name(),
        model: plan.agents.first.model.clone(),
        then: plan.agents.then.iter().map(later).collect(),
        workers: plan.workers,
        process: this_process(),
    };
    let (confined, confinement) = plan.agents.confinement();
    let run = plan.run;
    let append = |session: &mut Session, step| {
        let line = Event::Run(Box::new(RunLine { run, step }));
        let append = |_: &Session, _| Ok::<_, SessionError>((vec![line], ()));
        session.append(&mut SystemClock, append)
    };
    append(&mut session, RunStep::Began(began.clone()))?;
    observer.observe(&RunEvent::Began {
        run,
        began,
        confined,
        confinement,
    });
    observer.observe(&RunEvent::Progress(Box::new(session.totals())));

    let shared = SharedRunState::new(plan);
    let work = |index: usize, events: Sender<RunEvent>| -> Result<(), RunError> {
        let session = Session::open(dir)?;
        let mut worker = RunWorker {
            shared: &shared,
            index,
            context: JudgeContext::of(&session)?,
            place: &place,
            launcher: &launcher,
            prompts,
            judge,
            events,
            ledger: LedgerWatch::of(session.dir()),
            session,
        };
        worker.work()
    };
    let work_all = |observer: &mut dyn RunObserver| {
        thread::scope(|scope| {
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
        })
    };
    let worked = work_in_rounds(&mut session, &shared, &launcher, observer, &work_all);
    if worked.is_err() {
        shared.stop(Reason::Error);
    }
    let tally = session.fold()?.totals().tally;
    let complete = tally.todo == 0;
    let given_up = shared.counters().reasons.clone();
    let reason = if complete {
        Reason::Complete
    } else {
        let reason = shared.stopping().or_else(|| given_up.into_iter().min());
        // Everything that could be driven is settled; the rest waits for quests that did not pass.
        reason.unwrap_or(Reason::AgentFailed)
    };
    append(&mut session, RunStep::Ended { reason })?;
    observer.observe(&RunEvent::Ended { run, reason, tally });
    lock.remove();
    worked.map(|holds| RunEnd { reason, holds })
}

/// Works until nothing is TODO and every PASS holds when it is judged again, or until the run stops.
/// Returns whether they hold in an accepted tree, which nobody can change.
fn work_in_rounds(
    session: &mut Session,
    shared: &SharedRunState,
    launcher: &AgentLauncher,
    observer: &mut dyn RunObserver,
    work_all: &dyn Fn(&mut dyn RunObserver) -> Result<(), RunError>,
) -> Result<bool, RunError> {
    for round in 1..=MAX_ROUNDS {
        let worked = work_all(observer);
        // Before anything is judged again, because orphans could still change the tree.
        launcher.reap_orphans();
        worked?;
        if shared.stopping().is_some() || session.fold()?.totals().tally.todo > 0 {
            return Ok(false);
        }
        let again = judge_all_again(session, &|| observer.wants_to_stop())?;
        let all_hold = again.all_hold();
        let regressed = record_lost(session, again.lost, &mut SystemClock)?;
        if regressed.is_empty() {
            return Ok(all_hold && root_of_worktrees(session.manifest())?.is_some());
        }
        for quest in regressed {
            observer.observe(&RunEvent::Note {
                text: format!("quest {quest} no longer holds, and is TODO again"),
            });
        }
        if round == MAX_ROUNDS {
            shared.stop(Reason::Regressed);
        }
    }
    Ok(false)
}

fn later(agent: &PlannedAgent) -> LaterAgent {
    LaterAgent {
        agent: agent.command.name(),
        model: agent.model.clone(),
        after: agent.after,
    }
}

fn listen(events: &Receiver<RunEvent>, observer: &mut dyn RunObserver, shared: &SharedRunState) {
    loop {
        match events.recv_timeout(EVENT_INTERVAL) {
            Ok(event) => observer.observe(&event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        observer.tick();
        if observer.wants_to_stop() {
            shared.stop(Reason::Interrupted);
        }
    }
}

fn reap(session: &mut Session) -> Result<Vec<RunId>, RunError> {
    let mut reaped = Vec::new();
    for (run, process) in session.totals().runs {
        let lock = RunLock::if_free(session.dir(), run)?;
        // An agent can remove the lock. Then only the process shows whether the run is alive.
        let unlocked = lock.is_some() || (process.is_some() && !is_locked(session.dir(), run));
        if !unlocked || process.is_some_and(is_alive) {
            continue;
        }
        session.append(&mut SystemClock, |session, _| {
            let mut history = RunHistory::default();
            let mut log = session.log();
            log.read_on(&mut |entry| history.take(entry.line.at(), &entry.event))?;
            let events = history.get(run).map(|run| ends(run, session));
            Ok::<_, SessionError>((events.transpose()?.unwrap_or_default(), ()))
        })?;
        if let Some(lock) = lock {
            lock.remove();
        }
        reaped.push(run);
    }
    Ok(reaped)
}

/// The events that end everything that a run began and did not end.
fn ends(run: &Run, session: &Session) -> Result<Vec<Event>, SessionError> {
    let line = |step| Event::Run(Box::new(RunLine { run: run.id, step }));
    let mut events = Vec::new();
    for (quest, driven) in &run.quests {
        let record = session.quest_record(*quest)?;
        let todo = record.is_some_and(|record| record.progress.state == State::Todo);
        let reason = if todo {
            Reason::Interrupted
        } else {
            Reason::Settled
        };
        let mut starts: Vec<_> = driven.starts.iter().collect();
        starts.sort_by_key(|(worker, _)| start_of(worker));
        for (index, (worker, end)) in starts.iter().enumerate() {
            if end.is_none() {
                events.push(line(RunStep::Attempt(DrivenAttempt {
                    quest: *quest,
                    start: small(index + 1),
                    worker: (*worker).clone(),
                    reason,
                    milliseconds: 0,
                    spent: Spent::default(),
                    exit: None,
                })));
            }
        }
        if driven.reason.is_none() {
            events.push(line(RunStep::Quest(DrivenQuest {
                quest: *quest,
                reason,
                starts: small(starts.len()),
                handover: None,
            })));
        }
    }
    let claims = session.claims()?.into_iter();
    let own = claims.filter(|claim| start_of(&claim.worker).is_some_and(|it| it.0 == run.id));
    events.extend(own.map(|claim| Event::Released(claim.released())));
    if run.ended.is_none() {
        let reason = Reason::Interrupted;
        events.push(line(RunStep::Ended { reason }));
    }
    Ok(events)
}
