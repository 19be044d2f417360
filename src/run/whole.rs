//! A whole run: what died before is swept, the workers work, and it ends for one reason.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use super::desk::Desk;
use super::error::RunError;
use super::floor::Floor;
use super::lock_file::RunLock;
use super::news::News;
use super::plan::Plan;
use super::sweep::sweep;
use super::worker::RunWorker;
use super::workplace::Workplace;
use crate::judge::Chamber;
use crate::judge::live_runs::this_process;
use crate::run::agent::AgentLauncher;
use crate::run::limits::foremost;
use crate::session::Tide;
use crate::session::{Began, Event, Reason, RunLine, RunStep, Salt, Session, SessionError};

const LOOK: Duration = Duration::from_millis(50);

pub trait Audience {
    fn hear(&mut self, news: &News);
    fn wants_an_end(&self) -> bool;
}

#[derive(Debug, Clone, Copy)]
pub struct Sources {
    pub now: fn() -> Timestamp,
    pub salts: fn() -> Salt,
}

pub fn drive_all(
    dir: &Path,
    plan: Plan,
    desk: &dyn Desk,
    audience: &mut dyn Audience,
    sources: Sources,
) -> Result<Reason, RunError> {
    let Sources { mut now, mut salts } = sources;
    let mut session = Session::open(dir)?;
    let launcher = AgentLauncher::this().and_then(AgentLauncher::adopting);
    let launcher = launcher.map_err(RunError::io("find", dir))?;
    let lock = RunLock::take(dir, plan.run)?;
    for run in sweep(&mut session, &mut now, &mut salts)? {
        audience.hear(&News::Note {
            text: format!("run {run} had died: what it left open is recorded as interrupted"),
        });
    }
    let place = Workplace::set_up(dir, &plan)?;
    let began = Began {
        agent: plan.command.name(),
        model: plan.model.clone(),
        workers: plan.workers,
        process: this_process(),
    };
    let run = plan.run;
    let mut append = |session: &mut Session, step| {
        let line = Event::Run(Box::new(RunLine { run, step }));
        let append = |_: &Session, _| Ok::<_, SessionError>(vec![line]);
        session.append_at(&mut now, &mut salts, append)
    };
    append(&mut session, RunStep::Began(began.clone()))?;
    audience.hear(&News::Began { run, began });

    let floor = Floor::new(plan);
    let crew = Crew {
        dir,
        floor: &floor,
        place: &place,
        launcher: &launcher,
        desk,
        sources,
    };
    let worked = crew.work(audience);
    // Nothing may change any more what the report is to say.
    launcher.end_strays();
    if worked.is_err() {
        floor.stop(Reason::Error);
    }
    let board = session.fold()?;
    let reason = reason(&floor, board.remaining() == 0);
    append(&mut session, RunStep::Ended { reason })?;
    audience.hear(&News::Ended { run, reason });
    lock.remove();
    worked.map(|()| reason)
}

fn reason(floor: &Floor, complete: bool) -> Reason {
    if complete {
        return Reason::Complete;
    }
    let reasons = floor.stopping().or_else(|| floor.unsettled());
    // Where all that could be driven is settled, the rest waits for what did not pass.
    foremost(reasons).unwrap_or(Reason::AgentFailed)
}

struct Crew<'a> {
    dir: &'a Path,
    floor: &'a Floor,
    place: &'a Workplace,
    launcher: &'a AgentLauncher,
    desk: &'a dyn Desk,
    sources: Sources,
}

impl Crew<'_> {
    fn work(&self, audience: &mut dyn Audience) -> Result<(), RunError> {
        thread::scope(|scope| {
            let (tell, news) = mpsc::channel();
            let workers: Vec<_> = (0..self.floor.plan.workers as usize)
                .map(|index| {
                    let tell = tell.clone();
                    scope.spawn(move || self.worker(index, tell))
                })
                .collect();
            drop(tell);
            self.listen(&news, audience);
            let ends = workers.into_iter().map(|worker| match worker.join() {
                Ok(end) => end,
                Err(_) => Err(RunError::Deserted),
            });
            // Every one has to have ended.
            let ends: Vec<_> = ends.collect();
            ends.into_iter().collect()
        })
    }

    fn worker(&self, index: usize, tell: Sender<News>) -> Result<(), RunError> {
        let worked = self.set_to_work(index, tell);
        if worked.is_err() {
            self.floor.stop(Reason::Error);
        }
        worked
    }

    fn set_to_work(&self, index: usize, tell: Sender<News>) -> Result<(), RunError> {
        let session = Session::open(self.dir)?;
        let chamber = Chamber::of(&session, None)?;
        let mut worker = RunWorker {
            floor: self.floor,
            index,
            chamber,
            place: self.place,
            launcher: self.launcher,
            desk: self.desk,
            tell,
            tide: Tide::of(session.dir()),
            next: None,
            now: self.sources.now,
            salts: self.sources.salts,
            session,
        };
        worker.work()
    }

    fn listen(&self, news: &Receiver<News>, audience: &mut dyn Audience) {
        loop {
            match news.recv_timeout(LOOK) {
                Ok(news) => audience.hear(&news),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if audience.wants_an_end() {
                self.floor.stop(Reason::Interrupted);
            }
        }
    }
}
