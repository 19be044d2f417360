//! Polls the checks of a quest while an agent works, for kinds in which nothing is submitted.
//!
//! A poll is not recorded, and no agent sees it. When all checks hold, the caller submits, and only
//! that judgement counts. A gate runs expensive checks only if the cheap ones hold, and a pause is
//! ten times as long as the poll before it. Reviewers are not asked.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::base::Digest;
use crate::gate::Case;
use crate::judge::error::JudgeError;
use crate::judge::kind::JudgeWorld;
use crate::judge::kind::{SessionKind, kind_of};
use crate::judge::recorded::NothingAccepted;
use crate::quest::{Fields, Quest, QuestId, QuestKind, Submission, Verdict};
use crate::session::Session;
use crate::world::sandbox::Stop;

/// Polls one quest's checks on a thread until it is dropped.
#[derive(Debug)]
pub struct Poll {
    passes: Receiver<()>,
    stop: Stop,
    rest: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Whether a quest of this kind can be answered without fields.
pub fn needs_no_fields(kind: &QuestKind) -> bool {
    kind.fields.iter().all(|field| !field.required)
}

impl Poll {
    /// Starts to poll a quest's checks. `None` if the kind requires fields or has neither commands nor
    /// files, or if there is no such quest.
    ///
    /// Dropping the poll ends a running command, and waits until its copy of the tree is removed.
    pub fn start(
        session: &Session,
        quest: QuestId,
        interval: Duration,
    ) -> Result<Option<Self>, JudgeError> {
        let manifest = session.manifest();
        if !needs_no_fields(&kind_of(manifest)?) {
            return Ok(None);
        }
        let Some(record) = session.quest_record(quest)? else {
            return Ok(None);
        };
        let quest = session.reader()?.quest(&record)?;
        let world = JudgeWorld::of(session, &SessionKind::load(manifest)?)?;
        let Some(config) = world.sandbox_config() else {
            return Ok(None);
        };
        let stop = config.launcher.stop.clone();
        let manifest = manifest.clone();
        let (pass, passes) = mpsc::channel();
        let (rest, stopped) = mpsc::channel::<()>();
        let poll = move || {
            // A gate's checks cannot move to another thread.
            let Ok(kind) = SessionKind::load(&manifest) else {
                return;
            };
            let (mut pace, mut news) = (Pace::new(interval), News::default());
            loop {
                let began = Instant::now();
                // Taken before the poll, so that a write during the poll counts as another state.
                let state = world.tree_digest(None).ok().flatten();
                if news.round(state, || hold(&kind, &world, &quest)) && pass.send(()).is_err() {
                    return;
                }
                pace.note(began.elapsed());
                match stopped.recv_timeout(pace.pause()) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = thread::Builder::new().name(String::from("poll"));
        let thread = thread.spawn(poll).map_err(JudgeError::Threads)?;
        Ok(Some(Self {
            passes,
            stop,
            rest: Some(rest),
            thread: Some(thread),
        }))
    }

    /// Whether the checks began to hold. Does not wait.
    ///
    /// It is true only once per state of the tree, so that a gate which disagrees is not asked again
    /// and again.
    pub fn holds(&self) -> bool {
        self.passes.try_recv().is_ok()
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        self.stop.ask();
        self.rest = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Only a PASS holds: a REVIEW is not settled while the agent still works.
fn hold(kind: &SessionKind, world: &JudgeWorld, quest: &Quest) -> bool {
    let submission = Submission::Fields(Fields::new());
    let case = Case::new(quest, &submission);
    let judged = world.lend(&NothingAccepted, |world| {
        kind.gate.machine().judge(case, &world)
    });
    // The judgement that counts reports why the sandbox failed.
    judged.is_ok_and(|judgement| judgement.verdict == Verdict::Pass)
}

const REST: u32 = 10;

/// The pauses between polls: an interval, and longer after a slow poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    interval: Duration,
    took: Duration,
}

impl Pace {
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            took: Duration::ZERO,
        }
    }

    pub fn note(&mut self, took: Duration) {
        self.took = took;
    }

    pub fn pause(&self) -> Duration {
        self.interval.max(self.took.saturating_mul(REST))
    }
}

/// Whether the checks held at the last poll, and in which state of the tree.
#[derive(Debug, Default)]
struct News {
    held: bool,
    state: Option<Digest>,
}

impl News {
    /// Polls once, and returns whether the checks began to hold. A state that is known to hold is not
    /// polled again.
    fn round(&mut self, state: Option<Digest>, checks: impl FnOnce() -> bool) -> bool {
        let known = self.held && self.state == state;
        if known && state.is_some() {
            return false;
        }
        let held = checks();
        *self = Self { held, state };
        held && !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_for_the_interval_or_ten_times_the_poll() {
        let mut pace = Pace::new(Duration::from_millis(100));
        let mut pauses = Vec::new();
        for took in [0, 9, 10, 11, 3_000, 1] {
            pace.note(Duration::from_millis(took));
            pauses.push(pace.pause().as_millis());
        }
        assert_eq!(pauses, [100, 100, 100, 110, 30_000, 100]);
        pace.note(Duration::MAX);
        assert_eq!(pace.pause(), Duration::MAX);
    }

    #[test]
    fn reports_a_state_that_holds_once_until_it_fails() {
        let [a, b] = ["a", "b"].map(|text| Some(Digest::of(text.as_bytes())));
        let mut news = News::default();
        // Each row: the state of the tree, whether the checks hold, whether that is reported.
        for (row, (state, holds, reported)) in [
            (a, false, false),
            (a, true, true),
            (a, true, false),
            (b, true, true),
            (b, true, false),
            (a, true, true),
            (b, false, false),
            (b, true, true),
            // The state cannot be told, so that only a failure in between makes it news.
            (None, true, true),
            (None, true, false),
            (None, false, false),
            (None, true, true),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(news.round(state, || holds), reported, "row {row}");
        }
        news.round(a, || true);
        assert!(!news.round(a, || unreachable!("it is known")));
    }
}
