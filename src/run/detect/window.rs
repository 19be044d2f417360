//! The last calls of one agent process.

use std::collections::VecDeque;

use crate::base::Digest;

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
