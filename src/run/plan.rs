//! What a run is to do, what it reports, and what can go wrong.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::judge::JudgeError;
use crate::quest::{Key, QuestId, Verdict};
use crate::run::agent::{AgentError, BadCommandLine, ProviderError};
use crate::run::agents::Agents;
use crate::run::detect;
use crate::run::limits::{Bill, Limits, Used};
use crate::session::{
    AgentStart, BadWorker, Began, DrivenAttempt, DrivenQuest, Lease, Reason, RunId, SessionError,
    Spent, State, Tally, Totals,
};

#[derive(Debug)]
pub struct Plan {
    pub run: RunId,
    pub agents: Agents,
    pub workers: u32,
    pub limits: Limits,
    pub detectors: detect::Settings,
    pub pace: Pace,
    pub fruitless: FruitlessRules,
    pub lease: Option<Lease>,
    pub dir: PathBuf,
    pub max_log_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Pace {
    pub poll: Duration,
    pub grace: Duration,
    pub last_call: Duration,
}

/// The pause after a start without a submission, and how many such starts in a row end the run.
#[derive(Debug, Clone, Copy)]
pub struct FruitlessRules {
    pub first: Duration,
    pub longest: Duration,
    pub in_a_row: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(100),
            grace: Duration::from_secs(5),
            last_call: Duration::from_mins(1),
        }
    }
}

impl Default for FruitlessRules {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_mins(1),
            in_a_row: 3,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Drive(#[from] JudgeError),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    CommandLine(#[from] BadCommandLine),
    #[error("cannot let an agent reach the judge")]
    Judge(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot write a prompt for the agent")]
    Prompt(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot {what} {}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot name another start of the agent")]
    Worker(#[from] BadWorker),
    #[error("a worker thread of comail ended early")]
    Deserted,
}

impl From<SessionError> for RunError {
    fn from(error: SessionError) -> Self {
        Self::Drive(error.into())
    }
}

impl RunError {
    pub fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum RunEvent {
    Began {
        run: RunId,
        #[serde(flatten)]
        began: Began,
        /// Whether Landlock confines the agents.
        confined: bool,
        /// What confines the agents, or why nothing does.
        confinement: String,
    },
    Start {
        key: Key,
        #[serde(flatten)]
        start: AgentStart,
    },
    Attempt {
        key: Key,
        /// Whether it was the last call after a budget had ended.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last_call: bool,
        /// What the gate said of the last answer of this start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<JudgedAnswer>,
        /// Why the output of this start could not be judged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unjudged: Option<String>,
        #[serde(flatten)]
        attempt: DrivenAttempt,
    },
    Quest {
        key: Key,
        state: State,
        #[serde(flatten)]
        quest: DrivenQuest,
    },
    Ended {
        run: RunId,
        reason: Reason,
        /// How many quests are in which state.
        tally: Tally,
    },
    /// A note for people, on standard error.
    #[schemars(skip)]
    Note { text: String },
    /// What a person can do, on standard error.
    #[schemars(skip)]
    Hint { text: String },
    /// What an agent does now, for a person who watches.
    #[serde(skip)]
    Live {
        /// Which agent, from 0.
        agent: usize,
        live: Live,
    },
    /// What all quests come to now, for a person who watches.
    #[serde(skip)]
    Progress(Box<Totals>),
}

impl RunEvent {
    /// Whether it is only for a person who watches.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. } | Self::Progress(_))
    }
}

/// What the gate said of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgedAnswer {
    pub verdict: Verdict,
    /// The rules that fired.
    pub rules: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Live {
    Started {
        quest: QuestId,
        key: Key,
        start: u32,
    },
    /// The last words of the agent, or its last tool call.
    Does(String),
    Used(Spent),
    /// It works on no quest.
    Idle,
}

const MAX_WITHOUT_NETWORK: u32 = 3;

#[derive(Debug)]
pub struct SharedRunState {
    pub plan: Plan,
    began: Instant,
    counters: Mutex<Counters>,
    changed: Condvar,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
pub struct Counters {
    /// The names given to starts so far.
    pub names: u32,
    pub starts: u32,
    pub quests: u32,
    pub driving: u32,
    pub given_up: BTreeSet<QuestId>,
    /// Why quests were given up, or why no other quest was begun.
    pub reasons: BTreeSet<Reason>,
    pub stop: Option<Reason>,
    /// Whether a note has named the holder that the run waits for.
    pub waits: bool,
    /// How many submissions in a row could not be judged for lack of a network.
    without_network: u32,
    bill: Bill,
    running: Vec<Bill>,
    fruitless: FruitlessStarts,
}

impl SharedRunState {
    pub fn new(plan: Plan) -> Self {
        let counters = Counters {
            running: vec![Bill::default(); plan.workers as usize],
            ..Counters::default()
        };
        Self {
            plan,
            began: Instant::now(),
            counters: Mutex::new(counters),
            changed: Condvar::new(),
            turn: Mutex::new(()),
        }
    }

    /// Lets one worker at a time choose a quest, because the number of quests is checked first.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn release(&self, quest: QuestId, reason: Reason) {
        let mut counters = self.counters();
        counters.driving = counters.driving.saturating_sub(1);
        if reason != Reason::Settled {
            counters.given_up.insert(quest);
            counters.reasons.insert(reason);
        }
        self.changed.notify_all();
    }

    /// Sets the usage so far of the start that a worker watches.
    pub fn is_using(&self, worker: usize, bill: Bill) {
        self.counters().running[worker] = bill;
    }

    pub fn has_used(&self, worker: usize, spent: &Spent) {
        let mut counters = self.counters();
        counters.bill = counters.bill.and(self.plan.limits.bill(spent));
        counters.running[worker] = Bill::default();
    }

    pub fn used(&self) -> Used {
        let counters = self.counters();
        let running = counters.running.iter();
        Used {
            starts: counters.starts,
            quests: counters.quests,
            bill: running.fold(counters.bill, |sum, bill| sum.and(*bill)),
            time: self.began.elapsed(),
        }
    }

    pub fn stop(&self, reason: Reason) {
        let mut counters = self.counters();
        counters.stop = counters.stop.into_iter().chain([reason]).min();
        self.changed.notify_all();
    }

    pub fn stopping(&self) -> Option<Reason> {
        self.counters().stop
    }

    /// Counts a start. Returns true and ends the run if too many in a row had no submission.
    pub fn ended(&self, brought: Brought) -> bool {
        let rules = self.plan.fruitless;
        let too_many = self
            .counters()
            .fruitless
            .ended(brought, Instant::now(), &rules);
        if too_many {
            self.stop(Reason::FruitlessStarts);
        }
        too_many
    }

    pub fn has_network(&self) {
        self.counters().without_network = 0;
    }

    /// Counts a submission that could not be judged for lack of a network. Returns true for the last
    /// one that is allowed.
    pub fn lacks_network(&self) -> bool {
        let mut counters = self.counters();
        counters.without_network = counters.without_network.saturating_add(1);
        counters.without_network == MAX_WITHOUT_NETWORK
    }

    pub fn wait_after_fruitless(&self) {
        let mut counters = self.counters();
        loop {
            let left = counters.fruitless.left(Instant::now());
            if left.is_zero() || counters.stop.is_some() {
                return;
            }
            let waited = self.changed.wait_timeout(counters, left);
            counters = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn wait(&self, most: Duration) {
        let counters = self.counters();
        if counters.stop.is_none() {
            drop(self.changed.wait_timeout(counters, most));
        }
    }
}

/// The outcome of a start of the agent for its quest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brought {
    /// A submission that the ledger records, right or wrong.
    Submission,
    Nothing(WhyNothing),
}

/// Why a start brought no submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNothing {
    /// The agent ended, crashed, stalled or went in circles, whatever its exit status.
    Agent,
    /// The provider of its model was overloaded or limited its rate; later it may not.
    ProviderBusy,
    /// A budget, a person or the session ended it.
    Stopped,
    /// Another answer was accepted meanwhile, with which its own may not merge.
    Overtaken,
}

impl WhyNothing {
    /// The cause; `halt` is the reason if comail stopped the agent.
    pub fn of(halt: Option<Reason>, provider: Option<ProviderError>) -> Self {
        match (halt, provider) {
            (None, Some(ProviderError::Busy)) => Self::ProviderBusy,
            // The agent itself caused these.
            (
                None
                | Some(
                    Reason::AgentFailed
                    | Reason::Stalled
                    | Reason::NotLoggedIn
                    | Reason::Repeat
                    | Reason::PingPong
                    | Reason::Poll
                    | Reason::Breaker,
                ),
                _,
            ) => Self::Agent,
            (Some(_), _) => Self::Stopped,
        }
    }
}

/// Counts the starts in a row without a submission, over all quests and workers. They usually share
/// one cause: a missing permission, a missing login, a wrong flag.
#[derive(Debug, Clone, Copy, Default)]
struct FruitlessStarts {
    in_a_row: u32,
    pauses: u32,
    until: Option<Instant>,
}

impl FruitlessStarts {
    /// Counts a start. Returns whether there were too many.
    fn ended(&mut self, brought: Brought, now: Instant, rules: &FruitlessRules) -> bool {
        let counts = match brought {
            Brought::Submission => {
                *self = Self::default();
                return false;
            }
            Brought::Nothing(WhyNothing::Stopped | WhyNothing::Overtaken) => return false,
            Brought::Nothing(WhyNothing::ProviderBusy) => false,
            Brought::Nothing(WhyNothing::Agent) => true,
        };
        let doubled = rules.first.saturating_mul(1 << self.pauses.min(16));
        self.until = Some(now + doubled.min(rules.longest));
        self.pauses = self.pauses.saturating_add(1);
        self.in_a_row = self.in_a_row.saturating_add(u32::from(counts));
        counts && self.in_a_row >= rules.in_a_row
    }

    fn left(&self, now: Instant) -> Duration {
        let until = self.until.unwrap_or(now);
        until.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: FruitlessRules = FruitlessRules {
        first: Duration::from_secs(1),
        longest: Duration::from_secs(3),
        in_a_row: 3,
    };

    const FRUITLESS: Brought = Brought::Nothing(WhyNothing::Agent);
    const BUSY: Brought = Brought::Nothing(WhyNothing::ProviderBusy);
    const STOPPED: Brought = Brought::Nothing(WhyNothing::Stopped);
    const OVERTAKEN: Brought = Brought::Nothing(WhyNothing::Overtaken);

    /// For each start, the seconds of the pause after it, and whether it ends the run.
    fn counted(starts: &[Brought]) -> Vec<(u64, bool)> {
        let now = Instant::now();
        let mut fruitless = FruitlessStarts::default();
        let counted = starts.iter().map(|brought| {
            let ends = fruitless.ended(*brought, now, &RULES);
            (fruitless.left(now).as_secs(), ends)
        });
        counted.collect()
    }

    #[test]
    fn the_third_fruitless_start_in_a_row_ends_the_run_after_doubling_pauses() {
        let expected = [(1, false), (2, false), (3, true)];
        assert_eq!(counted(&[FRUITLESS; 3]), expected);
    }

    #[test]
    fn a_submission_resets_the_count_and_the_pause() {
        let starts = [FRUITLESS, FRUITLESS, Brought::Submission, FRUITLESS];
        let expected = [(1, false), (2, false), (0, false), (1, false)];
        assert_eq!(counted(&starts), expected);
    }

    #[test]
    fn a_start_that_was_stopped_or_met_a_busy_provider_neither_counts_nor_resets() {
        let busy = counted(&[BUSY; 9]);
        assert_eq!(busy.last(), Some(&(3, false)));
        assert_eq!(counted(&[OVERTAKEN; 9]), [(0, false); 9]);
        let between = counted(&[FRUITLESS, STOPPED, FRUITLESS, BUSY, FRUITLESS]);
        let ends: Vec<bool> = between.iter().map(|(_, ends)| *ends).collect();
        assert_eq!(ends, [false, false, false, false, true]);
    }

    #[test]
    fn counts_starts_that_the_agent_ended_and_no_others() {
        for reason in Reason::ALL {
            let of_agent = matches!(
                reason,
                Reason::AgentFailed
                    | Reason::Stalled
                    | Reason::NotLoggedIn
                    | Reason::Repeat
                    | Reason::PingPong
                    | Reason::Poll
                    | Reason::Breaker
            );
            let why = WhyNothing::of(Some(reason), None);
            assert_eq!(why == WhyNothing::Agent, of_agent, "{reason}");
            assert_ne!(why, WhyNothing::ProviderBusy, "{reason}");
        }
        for (provider, why) in [
            (None, WhyNothing::Agent),
            (Some(ProviderError::NotLoggedIn), WhyNothing::Agent),
            (Some(ProviderError::Busy), WhyNothing::ProviderBusy),
        ] {
            assert_eq!(WhyNothing::of(None, provider), why);
        }
    }
}
