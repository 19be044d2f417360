//! Detects agents that go round in circles, and agents that are no longer alive.
//!
//! Four detectors look at the last steps of one agent: its answers, its calls of comail and its calls
//! of other tools. Each counts one thing in the same window; a
//! count at the first level is a warning in the next prompt, at the second it ends the work on the
//! quest. They read no clock: an agent that is slow is not stopped.

use std::collections::{HashSet, VecDeque};
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::base::Digest;
use crate::base::text::small;
use crate::session::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    Repeat,
    PingPong,
    Poll,
    Breaker,
}

impl Detector {
    pub const ALL: [Self; 4] = [Self::Repeat, Self::PingPong, Self::Poll, Self::Breaker];

    pub fn reason(self) -> Reason {
        match self {
            Self::Repeat => Reason::Repeat,
            Self::PingPong => Reason::PingPong,
            Self::Poll => Reason::Poll,
            Self::Breaker => Reason::Breaker,
        }
    }
}

impl FromStr for Detector {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|detector| detector.reason().label() == name)
            .ok_or("expected one of repeat, ping-pong, poll, breaker")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Warn,
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub window: u32,
    pub warn: u32,
    pub stop: u32,
    pub breaker: u32,
    off: [bool; Detector::ALL.len()],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: 30,
            warn: 10,
            stop: 20,
            breaker: 30,
            off: [false; Detector::ALL.len()],
        }
    }
}

impl Settings {
    pub fn without(mut self, detector: Detector) -> Self {
        self.off[detector as usize] = true;
        self
    }

    fn level(&self, detector: Detector, count: u32) -> Option<Level> {
        let (warn, stop) = match detector {
            Detector::Breaker => (self.breaker, self.breaker),
            Detector::Repeat | Detector::PingPong | Detector::Poll => (self.warn, self.stop),
        };
        if count >= stop {
            Some(Level::Stop)
        } else {
            (count >= warn).then_some(Level::Warn)
        }
    }
}

/// The steps that go in circles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    Answers,
    /// Calls of tools other than comail.
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    pub detector: Detector,
    pub circle: Circle,
    pub level: Level,
    pub count: u32,
    pub settings: Settings,
}

impl Alarm {
    /// The reason for ending the work on the quest; none for a warning.
    pub fn reason(&self) -> Option<Reason> {
        (self.level == Level::Stop).then(|| self.detector.reason())
    }

    pub fn text(&self) -> String {
        let (count, window) = (self.count, self.settings.window);
        let counted = match (self.detector, self.circle) {
            (Detector::Repeat, Circle::Answers) => {
                format!("{count} of the last {window} calls submitted the same answer")
            }
            (Detector::Repeat, Circle::Calls) => format!(
                "{count} of the last {window} calls gave the same tool the same arguments, \
                 although nothing had changed"
            ),
            (Detector::PingPong, Circle::Answers) => {
                format!("the last {count} answers alternated between the same two")
            }
            (Detector::PingPong, Circle::Calls) => {
                format!("the last {count} calls of tools alternated between the same two")
            }
            (Detector::Poll, _) => format!(
                "{count} of the last {window} calls were `next` or `status`, although nothing had \
                 changed"
            ),
            (Detector::Breaker, _) => format!("the last {count} calls brought nothing new"),
        };
        match self.level {
            Level::Warn => {
                let stop = self.settings.stop;
                format!("{counted}; at {stop} the work on this quest ends")
            }
            Level::Stop => counted,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// A new process began, which has to look at everything again.
    Began,
    /// It called a tool other than comail.
    Tool(Digest),
    /// It called `comail next` or `comail status`.
    Poll,
    /// It submitted an answer that was not judged.
    Refused(Digest),
    Judged(Digest),
    Progress,
}

/// The digest of a tool call; none for a call of comail, which comail records itself.
pub fn tool_call(tool: &str, arguments: &Value) -> Option<Digest> {
    // Serialized with sorted keys, so the order of keys does not matter.
    // The zero keeps the parts apart: no tool's name contains one.
    let text = format!("{tool}\0{arguments}");
    (!calls_comail(&text)).then(|| Digest::of(text.as_bytes()))
}

// A text that only mentions such a call matches too, and is then not counted. A parser of shell
// lines would be much longer and miss other calls.
fn calls_comail(call: &str) -> bool {
    static CALL: LazyLock<Option<Regex>> =
        // The tools of the MCP server have names such as `mcp__comail__next`.
        LazyLock::new(|| {
            Regex::new(r"(?:\b|_)comail(?:\b|_+)(?:[^;&|\n]*?(?:\b|_))?(?:next|status|submit)\b")
                .ok()
        });
    CALL.as_ref().is_some_and(|known| known.is_match(call))
}

/// A call of comail by the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelfCall {
    Next,
    Status,
    /// A submission that was refused, or that repeated an earlier call by its idempotency key: the
    /// digest of its fields, or of its flags where these could not be read.
    Refused(Digest),
    /// A submission that was judged, which the ledger records.
    Judged,
    /// A submission that comail could not judge, for lack of a network or of what the gate runs, and why.
    Unjudged(String),
}

/// The digest of a command line of `submit`, independent of the order of its flags; none for another
/// command.
pub fn submission_of_words<S: AsRef<str>>(words: &[S]) -> Option<Digest> {
    const WITH_VALUE: [&str; 2] = ["--session", "--color"];
    let mut words = words.iter().map(AsRef::as_ref);
    loop {
        let word = words.next()?;
        if WITH_VALUE.contains(&word) {
            words.next()?;
        } else if !word.starts_with('-') {
            return (word == "submit").then(|| digest_of_flags(words));
        }
    }
}

fn digest_of_flags<'a>(words: impl Iterator<Item = &'a str>) -> Digest {
    let mut words = words.peekable();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            flags.push(["", word]);
        } else if let Some((flag, value)) = word.split_once('=') {
            flags.push([flag, value]);
        } else {
            let value = words.next_if(|next| !next.starts_with("--"));
            flags.push([word, value.unwrap_or_default()]);
        }
    }
    flags.sort_unstable();
    Digest::of(serde_json::json!(flags).to_string().as_bytes())
}

/// A step in the window. The same answer counts as another step after the tree has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Judged(Digest, u32),
    Refused(Digest),
    Tool(Digest),
    Poll,
    Other,
}

impl Step {
    fn circle(self) -> Option<Circle> {
        match self {
            Self::Judged(..) | Self::Refused(_) => Some(Circle::Answers),
            Self::Tool(_) => Some(Circle::Calls),
            Self::Poll | Self::Other => None,
        }
    }
}

#[derive(Debug)]
pub struct Detectors {
    settings: Settings,
    window: VecDeque<Step>,
    calls: Seen,
    answers: Seen,
    /// How many steps in a row brought nothing new.
    idle: u32,
    changes: u32,
    raised: [Option<Level>; Detector::ALL.len()],
}

impl Detectors {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            window: VecDeque::new(),
            calls: Seen::default(),
            answers: Seen::default(),
            idle: 0,
            changes: 0,
            raised: [None; Detector::ALL.len()],
        }
    }

    /// Returns the most serious new alarm. An alarm is repeated only after the count has fallen to
    /// half of the warning level.
    pub fn observe(&mut self, observed: Observed) -> Option<Alarm> {
        match observed {
            Observed::Began => {
                self.window.clear();
                self.calls = Seen::default();
            }
            Observed::Tool(digest) => {
                let is_new = self.calls.is_new(digest);
                self.step(Step::Tool(digest), is_new);
            }
            Observed::Poll => self.step(Step::Poll, false),
            Observed::Refused(digest) => {
                let is_new = self.calls.is_new(digest);
                self.step(Step::Refused(digest), is_new);
            }
            Observed::Judged(digest) => {
                let at = self.changes.to_le_bytes();
                let parts = [digest.as_bytes().as_slice(), &at];
                let is_new = self.answers.is_new(Digest::of_parts(parts));
                self.forgive_calls();
                self.step(Step::Judged(digest, self.changes), is_new);
            }
            Observed::Progress => {
                self.changes = self.changes.wrapping_add(1);
                self.forgive_calls();
                self.idle = 0;
            }
        }
        self.alarm()
    }

    fn step(&mut self, step: Step, is_new: bool) {
        self.window.push_back(step);
        while self.window.len() > self.settings.window as usize {
            self.window.pop_front();
        }
        self.idle = if is_new {
            0
        } else {
            self.idle.saturating_add(1)
        };
    }

    // After a change there is a reason to poll and to look at the same things again.
    fn forgive_calls(&mut self) {
        for step in &mut self.window {
            if matches!(step, Step::Poll | Step::Tool(_)) {
                *step = Step::Other;
            }
        }
    }

    fn alarm(&mut self) -> Option<Alarm> {
        let mut gravest: Option<Alarm> = None;
        for detector in Detector::ALL {
            let (count, circle) = self.count(detector);
            let raised = &mut self.raised[detector as usize];
            if count <= self.settings.warn / 2 {
                *raised = None;
            }
            let level = self.settings.level(detector, count);
            if let Some(level) = level
                && Some(level) > *raised
                && !self.settings.off[detector as usize]
                && gravest.is_none_or(|other| other.level < level)
            {
                gravest = Some(Alarm {
                    detector,
                    circle,
                    level,
                    count,
                    settings: self.settings,
                });
            }
        }
        if let Some(alarm) = gravest {
            self.raised[alarm.detector as usize] = Some(alarm.level);
        }
        gravest
    }

    /// The larger count of the two circles.
    fn count(&self, detector: Detector) -> (u32, Circle) {
        let of_answers = self.count_in(detector, Circle::Answers);
        let of_calls = self.count_in(detector, Circle::Calls);
        if of_calls > of_answers {
            (of_calls, Circle::Calls)
        } else {
            (of_answers, Circle::Answers)
        }
    }

    fn count_in(&self, detector: Detector, circle: Circle) -> u32 {
        let steps = self.window.iter().rev();
        let mut steps = steps.filter(|step| step.circle() == Some(circle));
        let count = match detector {
            Detector::Repeat => {
                let steps: Vec<_> = steps.collect();
                let same = |one: &&Step| steps.iter().filter(|other| *other == one).count();
                steps.iter().map(same).max().unwrap_or(0)
            }
            Detector::PingPong => match (steps.next(), steps.next()) {
                (Some(last), Some(before)) if last != before => {
                    let back = [last, before].into_iter().cycle();
                    let more = steps.zip(back).take_while(|(one, due)| one == due);
                    // An alternation returns to both of them, not only to one.
                    match more.count() {
                        0 | 1 => 0,
                        more => more + 2,
                    }
                }
                _ => 0,
            },
            Detector::Poll => {
                let polls = self.window.iter().filter(|step| **step == Step::Poll);
                polls.count()
            }
            Detector::Breaker => return self.idle,
        };
        small(count)
    }
}

// Bounds the memory of a long run. When the set is full, it is cleared, and everything is new again.
const MAX_SEEN: usize = 4096;

#[derive(Debug, Default)]
struct Seen(HashSet<Digest>);

impl Seen {
    fn is_new(&mut self, digest: Digest) -> bool {
        if self.0.len() == MAX_SEEN && !self.0.contains(&digest) {
            self.0.clear();
        }
        self.0.insert(digest)
    }
}

/// Signs that an agent is alive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VitalSigns {
    /// The processor time of the agent and its descendants.
    pub cpu: Duration,
    pub printed: u64,
}

/// Notices when an agent neither computes nor prints for too long.
#[derive(Debug, Clone, Copy)]
pub struct LivenessMonitor {
    last: (Duration, VitalSigns),
    silent: Duration,
    patience: Duration,
    longest_step: Duration,
}

impl LivenessMonitor {
    pub fn new(interval: Duration, patience: Duration) -> Self {
        Self {
            last: (Duration::ZERO, VitalSigns::default()),
            silent: Duration::ZERO,
            patience,
            longest_step: interval.saturating_mul(10),
        }
    }

    /// Whether the agent has stalled, by its signs of life `at` this time since its start.
    pub fn is_stalled(&mut self, at: Duration, now: VitalSigns) -> bool {
        let (last_at, last) = self.last;
        // A much longer step is time in which the machine or this program was suspended, and
        // nothing could happen.
        let step = at.saturating_sub(last_at).min(self.longest_step);
        let works = now.cpu > last.cpu || now.printed > last.printed;
        self.silent = if works {
            Duration::ZERO
        } else {
            self.silent.saturating_add(step)
        };
        self.last = (at, now);
        self.silent > self.patience
    }
}

#[cfg(test)]
mod tests;
