//! Judging many submissions at once: in parallel across hosts, one by one within a host.
//!
//! The threads never read the session: what it knows is checked when a judgement is recorded. They
//! are not joined, so that Ctrl-C ends the program at once.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use url::Url;

use crate::gate::{Case, Gate, Judgement};
use crate::judge::accepted::NothingAccepted;
use crate::judge::error::JudgeError;
use crate::judge::kind::SessionKind;
use crate::judge::recorded::record;
use crate::quest::{Quest, Submission, email};
use crate::session::Manifest;
use crate::world::World;
use crate::world::domain::HostName;
use crate::world::evidence::Recording;
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, NoWorkshop};

const THREADS: usize = 16;

const PATIENCE: Duration = Duration::from_millis(50);

const STACK: usize = 8 * 1024 * 1024;

/// A submission to be judged.
#[derive(Debug, Clone)]
pub struct Job {
    pub quest: Quest,
    pub submission: Submission,
}

/// A submission that was judged, as if the session had passed nothing before.
#[derive(Debug)]
pub struct Looked {
    pub job: Job,
    pub judgement: Judgement,
    pub recording: Recording,
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    Looked(Box<Looked>),
    /// Nothing: it was asked to stop. What had been judged until then has been handed on.
    Stopped,
    /// Nothing: all are judged.
    Done,
}

/// Many who judge at once.
pub struct HostQueue {
    shared: Arc<Shared>,
    found: Receiver<Result<Looked, JudgeError>>,
    left: usize,
}

struct Shared {
    manifest: Manifest,
    world: Box<dyn SharedWorld>,
    turns: Mutex<Lines<Job>>,
}

impl HostQueue {
    pub fn set_out(
        jobs: Vec<Job>,
        manifest: &Manifest,
        world: Box<dyn SharedWorld>,
    ) -> Result<Self, JudgeError> {
        // Settings that do not read are found out here, and not by each thread.
        SessionKind::load(manifest)?;
        let left = jobs.len();
        let turns = Lines::new(jobs.into_iter().map(|job| (line_of(&job.submission), job)));
        let threads = turns.len().min(THREADS);
        let shared = Arc::new(Shared {
            manifest: manifest.clone(),
            world,
            turns: Mutex::new(turns),
        });
        let (sender, found) = sync_channel(THREADS);
        for number in 0..threads {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let thread = thread::Builder::new().stack_size(STACK);
            match thread.spawn(move || shared.work(&sender)) {
                Err(refused) if number == 0 => return Err(JudgeError::Threads(refused)),
                // Fewer do the same, later.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(Self {
            shared,
            found,
            left,
        })
    }

    /// How many have not been handed on.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// Waits for the next judgement, until all are made or `stop` says so.
    ///
    /// After an error it may be asked again: the others are still judged.
    pub fn next(&mut self, stop: &dyn Fn() -> bool) -> Result<Next, JudgeError> {
        loop {
            if self.left == 0 {
                return Ok(Next::Done);
            }
            let found = if stop() {
                self.shared.begin_no_more();
                match self.found.try_recv() {
                    Ok(found) => found,
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                        return Ok(Next::Stopped);
                    }
                }
            } else {
                match self.found.recv_timeout(PATIENCE) {
                    Ok(found) => found,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(JudgeError::Deserted(std::mem::take(&mut self.left)));
                    }
                }
            };
            self.left -= 1;
            return Ok(Next::Looked(Box::new(found?)));
        }
    }
}

impl Drop for HostQueue {
    fn drop(&mut self) {
        self.shared.begin_no_more();
    }
}

impl Shared {
    /// Judges until nothing is left to take, or nobody listens any more.
    fn work(&self, sender: &SyncSender<Result<Looked, JudgeError>>) {
        let Ok(kind) = SessionKind::load(&self.manifest) else {
            return;
        };
        loop {
            let taken = self.turns().take();
            let Some((job, line)) = taken else {
                return;
            };
            let looked = self.look(&kind.gate, job);
            if sender.send(looked).is_err() {
                return;
            }
            self.turns().give_back(line);
        }
    }

    fn look(&self, gate: &dyn Gate, job: Job) -> Result<Looked, JudgeError> {
        let case = Case {
            quest: &job.quest,
            submission: &job.submission,
        };
        let mut observed = None;
        self.world.lend(&mut |world| {
            let seen = record(gate, case, world).map_err(JudgeError::from);
            let failure = world.workshop.failure();
            observed = Some(failure.map_or(seen, |why| Err(JudgeError::Workshop(why))));
        });
        let (judgement, recording) = observed.ok_or(JudgeError::Deserted(1))??;
        Ok(Looked {
            job,
            judgement,
            recording,
        })
    }

    fn begin_no_more(&self) {
        self.turns().close();
    }

    fn turns(&self) -> MutexGuard<'_, Lines<Job>> {
        // Each change of the lines is whole: a panic elsewhere leaves them so.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands in one line: the submissions whose pages lie on one registrable domain, since a
/// judgement asks several hosts of it.
fn line_of(submission: &Submission) -> Option<String> {
    let urls = [email::SOURCE, email::SITE].map(|field| submission.field(field.as_str()));
    let url = urls
        .into_iter()
        .flatten()
        .find_map(|text| Url::parse(text).ok())?;
    match HostName::of_url(&url).and_then(|host| host.registrable()) {
        Some(domain) => Some(domain.to_string()),
        None => url.host_str().map(str::to_owned),
    }
}

/// A world that many ask at once, each for a submission of its own.
pub trait SharedWorld: Send + Sync + 'static {
    fn lend(&self, look: &mut dyn FnMut(World<'_>));
}

/// A world with the tree that a session's quests are about.
pub struct WithBench {
    pub world: Box<dyn SharedWorld>,
    pub bench: Bench,
}

impl SharedWorld for WithBench {
    fn lend(&self, look: &mut dyn FnMut(World<'_>)) {
        let workshop = LiveWorkshop::new(&self.bench);
        self.world.lend(&mut |world| {
            look(World {
                workshop: &workshop,
                ..world
            });
        });
    }
}

impl SharedWorld for LiveWorld {
    fn lend(&self, look: &mut dyn FnMut(World<'_>)) {
        let own = self.for_another();
        look(World {
            fetcher: own.fetcher(),
            resolver: own.resolver(),
            accepted: &NothingAccepted,
            workshop: &NoWorkshop,
        });
    }
}

impl SharedWorld for Arc<dyn SharedWorld> {
    fn lend(&self, look: &mut dyn FnMut(World<'_>)) {
        self.as_ref().lend(look);
    }
}

impl SharedWorld for RecordedWorld {
    fn lend(&self, look: &mut dyn FnMut(World<'_>)) {
        look(World {
            fetcher: self,
            resolver: self,
            accepted: &NothingAccepted,
            workshop: &NoWorkshop,
        });
    }
}

#[derive(Debug)]
pub(super) struct Lines<T> {
    waiting: VecDeque<Line<T>>,
    closed: bool,
}

/// What is left of a line while its first thing is being done.
#[derive(Debug)]
pub(super) struct Line<T>(VecDeque<T>);

impl<T> Lines<T> {
    pub(super) fn new<K: Eq + Hash>(things: impl IntoIterator<Item = (K, T)>) -> Self {
        let mut places = HashMap::new();
        let mut waiting: VecDeque<Line<T>> = VecDeque::new();
        for (key, thing) in things {
            let place = *places.entry(key).or_insert(waiting.len());
            match waiting.get_mut(place) {
                Some(line) => line.0.push_back(thing),
                None => waiting.push_back(Line(VecDeque::from([thing]))),
            }
        }
        Self {
            waiting,
            closed: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The next thing to do, and the line to give back when it is done.
    ///
    /// Whoever gets none may go home: each line that others have is done by those who have it.
    pub(super) fn take(&mut self) -> Option<(T, Line<T>)> {
        let mut line = self.waiting.pop_front()?;
        let thing = line.0.pop_front()?;
        Some((thing, line))
    }

    /// Lets nobody take anything any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
    }

    /// Puts a line at the end, unless it is done.
    pub(super) fn give_back(&mut self, line: Line<T>) {
        if !line.0.is_empty() && !self.closed {
            self.waiting.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests;
