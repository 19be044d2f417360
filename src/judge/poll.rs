//! Polls the checks of a quest while an agent works, for kinds in which nothing is submitted.
//!
//! A poll is not recorded, and no agent sees it. When all checks hold the caller submits, and only
//! that judgement counts. Checks that run no command and ask no network are polled at every
//! interval. The others are polled when those hold, after a pause of ten times what the last poll
//! took. Reviewers are not asked.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use crate::base::Digest;
use crate::gate::{Case, CheckOutcome, Cost, Gate as _, Judgement};
use crate::judge::accepted::NothingAccepted;
use crate::judge::error::JudgeError;
use crate::judge::fix::written;
use crate::judge::kind::{SessionKind, kind_of, network_of};
use crate::judge::panel::SessionGate;
use crate::quest::{Fields, Quest, QuestId, QuestKind, Submission, Verdict};
use crate::session::{EvidenceStore, Manifest, Session};
use crate::world::World;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, Workshop as _};

/// A look at one quest's checks that goes on until it is dropped.
#[derive(Debug)]
pub struct Probe {
    told: Receiver<Result<(), JudgeError>>,
    _stop: Sender<()>,
}

/// Whether a quest of this kind can be answered without a word.
#[must_use]
pub fn needs_no_fields(kind: &QuestKind) -> bool {
    kind.fields.iter().all(|field| !field.required)
}

impl Probe {
    /// Looks at a quest's checks from now on, on a thread of its own; none where the kind asks for
    /// fields, or there is no such quest.
    ///
    /// A command that a check runs as the probe is dropped is not waited for.
    pub fn start(
        session: &Session,
        quest: QuestId,
        interval: Duration,
    ) -> Result<Option<Self>, JudgeError> {
        let manifest = session.manifest();
        if !needs_no_fields(&kind_of(manifest)?) {
            return Ok(None);
        }
        let Some(standing) = session.standing(quest)? else {
            return Ok(None);
        };
        let making = Making {
            manifest: manifest.clone(),
            evidence: session.evidence(),
            dir: session.dir().to_owned(),
            quest: session.quest(&standing)?,
        };
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let looking = thread::Builder::new().name(String::from("probe"));
        let spawned = looking.spawn(move || look(making, interval, &tell, &stopped));
        spawned.map_err(JudgeError::Threads)?;
        Ok(Some(Self { told, _stop: stop }))
    }

    /// Whether the checks hold as they have not before. It does not wait.
    ///
    /// Of one state of the tree it is said once, so that a gate which does not agree is not asked
    /// over and over.
    pub fn holds(&self) -> Result<bool, JudgeError> {
        match self.told.try_recv() {
            Ok(said) => said.map(|()| true),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(false),
        }
    }
}

/// Looks until nobody wants to know.
fn look(
    making: Making,
    interval: Duration,
    tell: &Sender<Result<(), JudgeError>>,
    stopped: &Receiver<()>,
) {
    let mut eye = match Eye::of(making) {
        Ok(Some(eye)) => eye,
        Ok(None) => return,
        Err(error) => {
            let _ = tell.send(Err(error));
            return;
        }
    };
    let mut rounds = Rounds::new(interval);
    loop {
        if rounds.round(&mut eye) && tell.send(Ok(())).is_err() {
            return;
        }
        match stopped.recv_timeout(rounds.pause()) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

pub(super) struct Making {
    pub(super) manifest: Manifest,
    pub(super) evidence: EvidenceStore,
    pub(super) dir: std::path::PathBuf,
    pub(super) quest: Quest,
}

pub(super) struct Eye {
    gate: SessionGate,
    bench: Bench,
    live: LiveWorld,
    quest: Quest,
    began: Instant,
}

impl Eye {
    /// The eye on this quest; none where its gate runs nothing over files or commands.
    pub(super) fn of(making: Making) -> Result<Option<Self>, JudgeError> {
        let kind = SessionKind::load(&making.manifest)?;
        let network = network_of(&making.manifest)?;
        let live = LiveWorld::new(&network, Some(making.dir.join("hosts")));
        let live = live.map_err(|error| JudgeError::Workshop(error.to_string()))?;
        let bench = kind.bench(making.evidence, making.dir)?;
        Ok(bench.map(|bench| Self {
            gate: kind.gate,
            bench,
            live,
            quest: making.quest,
            began: Instant::now(),
        }))
    }
}

impl Sight for Eye {
    fn look(&mut self, most: Cost) -> Seen {
        let live = self.live.for_another();
        let workshop = LiveWorkshop::new(&self.bench);
        let world = World {
            fetcher: live.fetcher(),
            resolver: live.resolver(),
            accepted: &NothingAccepted,
            workshop: &workshop,
        };
        let submission = Submission::Fields(Fields::new());
        let case = Case {
            quest: &self.quest,
            submission: &submission,
        };
        let judgement = self.gate.glance(case, &world, most);
        // What kept it from looking is told by the judgement that counts.
        match workshop.failure() {
            Some(_) => Seen::Not,
            None => Seen::of(&judgement),
        }
    }

    fn state(&mut self) -> Option<Digest> {
        written(&self.bench).ok().flatten()
    }

    fn now(&mut self) -> Duration {
        self.began.elapsed()
    }
}

const REST: u32 = 10;

/// The pace of looks: an interval, and longer pauses after looks that took long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    interval: Duration,
    took: Duration,
}

impl Pace {
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            took: Duration::ZERO,
        }
    }

    pub fn note(&mut self, took: Duration) {
        self.took = took;
    }

    #[must_use]
    pub fn pause(&self) -> Duration {
        self.interval.max(self.took.saturating_mul(REST))
    }
}

const CHEAP: Cost = Cost::Tree;

/// What a look tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Something does not hold, or cannot be told.
    Not,
    SoFar,
    All,
}

impl Seen {
    /// What this judgement tells. Nothing but a PASS holds: what a person would have to settle is
    /// not settled while the agent still works.
    #[must_use]
    pub fn of(judgement: &Judgement) -> Self {
        let mut checks = judgement.checks.iter();
        match judgement.verdict {
            Verdict::Fail | Verdict::Review => Self::Not,
            Verdict::Pass if checks.any(|it| it.outcome == CheckOutcome::NotRun) => Self::SoFar,
            Verdict::Pass => Self::All,
        }
    }
}

/// What the rounds look at.
pub trait Sight {
    fn look(&mut self, most: Cost) -> Seen;

    fn state(&mut self) -> Option<Digest>;

    /// The time since some moment.
    fn now(&mut self) -> Duration;
}

/// The rounds in which a quest's checks are looked at while an agent works.
#[derive(Debug)]
pub struct Rounds {
    cheap: Pace,
    dear: Pace,
    dear_from: Duration,
    /// What was written when it was last said that the checks hold, while they still do.
    said: Said,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// Of nothing that still holds.
    Nothing,
    Of(Option<Digest>),
}

impl Rounds {
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            cheap: Pace::new(interval),
            dear: Pace::new(interval),
            dear_from: Duration::ZERO,
            said: Said::Nothing,
        }
    }

    /// Looks once, and tells whether the checks hold as they have not before.
    ///
    /// Dear checks are looked at when the cheap ones hold, and at a slower pace. Of one state it is
    /// said once: a gate that does not agree is not asked over and over.
    pub fn round(&mut self, sight: &mut impl Sight) -> bool {
        let began = sight.now();
        // What is written after this counts as another state, though it may have been seen.
        let state = sight.state();
        let seen = sight.look(CHEAP);
        let now = sight.now();
        self.cheap.note(now.saturating_sub(began));
        let known = self.said == Said::Of(state);
        let holds = match seen {
            Seen::Not => false,
            Seen::All => true,
            Seen::SoFar if (known && state.is_some()) || now < self.dear_from => return false,
            Seen::SoFar => self.look_deep(sight),
        };
        self.said = if holds {
            Said::Of(state)
        } else {
            Said::Nothing
        };
        holds && !known
    }

    /// The pause until the next round.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.cheap.pause()
    }

    fn look_deep(&mut self, sight: &mut impl Sight) -> bool {
        let began = sight.now();
        let seen = sight.look(Cost::Heavy);
        let now = sight.now();
        self.dear.note(now.saturating_sub(began));
        self.dear_from = now.saturating_add(self.dear.pause());
        seen == Seen::All
    }
}

#[cfg(test)]
mod tests {
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
        now: u64,
        cheap: Seen,
        dear: Seen,
        dear_takes: u64,
        state: Option<&'static str>,
        deep: Vec<u64>,
    }

    impl Sight for Fake {
        fn look(&mut self, most: Cost) -> Seen {
            if most == CHEAP {
                return self.cheap;
            }
            self.deep.push(self.now);
            self.now += self.dear_takes;
            self.dear
        }

        fn state(&mut self) -> Option<Digest> {
            self.state.map(|text| Digest::of(text.as_bytes()))
        }

        fn now(&mut self) -> Duration {
            Duration::from_millis(self.now)
        }
    }

    fn fake(cheap: Seen, dear: Seen) -> Fake {
        Fake {
            now: 0,
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
            said.push(rounds.round(world));
            world.now += u64::try_from(rounds.pause().as_millis()).unwrap();
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
