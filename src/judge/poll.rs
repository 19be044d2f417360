//! Polls the checks of a quest while an agent works, for kinds in which nothing is submitted.
//!
//! A poll is not recorded, and no agent sees it. When all checks hold the caller submits, and only
//! that judgement counts. Checks that run no command and ask no network are polled at every
//! interval. The others are polled when those hold, after a pause of ten times what the last poll
//! took. Reviewers are not asked.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::Digest;
use crate::gate::{Case, CheckOutcome, Cost, Gate as _, Judgement};
use crate::judge::accepted::NothingAccepted;
use crate::judge::error::JudgeError;
use crate::judge::kind::{SessionKind, kind_of};
use crate::judge::world::JudgeWorld;
use crate::quest::{Fields, Quest, QuestId, QuestKind, Submission, Verdict};
use crate::session::Session;

/// A poll of one quest's checks that goes on, on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Poll {
    passes: Receiver<()>,
    _stop: Sender<()>,
}

/// Whether a quest of this kind can be answered without a word.
pub fn needs_no_fields(kind: &QuestKind) -> bool {
    kind.fields.iter().all(|field| !field.required)
}

impl Poll {
    /// Polls a quest's checks from now on; none where the kind asks for fields or has no commands
    /// and files, or there is no such quest.
    ///
    /// A command that a check runs while the poll is dropped is not waited for.
    pub fn start(
        session: &Session,
        quest: QuestId,
        interval: Duration,
    ) -> Result<Option<Self>, JudgeError> {
        let manifest = session.manifest();
        if !needs_no_fields(&kind_of(manifest)?) {
            return Ok(None);
        }
        let Some(record) = session.standing(quest)? else {
            return Ok(None);
        };
        let quest = session.reader()?.quest(&record)?;
        let world = JudgeWorld::of(session, &SessionKind::load(manifest)?, None)?;
        if world.bench().is_none() {
            return Ok(None);
        }
        let manifest = manifest.clone();
        let (pass, passes) = mpsc::channel();
        let (stop, stopped) = mpsc::channel::<()>();
        let poll = move || {
            // A gate's checks stay on the thread that made them.
            let Ok(kind) = SessionKind::load(&manifest) else {
                return;
            };
            let began = Instant::now();
            let mut rounds = Rounds::new(interval);
            loop {
                let mut look = |most| look(&kind, &world, &quest, most);
                let state = world.tree_digest().ok().flatten();
                let all_hold = rounds.round(state, &|| began.elapsed(), &mut look);
                if all_hold && pass.send(()).is_err() {
                    return;
                }
                match stopped.recv_timeout(rounds.cheap.pause()) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = thread::Builder::new().name(String::from("poll"));
        thread.spawn(poll).map_err(JudgeError::Threads)?;
        Ok(Some(Self {
            passes,
            _stop: stop,
        }))
    }

    /// Whether the checks hold and did not before. It does not wait.
    ///
    /// Of one state of the tree it says so once, so that a gate which does not agree is not asked
    /// over and over.
    pub fn holds(&self) -> bool {
        self.passes.try_recv().is_ok()
    }
}

fn look(kind: &SessionKind, world: &JudgeWorld, quest: &Quest, most: Cost) -> Seen {
    let submission = Submission::Fields(Fields::new());
    let case = Case {
        quest,
        submission: &submission,
    };
    let judged = world.lend(&NothingAccepted, |world| {
        kind.gate.glance(case, &world, most)
    });
    // The judgement that counts reports why the sandbox failed.
    judged.map_or(Seen::Not, |judgement| Seen::of(&judgement))
}

/// Pauses are this many times as long as what they follow.
const REST: u32 = 10;

/// The pace of looks: an interval, and longer pauses after looks that took long.
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

const CHEAP: Cost = Cost::Tree;

/// What a look shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Some check does not hold, or could not be run.
    Not,
    /// All checks hold that were run, and some were not.
    SoFar,
    All,
}

impl Seen {
    /// Only a PASS holds: a REVIEW is not settled while the agent still works.
    fn of(judgement: &Judgement) -> Self {
        let mut checks = judgement.checks.iter();
        match judgement.verdict {
            Verdict::Fail | Verdict::Review => Self::Not,
            Verdict::Pass if checks.any(|it| it.outcome == CheckOutcome::NotRun) => Self::SoFar,
            Verdict::Pass => Self::All,
        }
    }
}

/// The rounds in which a quest's checks are polled.
#[derive(Debug)]
struct Rounds {
    cheap: Pace,
    dear: Pace,
    dear_from: Duration,
    /// The state of the tree of which it was last said that the checks hold, while they still do.
    said: Option<Option<Digest>>,
}

impl Rounds {
    fn new(interval: Duration) -> Self {
        Self {
            cheap: Pace::new(interval),
            dear: Pace::new(interval),
            dear_from: Duration::ZERO,
            said: None,
        }
    }

    /// Looks once, and tells whether the checks hold and did not before.
    ///
    /// `state` was taken before the look: whatever is written during it counts as another state.
    fn round(
        &mut self,
        state: Option<Digest>,
        now: &dyn Fn() -> Duration,
        look: &mut dyn FnMut(Cost) -> Seen,
    ) -> bool {
        let began = now();
        let seen = look(CHEAP);
        let looked = now();
        self.cheap.note(looked.saturating_sub(began));
        let known = self.said == Some(state);
        let holds = match seen {
            Seen::Not => false,
            Seen::All => true,
            Seen::SoFar if (known && state.is_some()) || looked < self.dear_from => return false,
            Seen::SoFar => {
                let seen = look(Cost::Heavy);
                let done = now();
                self.dear.note(done.saturating_sub(looked));
                self.dear_from = done.saturating_add(self.dear.pause());
                seen == Seen::All
            }
        };
        self.said = holds.then_some(state);
        holds && !known
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_pause_is_the_interval_or_ten_times_what_the_look_took() {
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

    struct Fake {
        now: Cell<u64>,
        cheap: Seen,
        dear: Seen,
        dear_takes: u64,
        state: Option<&'static str>,
        deep: Vec<u64>,
    }

    fn fake(cheap: Seen, dear: Seen) -> Fake {
        Fake {
            now: Cell::new(0),
            cheap,
            dear,
            dear_takes: 50,
            state: Some("a"),
            deep: Vec::new(),
        }
    }

    fn rounds(rounds: &mut Rounds, world: &mut Fake, count: usize) -> Vec<bool> {
        let mut said = Vec::new();
        for _ in 0..count {
            let state = world.state.map(|text| Digest::of(text.as_bytes()));
            let (now, deep) = (&world.now, &mut world.deep);
            let mut look = |most| {
                if most == CHEAP {
                    return world.cheap;
                }
                deep.push(now.get());
                now.set(now.get() + world.dear_takes);
                world.dear
            };
            let clock = || Duration::from_millis(now.get());
            said.push(rounds.round(state, &clock, &mut look));
            let pause = u64::try_from(rounds.cheap.pause().as_millis()).unwrap();
            now.set(now.get() + pause);
        }
        said
    }

    fn every_100_ms() -> Rounds {
        Rounds::new(Duration::from_millis(100))
    }

    #[test]
    fn cheap_checks_alone_say_it_at_once_and_once_for_a_state() {
        let (mut of, mut world) = (every_100_ms(), fake(Seen::All, Seen::Not));
        assert_eq!(rounds(&mut of, &mut world, 3), [true, false, false]);
        world.state = Some("b");
        assert_eq!(rounds(&mut of, &mut world, 2), [true, false]);
        assert_eq!(world.deep, [0; 0]);
    }

    #[test]
    fn what_no_longer_holds_may_hold_again() {
        let (mut of, mut world) = (every_100_ms(), fake(Seen::All, Seen::Not));
        world.state = None;
        assert_eq!(rounds(&mut of, &mut world, 2), [true, false]);
        world.cheap = Seen::Not;
        assert_eq!(rounds(&mut of, &mut world, 1), [false]);
        world.cheap = Seen::All;
        assert_eq!(rounds(&mut of, &mut world, 2), [true, false]);
    }

    #[test]
    fn dear_checks_are_looked_at_where_the_cheap_ones_hold_and_ever_more_seldom() {
        let (mut of, mut world) = (every_100_ms(), fake(Seen::Not, Seen::All));
        assert_eq!(rounds(&mut of, &mut world, 2), [false, false]);
        assert_eq!(world.deep, [0; 0]);
        (world.cheap, world.dear) = (Seen::SoFar, Seen::Not);
        assert_eq!(rounds(&mut of, &mut world, 12), [false; 12]);
        // Each took 50 ms, so that 500 ms lie between the end of one and the next.
        assert_eq!(world.deep, [200, 750, 1_300]);
        world.dear = Seen::All;
        let said = rounds(&mut of, &mut world, 8);
        assert_eq!(said.iter().filter(|said| **said).count(), 1);
        assert_eq!(world.deep.len(), 4, "{:?}", world.deep);
    }

    #[test]
    fn where_no_state_can_be_told_it_is_said_again_once_it_has_not_held() {
        let (mut of, mut world) = (every_100_ms(), fake(Seen::SoFar, Seen::All));
        (world.state, world.dear_takes) = (None, 1);
        assert_eq!(rounds(&mut of, &mut world, 3), [true, false, false]);
        world.dear = Seen::Not;
        assert_eq!(rounds(&mut of, &mut world, 2), [false, false]);
        world.dear = Seen::All;
        assert_eq!(rounds(&mut of, &mut world, 2), [true, false]);
    }

    #[test]
    fn nothing_but_a_pass_holds() {
        use crate::gate::{CheckReport, Fact, Level, RuleId};
        use CheckOutcome::{NotConfirmed, NotRun, Passed};
        let judged = |level: Option<Level>, outcome| {
            let facts = level.map(|level| Fact {
                cause: crate::gate::Cause::Wrong,
                rule: RuleId::known("open-ended"),
                level,
                field: None,
                location: None,
                expected: String::new(),
                actual: String::new(),
                count: 1,
            });
            let report = CheckReport {
                check: "a".to_owned(),
                outcome,
            };
            Seen::of(&Judgement::from_facts(
                facts.into_iter().collect(),
                vec![report],
            ))
        };
        assert_eq!(judged(None, Passed), Seen::All);
        assert_eq!(judged(None, NotRun), Seen::SoFar);
        assert_eq!(judged(Some(Level::Review), NotConfirmed), Seen::Not);
        assert_eq!(judged(Some(Level::Fail), Passed), Seen::Not);
    }
}
