//! What an agent did since it was looked at last, in the order in which it did it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::calls::{Calls, Noted};
use super::course::Course;
use super::desk::Submitted;
use super::error::RunError;
use super::worker::RunWorker;
use crate::base::Digest;
use crate::judge::{Chamber, Pace};
use crate::run::agent::Stream;
use crate::run::detect::{Call, Observed};
use crate::run::limits::foremost;
use crate::session::{Event, Log, Reason, Session, SessionError, State, Store as _};

#[derive(Debug)]
pub struct Deeds {
    calls: Option<Calls>,
    teller: Teller,
    log: Log,
    tree: Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Teller {
    First,
    Notes,
    Events,
}

#[derive(Debug)]
struct Tree {
    known: Option<Digest>,
    pace: Pace,
    due: Instant,
}

type Judged = (Digest, Submitted);

impl Deeds {
    #[must_use]
    pub fn new(log: Log, poll: Duration) -> Self {
        Self {
            calls: None,
            teller: Teller::First,
            log,
            tree: Tree {
                known: None,
                pace: Pace::new(poll),
                due: Instant::now(),
            },
        }
    }

    pub fn begin(&mut self, calls: Calls, stream: Stream, chamber: &Chamber<'_>) {
        self.calls = Some(calls);
        self.teller = match stream {
            Stream::Plain => Teller::First,
            Stream::Events(_) => Teller::Events,
        };
        self.tree.known = chamber.written();
    }

    pub fn heeds_events(&mut self) -> bool {
        if self.teller == Teller::First {
            self.teller = Teller::Events;
        }
        self.teller == Teller::Events
    }

    fn noted(&mut self) -> Vec<Noted> {
        let noted = self.calls.as_mut().map_or(Vec::new(), Calls::since);
        if self.teller == Teller::Events {
            return Vec::new();
        }
        if !noted.is_empty() {
            self.teller = Teller::Notes;
        }
        noted
    }
}

impl Tree {
    fn has_changed(&mut self, chamber: &Chamber<'_>) -> bool {
        let begun = Instant::now();
        if self.known.is_none() || begun < self.due {
            return false;
        }
        let now = chamber.written();
        self.pace.note(begun.elapsed());
        self.due = Instant::now() + self.pace.pause();
        let changed = now.is_some() && now != self.known;
        self.known = now.or(self.known);
        changed
    }
}

impl RunWorker<'_> {
    pub(super) fn tidings(&mut self, course: &mut Course) -> Result<Option<Reason>, RunError> {
        // A call notes itself once it is over: what it came to is in the ledger before that.
        let noted = course.deeds.noted();
        let (mut judged, mut settled) = (VecDeque::new(), false);
        if self.tide.has_changed() {
            // What this worker has added itself, it has read.
            if !self.tide.is_at(self.session.ledger_bytes()) {
                self.read_on()?;
            }
            judged = self.judged(course)?.into();
            let standing = self.session.standing(course.hold.quest)?;
            settled = standing.is_some_and(|it| it.progress.state != State::Todo);
        }
        if noted.is_empty() && judged.is_empty() {
            return Ok(settled.then_some(Reason::Settled));
        }
        let mut reasons = Vec::new();
        if course.deeds.tree.has_changed(&self.chamber) {
            reasons.extend(course.observe(Observed::Progress));
        }
        for noted in noted {
            if noted.judged
                && let Some(judged) = judged.pop_front()
            {
                reasons.extend(course.submits(judged));
            }
            reasons.extend(course.observe(Observed::Call(Call::noted(noted.own))));
        }
        for judged in judged {
            reasons.extend(course.submits(judged));
        }
        Ok(if settled {
            Some(Reason::Settled)
        } else {
            foremost(reasons)
        })
    }

    // Takes the lock, because a line reaches the ledger before the index shows it.
    fn read_on(&mut self) -> Result<(), RunError> {
        let nothing = |_: &Session, _| Ok::<_, SessionError>(Vec::new());
        self.session
            .append_at(&mut self.now, &mut self.salts, nothing)?;
        Ok(())
    }

    fn judged(&mut self, course: &mut Course) -> Result<Vec<Judged>, RunError> {
        let (quest, mut seen) = (course.hold.quest, course.seen);
        let mut found = Vec::new();
        let read = course.deeds.log.read_on(&mut |entry| {
            if let Event::Attempt(attempt) = &entry.event
                && attempt.quest == quest
                && attempt.number > seen
            {
                seen = attempt.number;
                found.push((attempt.submitted, Submitted::of(attempt)));
            }
        });
        if read.is_err() {
            // Something was blotted out meanwhile, and what stands behind it lies elsewhere.
            course.deeds.log = self.session.log_on();
            if let Some(standing) = self.session.standing(quest)?
                && standing.attempts > seen
                && let Some(last) = self.session.last_attempt(&standing)?
            {
                seen = standing.attempts;
                found.push((last.value.submitted, Submitted::of(&last.value)));
            }
        }
        course.seen = seen;
        Ok(found)
    }
}

impl Course {
    fn submits(&mut self, (digest, submitted): Judged) -> Option<Reason> {
        self.trickle.clear();
        self.submitted.push(submitted);
        self.observe(Observed::Submitted(digest))
    }
}
