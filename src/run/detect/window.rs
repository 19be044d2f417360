//! The last calls of one agent process.

use std::collections::VecDeque;

use crate::base::Digest;

/// What an answer is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// What the ledger holds of it, and how often the world had changed before.
    Judged(Digest, u32),
    /// How it was called: nothing of it is in the ledger, so it was refused.
    Refused(Digest),
}

/// One of the last calls.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// An answer.
    Answer {
        /// The answer.
        answer: Answer,
        /// Whether the call was seen that gave it.
        called: bool,
    },
    /// A question where the quest stands, after which nothing changed.
    Poll,
    /// Anything else.
    Other,
}

/// The last calls of one agent process.
#[derive(Debug)]
pub(super) struct Window {
    steps: VecDeque<Step>,
    size: usize,
}

impl Window {
    /// A window on so many calls.
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

    /// Notes a call that is neither an answer nor a poll.
    pub(super) fn other(&mut self) {
        self.push(Step::Other);
    }

    /// Notes a question where the quest stands.
    pub(super) fn poll(&mut self) {
        self.push(Step::Poll);
    }

    /// Notes a call that submits; false where the ledger told of it first.
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

    /// Notes that an answer was judged; false where its call was seen first.
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

    /// Something changed: who asked before it asked with reason.
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

    /// How often the answer that came most often came.
    pub(super) fn repeats(&self) -> u32 {
        let of = |one: Answer| self.answers().filter(|other| *other == one).count();
        count(self.answers().map(of).max().unwrap_or(0))
    }

    /// How many answers the last stretch has that goes to and fro between two; 0 where it does
    /// not come back to both.
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

    /// How many questions where the quest stands came since something changed.
    pub(super) fn polls(&self) -> u32 {
        let polls = self.steps.iter().filter(|step| matches!(step, Step::Poll));
        count(polls.count())
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
