//! The way through a whole ledger: one thread reads it in order, the others examine its lines.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use schemars::JsonSchema;
use serde::Serialize;

use super::damage;
use super::doubted::DoubtedBefore;
use super::examine::{Examined, Examiner, Job};
use super::finding::{Finding, Kind, Place};
use super::forgotten::ForgottenBefore;
use super::rested::Rested;
use super::seals;
use crate::base::Digest;
use crate::base::regular;
use crate::judge::{DriveError, Replayer};
use crate::quest::QuestId;
use crate::session::{
    Board, Entry, Event, EvidenceStore, Forgetting, LineReader, Manifest, Session, SessionError,
    SourceRecord, Watch,
};

/// What is to be audited.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    pub session: &'a Session,
    pub board: &'a Board,
    pub noted: Option<Digest>,
    pub same_judge: bool,
}

/// Who looks on, and may end it.
#[derive(Clone, Copy)]
pub struct Onlooker<'a> {
    pub watch: &'a dyn Watch,
    pub stop: &'a dyn Fn() -> bool,
}

/// What came of an audit.
#[derive(Debug, Default)]
pub struct Audited {
    pub findings: Vec<Finding>,
    /// Lines of which something was forgotten that they rest on: they are not judged again.
    pub forgotten: Vec<Place>,
    pub checked: Checked,
    pub noted: Option<NotedHead>,
    pub proven: Vec<Proven>,
    pub rested: Vec<Rested>,
}

/// A line that proves its quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    pub line: u64,
    pub quest: QuestId,
    /// Whether other lists or another program judged it, and this one judges it otherwise: then
    /// nothing that the world says now tells drift from that.
    pub by_others: bool,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Checked {
    /// Lines of the ledger.
    pub lines: u64,
    /// Quests.
    pub quests: usize,
    /// Judgements, whose fields were held against them.
    pub judgements: u64,
    /// PASSes and confirmations, which were judged again from their evidence.
    pub passes: u64,
}

/// A head that was noted earlier and is one of this chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotedHead {
    /// The line that it is the hash of.
    pub line: u64,
    /// How many lines have come since.
    pub since: u64,
}

const STACK: usize = 8 * 1024 * 1024;

const WAITING: usize = 8;

/// Examines every line of the ledger.
///
/// Memory is that of the board and of a few lines with their pages, however many there are.
pub fn walk(plan: Plan<'_>, onlooker: Onlooker<'_>) -> Result<Audited, DriveError> {
    let (manifest, evidence) = (plan.session.manifest(), plan.session.evidence());
    // What every thread makes for itself can be made.
    Replayer::new(manifest, evidence.clone())?;
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut readers = Vec::with_capacity(threads);
    for _ in 0..threads {
        readers.push(plan.session.reader()?);
    }
    let (jobs, waiting) = sync_channel(threads * WAITING);
    let waiting = Arc::new(Mutex::new(waiting));
    let mut audited = thread::scope(|scope| {
        let workers: Vec<_> = readers
            .into_iter()
            .map(|reader| {
                let worker = Worker {
                    manifest,
                    evidence: evidence.clone(),
                    board: plan.board,
                    same_judge: plan.same_judge,
                };
                let waiting = Arc::clone(&waiting);
                thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, move || worker.work(reader, &waiting))
                    .map_err(DriveError::Threads)
            })
            .collect::<Result<_, _>>()?;
        // Held by the workers alone, so that the feeding ends once none of them is left.
        drop(waiting);
        let mut audited = feed(plan, &jobs, onlooker)?;
        drop(jobs);
        for worker in workers {
            match worker.join() {
                Ok(examined) => audited.add(examined?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok::<_, DriveError>(audited)
    })?;
    audited.findings.sort_by_key(|finding| finding.place.line);
    audited.proven.sort_by_key(|proven| proven.line);
    audited.rested.sort_by_key(|rested| rested.line);
    audited.forgotten.sort_by_key(|place| place.line);
    Ok(audited)
}

struct Worker<'a> {
    manifest: &'a Manifest,
    evidence: EvidenceStore,
    board: &'a Board,
    same_judge: bool,
}

impl Worker<'_> {
    fn work(
        self,
        reader: LineReader,
        waiting: &Mutex<Receiver<Job>>,
    ) -> Result<Examined, DriveError> {
        let mut examiner = Examiner {
            board: self.board,
            reader,
            replayer: Replayer::new(self.manifest, self.evidence)?,
            same_judge: self.same_judge,
        };
        let mut all = Examined::default();
        loop {
            let next = waiting
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv();
            let Ok(job) = next else {
                return Ok(all);
            };
            let one = examiner.examine(&job)?;
            all.findings.extend(one.findings);
            all.forgotten.extend(one.forgotten);
            all.judgements += one.judgements;
            all.proven.extend(one.proven);
            all.rested.extend(one.rested);
        }
    }
}

fn feed(
    plan: Plan<'_>,
    jobs: &SyncSender<Job>,
    onlooker: Onlooker<'_>,
) -> Result<Audited, DriveError> {
    let mut audited = Audited::default();
    audited.checked.quests = plan.board.quests().len();
    let end = plan.board.tip().length;
    let mut offset = 0;
    let mut before = ForgottenBefore::new(plan.session.terms().court);
    let mut doubted = DoubtedBefore::default();
    let mut take = |entry: Entry<'_>| {
        let begins = offset;
        offset += entry.line.text().len() as u64 + 1;
        if audited.checked.lines == end || (onlooker.stop)() {
            return;
        }
        audited.checked.lines += 1;
        let line = audited.checked.lines;
        if audited.noted.is_none() && plan.noted == plan.noted.map(|_| entry.line.tip().head) {
            audited.noted = plan.noted.map(|_| NotedHead {
                line,
                since: end - line,
            });
        }
        let copied = match &entry.event {
            Event::Session(_) => Some(&plan.session.manifest().source),
            Event::Extended(extended) => Some(&extended.source),
            _ => None,
        };
        let changed = copied.and_then(|source| {
            let forgetting = &plan.board.totals().forgetting;
            changed_copy(plan.session.dir(), source, forgetting, line)
        });
        audited.findings.extend(changed);
        audited.findings.extend(unsealed(plan, &entry, line));
        audited
            .findings
            .extend(before.take(plan.board, &entry, line));
        if let Event::Attempt(_) | Event::Resolution(_) | Event::Carried(_) = entry.event {
            // Nobody takes it only when every thread has failed, which is told when they end.
            let _ = jobs.send(Job {
                line,
                offset: begins,
                doubted: doubted.take(&entry.event),
                event: entry.event,
            });
        }
    };
    let mut log = plan.session.log();
    match log.read_on_watched(onlooker.watch, &mut take) {
        // What was looked at until then is told.
        Ok(()) | Err(SessionError::Stopped) => {}
        Err(error) => audited.findings.push(damage::found(error)?),
    }
    let whole = audited.checked.lines == end;
    if let (Some(head), None, true) = (plan.noted, audited.noted, whole) {
        let what = format!(
            "no line has the head {head}, which was noted earlier: lines were cut off or written \
             anew since"
        );
        audited
            .findings
            .push(Finding::new(Kind::Head, Place::default(), what));
    }
    Ok(audited)
}

fn unsealed(plan: Plan<'_>, entry: &Entry<'_>, line: u64) -> Option<Finding> {
    let court = plan.session.terms().court;
    let what = seals::broken(&court, &entry.event, entry.line.prev())?;
    let quest = match &entry.event {
        Event::Settled(settlement) => match settlement.quests.as_slice() {
            [one] => Some(one.quest),
            _ => None,
        },
        Event::Disputed(dispute) => Some(dispute.quest),
        _ => None,
    };
    let standing = quest.and_then(|quest| plan.board.get(quest));
    let place = match standing {
        Some(standing) => Place::of_quest(line, standing),
        None => Place::of_line(line),
    };
    Some(Finding::new(Kind::Seal, place, what))
}

fn changed_copy(
    dir: &Path,
    source: &SourceRecord,
    forgetting: &Forgetting,
    line: u64,
) -> Option<Finding> {
    let expected = forgetting.copy_of(source.sha256);
    let path = dir.join(&source.copy);
    let digest = regular::open(&path).and_then(|mut file| Digest::of_reader(&mut file));
    let what = match digest {
        Ok(digest) if digest == expected => return None,
        Ok(digest) if forgetting.copy_of(digest) == expected => format!(
            "{} still holds what was to be forgotten: run `comail forget` again",
            path.display()
        ),
        Ok(_) => format!("{} is not the list that was scanned", path.display()),
        Err(error) => format!("{} cannot be read: {error}", path.display()),
    };
    Some(Finding::new(Kind::Source, Place::of_line(line), what))
}

impl Audited {
    fn add(&mut self, examined: Examined) {
        self.findings.extend(examined.findings);
        self.forgotten.extend(examined.forgotten);
        self.checked.judgements += examined.judgements;
        self.checked.passes += examined.proven.len() as u64;
        self.proven.extend(examined.proven);
        self.rested.extend(examined.rested);
    }
}
