//! Judges many submissions: in parallel across sites, one by one within a site.
//!
//! The threads never read the session, which is checked when a judgement is recorded. They are not
//! joined, so that Ctrl-C ends the program at once.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use url::Url;

use crate::gate::{Case, Gate, Judgement};
use crate::judge::error::JudgeError;
use crate::judge::kind::JudgeWorld;
use crate::judge::kind::SessionKind;
use crate::judge::network::check_network;
use crate::judge::panel::SessionGate;
use crate::judge::recorded::NothingAccepted;
use crate::judge::recorded::record;
use crate::judge::replay::with_bodies;
use crate::quest::{Quest, Submission, Verdict, email};
use crate::session::{EvidenceStore, Manifest};
use crate::world::World;
use crate::world::domain::HostName;
use crate::world::evidence::replay::Replay;
use crate::world::evidence::{Evidence, Recording};

const THREADS: usize = 16;

const POLL: Duration = Duration::from_millis(50);

// Pages nest deeply, and parsing them recurses.
pub(super) const STACK: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Job {
    pub quest: Quest,
    pub submission: Submission,
    /// The evidence that replaces the network; `None` to ask the network.
    pub offline: Option<NetworkEvidence>,
}

/// The network's answers to an earlier judgement.
#[derive(Debug, Clone)]
pub struct NetworkEvidence {
    pub evidence: Evidence,
    pub store: EvidenceStore,
}

/// A submission that was judged as if the session had passed nothing before.
#[derive(Debug)]
pub struct JudgedJob {
    pub job: Job,
    pub judgement: Judgement,
    pub recording: Recording,
}

#[derive(Debug)]
pub enum Next {
    Judged(Box<JudgedJob>),
    /// It was stopped. Everything judged until then has been returned.
    Stopped,
    Done,
}

pub struct HostQueue {
    shared: Arc<Shared>,
    judged: Receiver<Result<JudgedJob, JudgeError>>,
    left: usize,
}

struct Shared {
    manifest: Manifest,
    world: Arc<JudgeWorld>,
    sites: Mutex<VecDeque<Vec<Job>>>,
    stopped: AtomicBool,
}

impl HostQueue {
    pub fn start(
        jobs: Vec<Job>,
        manifest: &Manifest,
        world: Arc<JudgeWorld>,
    ) -> Result<Self, JudgeError> {
        // Report unreadable settings here rather than in each thread.
        SessionKind::load(manifest)?;
        let left = jobs.len();
        let (offline, online): (Vec<Job>, Vec<Job>) =
            jobs.into_iter().partition(|job| job.offline.is_some());
        let mut sites: BTreeMap<Option<String>, Vec<Job>> = BTreeMap::new();
        for job in online {
            sites.entry(site_of(&job.submission)).or_default().push(job);
        }
        let mut sites: Vec<Vec<Job>> = sites.into_values().collect();
        // The site with the most jobs takes longest, because one thread judges it, so it starts first.
        sites.sort_by_key(|jobs| std::cmp::Reverse(jobs.len()));
        // Threads for sites mostly wait, but commands compute.
        let most = if offline.is_empty() {
            THREADS
        } else {
            thread::available_parallelism().map_or(1, NonZeroUsize::get)
        };
        sites.extend(offline.into_iter().map(|job| vec![job]));
        let threads = sites.len().min(most);
        let shared = Arc::new(Shared {
            manifest: manifest.clone(),
            world,
            sites: Mutex::new(sites.into()),
            stopped: AtomicBool::new(false),
        });
        let (sender, judged) = sync_channel(THREADS);
        for number in 0..threads {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let thread = thread::Builder::new().stack_size(STACK);
            match thread.spawn(move || shared.work(&sender)) {
                Err(refused) if number == 0 => return Err(JudgeError::Threads(refused)),
                // Fewer threads do the same work, more slowly.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(Self {
            shared,
            judged,
            left,
        })
    }

    pub fn left(&self) -> usize {
        self.left
    }

    /// Waits for the next judgement, until all are made or `stop` returns true.
    ///
    /// After an error it can be called again, because the other jobs are still judged.
    pub fn next(&mut self, stop: &dyn Fn() -> bool) -> Result<Next, JudgeError> {
        loop {
            if self.left == 0 {
                return Ok(Next::Done);
            }
            let judged = if stop() {
                self.shared.stopped.store(true, Ordering::SeqCst);
                match self.judged.try_recv() {
                    Ok(judged) => judged,
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                        return Ok(Next::Stopped);
                    }
                }
            } else {
                match self.judged.recv_timeout(POLL) {
                    Ok(judged) => judged,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(JudgeError::Deserted(std::mem::take(&mut self.left)));
                    }
                }
            };
            self.left -= 1;
            return Ok(Next::Judged(Box::new(judged?)));
        }
    }
}

impl Drop for HostQueue {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    /// Judges site after site until none is left or the receiver is gone.
    fn work(&self, sender: &SyncSender<Result<JudgedJob, JudgeError>>) {
        let Ok(kind) = SessionKind::load(&self.manifest) else {
            return;
        };
        let next_site = || {
            let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
            sites.pop_front()
        };
        while let Some(jobs) = next_site() {
            for job in jobs {
                let is_stopped = self.stopped.load(Ordering::SeqCst);
                if is_stopped || sender.send(self.judge(&kind.gate, job)).is_err() {
                    return;
                }
            }
        }
    }

    fn judge(&self, gate: &SessionGate, job: Job) -> Result<JudgedJob, JudgeError> {
        let case = Case::new(&job.quest, &job.submission);
        let (judgement, recording) = match &job.offline {
            None => self.world.lend(&NothingAccepted, |world| {
                let (judgement, recording) = record(gate, case, world)?;
                check_network(&recording.evidence, &world)?;
                Ok::<_, JudgeError>((judgement, recording))
            })??,
            Some(network) => {
                let judged = self.judge_offline(gate.machine(), case, network);
                judged.map_err(|source| JudgeError::OfQuest {
                    quest: job.quest.id,
                    key: job.quest.key.clone(),
                    source: Box::new(source),
                })?
            }
        };
        Ok(JudgedJob {
            job,
            judgement,
            recording,
        })
    }

    /// Runs the machine's checks with the current tree and commands.
    fn judge_offline(
        &self,
        machine: &dyn Gate,
        case: Case<'_>,
        network: &NetworkEvidence,
    ) -> Result<(Judgement, Recording), JudgeError> {
        let told = with_bodies(network.evidence.clone(), &network.store);
        let told = told.map_err(|error| JudgeError::NotAgain(error.to_string()))?;
        let replay = Replay::new(&told.evidence, &told.bodies);
        let judge = |world: World<'_>| record(machine, case, world);
        let judged = self
            .world
            .lend_offline(&NothingAccepted, &replay, judge)??;
        match replay.missing().pop() {
            Some(missing) if judged.0.verdict != Verdict::Fail => {
                Err(JudgeError::NeedsNetwork(missing))
            }
            _ => Ok(judged),
        }
    }
}

/// The registrable domain of the submission's pages. One judgement asks several of its hosts, so one
/// thread handles the whole domain.
fn site_of(submission: &Submission) -> Option<String> {
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

#[cfg(test)]
mod tests;
