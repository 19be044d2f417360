//! Detects agents that go round in circles, and agents that are no longer alive.
//!
//! Four detectors look at the last calls of one agent. A warning is a fact for the next prompt; a
//! stop ends the work on the quest. They read no clock: an agent that is slow is not stopped.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::base::Digest;

use crate::session::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detector {
    Repeat,
    PingPong,
    Poll,
    Breaker,
}

impl Detector {
    pub const ALL: [Self; 4] = [Self::Repeat, Self::PingPong, Self::Poll, Self::Breaker];

    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Self::Repeat => Reason::Repeat,
            Self::PingPong => Reason::PingPong,
            Self::Poll => Reason::Poll,
            Self::Breaker => Reason::Breaker,
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.reason().label()
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Warn,
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    pub detector: Detector,
    pub level: Level,
    pub count: u32,
    pub settings: Settings,
}

impl Alarm {
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        (self.level == Level::Stop).then(|| self.detector.reason())
    }

    #[must_use]
    pub fn text(&self) -> String {
        let (count, settings) = (self.count, &self.settings);
        let window = settings.window;
        let counted = match self.detector {
            Detector::Repeat => {
                format!("{count} of the last {window} calls submitted the same answer")
            }
            Detector::PingPong => {
                format!("the last {count} answers alternated between the same two")
            }
            Detector::Poll => format!(
                "{count} of the last {window} calls were `next` or `status`, although nothing had \
                 changed"
            ),
            Detector::Breaker => format!("the last {count} calls brought nothing new"),
        };
        match self.level {
            Level::Warn => format!(
                "{counted}; at {} the work on this quest ends",
                settings.stop
            ),
            Level::Stop => counted,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    pub digest: Digest,
    pub own: Option<SelfCall>,
}

impl Call {
    /// The call of a tool; none if it calls comail, which records such calls itself.
    #[must_use]
    pub fn of_tool(tool: &str, arguments: &Value) -> Option<Self> {
        // The keys of an object are sorted, so their order does not matter.
        let text = arguments.to_string();
        (!calls_comail(&text)).then(|| Self::new(tool, &Digest::of(text.as_bytes()), None))
    }

    /// A call of comail that comail has recorded.
    #[must_use]
    pub fn noted(own: SelfCall) -> Self {
        let arguments = match own {
            SelfCall::Next => Digest::of(b"next"),
            SelfCall::Status => Digest::of(b"status"),
            SelfCall::Submit(digest) => digest,
        };
        Self::new("comail", &arguments, Some(own))
    }

    fn new(tool: &str, arguments: &Digest, own: Option<SelfCall>) -> Self {
        // The zero keeps name and arguments apart: no tool's name contains one.
        let parts = [tool.as_bytes(), &[0], arguments.as_bytes()];
        Self {
            digest: Digest::of_parts(parts),
            own,
        }
    }
}

// A text that only mentions such a call is taken for one too. That costs a call that is not
// counted, where a reader of shell lines would cost more and miss as many.
fn calls_comail(arguments: &str) -> bool {
    static CALL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bcomail\b[^;&|\n]*?\b(?:next|status|submit)\b").ok());
    CALL.as_ref().is_some_and(|call| call.is_match(arguments))
}

/// A call of comail by the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelfCall {
    Next,
    Status,
    /// The digest of the flags with their values, whatever their order.
    Submit(Digest),
}

const WITH_VALUE: [&str; 2] = ["--session", "--color"];

impl SelfCall {
    #[must_use]
    pub fn of_words<S: AsRef<str>>(words: &[S]) -> Option<Self> {
        let mut words = words.iter().map(AsRef::as_ref);
        let command = loop {
            let word = words.next()?;
            if WITH_VALUE.contains(&word) {
                words.next()?;
            } else if !word.starts_with('-') {
                break word;
            }
        };
        match command {
            "next" => Some(Self::Next),
            "status" => Some(Self::Status),
            "submit" => Some(Self::Submit(digest_of_flags(words))),
            _ => None,
        }
    }
}

fn digest_of_flags<'a>(words: impl Iterator<Item = &'a str>) -> Digest {
    let mut words = words.peekable();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        if let Some((flag, value)) = word.split_once('=')
            && flag.starts_with("--")
        {
            flags.push((flag, value));
        } else if word.starts_with("--") {
            let value = words.next_if(|next| !next.starts_with("--"));
            flags.push((word, value.unwrap_or_default()));
        } else {
            flags.push(("", word));
        }
    }
    flags.sort_unstable();
    let parts: Vec<_> = flags
        .iter()
        .flat_map(|(flag, value)| [*flag, *value])
        .collect();
    Digest::of(serde_json::json!(parts).to_string().as_bytes())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    Began,
    // Calls of tools are in the event stream; calls of comail are what comail records.
    Call(Call),
    Submitted(Digest),
    Progress,
    Settled,
}

#[derive(Debug)]
pub struct Detectors {
    settings: Settings,
    window: Window,
    calls: Seen,
    answers: Seen,
    idle: u32,
    changes: u32,
    said: [Option<Level>; Detector::ALL.len()],
}

impl Detectors {
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            window: Window::new(settings.window),
            calls: Seen::default(),
            answers: Seen::default(),
            idle: 0,
            changes: 0,
            said: [None; Detector::ALL.len()],
        }
    }

    /// Returns the most serious new alarm. An alarm repeats only after the count has fallen to
    /// half of the warning level.
    pub fn observe(&mut self, observed: Observed) -> Option<Alarm> {
        match observed {
            Observed::Began => {
                self.window.clear();
                // Who begins anew has to look at everything anew.
                self.calls.clear();
            }
            Observed::Call(call) => self.call(&call),
            Observed::Submitted(digest) => self.judged(digest),
            Observed::Progress => {
                self.changes = self.changes.wrapping_add(1);
                self.window.changed();
                self.idle = 0;
            }
            Observed::Settled => *self = Self::new(self.settings),
        }
        self.alarm()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        let nothing_seen = self.calls.is_empty() && self.answers.is_empty();
        self.window.is_empty() && nothing_seen && self.idle == 0
    }

    fn call(&mut self, call: &Call) {
        match call.own {
            Some(SelfCall::Next | SelfCall::Status) => {
                self.window.poll();
                self.brought(false);
            }
            Some(SelfCall::Submit(digest)) => {
                let is_new = self.calls.is_new(digest);
                if self.window.submits(digest) {
                    self.brought(is_new);
                }
            }
            None => {
                self.window.other();
                let is_new = self.calls.is_new(call.digest);
                self.brought(is_new);
            }
        }
    }

    fn judged(&mut self, digest: Digest) {
        let at = self.changes.to_le_bytes();
        let is_new = self
            .answers
            .is_new(Digest::of_parts([digest.as_bytes().as_slice(), &at]));
        let is_first_told = self.window.judged(Answer::Judged(digest, self.changes));
        self.window.changed();
        if is_new || is_first_told {
            self.brought(is_new);
        }
    }

    fn brought(&mut self, something_new: bool) {
        self.idle = if something_new {
            0
        } else {
            self.idle.saturating_add(1)
        };
    }

    fn counted(&self, detector: Detector) -> u32 {
        match detector {
            Detector::Repeat => self.window.repeats(),
            Detector::PingPong => self.window.swings(),
            Detector::Poll => self.window.polls(),
            Detector::Breaker => self.idle,
        }
    }

    fn level(&self, detector: Detector, count: u32) -> Option<Level> {
        let settings = &self.settings;
        let (warn, stop) = match detector {
            Detector::Breaker => (settings.breaker, settings.breaker),
            Detector::Repeat | Detector::PingPong | Detector::Poll => {
                (settings.warn, settings.stop)
            }
        };
        if count >= stop {
            Some(Level::Stop)
        } else if count >= warn {
            Some(Level::Warn)
        } else {
            None
        }
    }

    fn alarm(&mut self) -> Option<Alarm> {
        let mut gravest: Option<Alarm> = None;
        for detector in Detector::ALL {
            let count = self.counted(detector);
            if count <= self.settings.warn / 2 {
                self.said[detector as usize] = None;
            }
            let level = self.level(detector, count);
            let is_told = level <= self.said[detector as usize];
            if let Some(level) = level
                && !is_told
                && self.settings.looks(detector)
                && gravest.is_none_or(|other| other.level < level)
            {
                gravest = Some(Alarm {
                    detector,
                    level,
                    count,
                    settings: self.settings,
                });
            }
        }
        if let Some(alarm) = gravest {
            self.said[alarm.detector as usize] = Some(alarm.level);
        }
        gravest
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VitalSigns {
    pub at: Duration,
    pub cpu: Duration,
    pub logged: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Well,
    Stalled,
}

#[derive(Debug, Clone, Copy)]
pub struct LivenessMonitor {
    last: VitalSigns,
    silent: Duration,
    awake: Duration,
    patience: Duration,
    longest_step: Duration,
}

impl LivenessMonitor {
    #[must_use]
    pub fn new(first: VitalSigns, interval: Duration, patience: Duration) -> Self {
        Self {
            last: first,
            silent: Duration::ZERO,
            awake: Duration::ZERO,
            patience,
            longest_step: interval.saturating_mul(10),
        }
    }

    pub fn see(&mut self, now: VitalSigns) -> Health {
        let step = now.at.saturating_sub(self.last.at);
        // What took much longer than the next look was due is time in which the machine, or this
        // program, was suspended: nobody could do anything.
        let step = step.min(self.longest_step);
        let works = now.cpu > self.last.cpu || now.logged > self.last.logged;
        self.awake = self.awake.saturating_add(step);
        self.silent = if works {
            Duration::ZERO
        } else {
            self.silent.saturating_add(step)
        };
        self.last = now;
        if self.silent > self.patience {
            Health::Stalled
        } else {
            Health::Well
        }
    }

    #[must_use]
    pub fn awake(&self) -> Duration {
        self.awake
    }
}

// Bounds the memory of a long run; older entries count as new again.
const MAX_SEEN: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Seen {
    known: HashSet<Digest>,
    in_order: VecDeque<Digest>,
}

impl Seen {
    pub(super) fn is_new(&mut self, digest: Digest) -> bool {
        if !self.known.insert(digest) {
            return false;
        }
        self.in_order.push_back(digest);
        if self.in_order.len() > MAX_SEEN
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.in_order.clear();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub window: u32,
    pub warn: u32,
    pub stop: u32,
    pub breaker: u32,
    off: [bool; Detector::ALL.len()],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of repeat, ping-pong, poll, breaker")]
pub struct BadDetector;

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
    #[must_use]
    pub fn without(mut self, detector: Detector) -> Self {
        self.off[detector as usize] = true;
        self
    }

    #[must_use]
    pub fn looks(&self, detector: Detector) -> bool {
        !self.off[detector as usize]
    }
}

impl FromStr for Detector {
    type Err = BadDetector;

    fn from_str(name: &str) -> Result<Self, BadDetector> {
        let mut all = Self::ALL.into_iter();
        all.find(|detector| detector.name() == name)
            .ok_or(BadDetector)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Judged(Digest, u32),
    Refused(Digest),
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Answer { answer: Answer, called: bool },
    Poll,
    Other,
}

#[derive(Debug)]
pub(super) struct Window {
    steps: VecDeque<Step>,
    size: usize,
}

impl Window {
    pub(super) fn new(size: u32) -> Self {
        Self {
            steps: VecDeque::new(),
            size: usize::try_from(size).unwrap_or(usize::MAX),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
    }

    fn push(&mut self, step: Step) {
        self.steps.push_back(step);
        while self.steps.len() > self.size {
            self.steps.pop_front();
        }
    }

    pub(super) fn other(&mut self) {
        self.push(Step::Other);
    }

    pub(super) fn poll(&mut self) {
        self.push(Step::Poll);
    }

    pub(super) fn submits(&mut self, called: Digest) -> bool {
        let told = self.steps.iter_mut().find_map(|step| match step {
            Step::Answer { called, .. } if !*called => Some(called),
            _ => None,
        });
        if let Some(seen) = told {
            *seen = true;
            return false;
        }
        self.push(Step::Answer {
            answer: Answer::Refused(called),
            called: true,
        });
        true
    }

    pub(super) fn judged(&mut self, judged: Answer) -> bool {
        let call = self.steps.iter_mut().rev().find_map(|step| match step {
            Step::Answer { answer, .. } if matches!(answer, Answer::Refused(_)) => Some(answer),
            _ => None,
        });
        if let Some(answer) = call {
            *answer = judged;
            return false;
        }
        self.push(Step::Answer {
            answer: judged,
            called: false,
        });
        true
    }

    pub(super) fn changed(&mut self) {
        for step in &mut self.steps {
            if matches!(step, Step::Poll) {
                *step = Step::Other;
            }
        }
    }

    fn answers(&self) -> impl Iterator<Item = Answer> {
        self.steps.iter().rev().filter_map(|step| match step {
            Step::Answer { answer, .. } => Some(*answer),
            Step::Poll | Step::Other => None,
        })
    }

    pub(super) fn repeats(&self) -> u32 {
        let of = |one: Answer| self.answers().filter(|other| *other == one).count();
        count(self.answers().map(of).max().unwrap_or(0))
    }

    // 0 unless the last answers return to both values at least once.
    pub(super) fn swings(&self) -> u32 {
        let mut answers = self.answers();
        let (Some(last), Some(before)) = (answers.next(), answers.next()) else {
            return 0;
        };
        if last == before {
            return 0;
        }
        let back = [last, before].into_iter().cycle();
        let more = answers.zip(back).take_while(|(one, due)| one == due);
        match more.count() {
            0 | 1 => 0,
            more => count(more + 2),
        }
    }

    pub(super) fn polls(&self) -> u32 {
        let polls = self.steps.iter().filter(|step| matches!(step, Step::Poll));
        count(polls.count())
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
