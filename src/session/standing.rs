//! Where one quest stands, and where its ledger lines lie.

use super::asked::Asked;
use super::attempt::{Attempt, Grounds};
use super::effective::Effective;
use super::resolution::{Carried, Outcome, Resolution};
use super::settlement::Decision;
use super::state::{Progress, State};
use super::streak::Ending;
use crate::quest::{Key, Quest, QuestId, Verdict};

/// Where a line lies in the ledger, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub offset: u64,
    /// Its length without the line feed.
    pub length: u32,
}

/// Where one quest stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its id.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// Its state and tries.
    pub progress: Progress,
    /// How many submissions of it were judged.
    pub attempts: u32,
    /// The line that made it.
    pub quest_line: Span,
    /// Its last attempt, or the PASS that was carried into the session.
    pub last: Option<Last>,
    /// What became of its REVIEW.
    pub resolution: Option<Resolved>,
    /// How a person settled its REVIEW, last.
    pub settled: Option<Settled>,
    /// The line in which somebody disputed it last.
    pub dispute: Option<Span>,
    /// The line in which the last agent that was driven at it said where it stands.
    pub handover: Option<Span>,
    /// How many of its attempts were sent back for a revision.
    pub revisions: u32,
    /// Whether reviewers were asked about an answer, and what they said is on no record.
    pub asked: bool,
    /// The quests that must have passed before it is handed out, in order.
    pub after: Box<[QuestId]>,
}

/// The attempt that brought a quest where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    /// Its line.
    pub line: Span,
    /// What its verdict rests on.
    pub grounds: Grounds,
}

/// What became of a REVIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved {
    /// The line that says so.
    pub line: Span,
    /// What became of it.
    pub outcome: Outcome,
}

/// How a person settled a REVIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// The line that says so.
    pub line: Span,
    /// What was decided.
    pub decision: Decision,
}

/// What those who wait for a quest have to expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It has passed, or its REVIEW was confirmed or accepted.
    Passed,
    /// It may pass as yet.
    Open,
    /// It ended without a PASS; a REVIEW may still be settled by a person.
    Ended,
}

/// What cannot have happened, and why.
pub(super) type Story = &'static str;

impl Standing {
    /// A quest that nobody has worked on.
    #[must_use]
    pub fn new(quest: &Quest, quest_line: Span) -> Self {
        Self {
            id: quest.id,
            key: quest.key.clone(),
            progress: Progress::NEW,
            attempts: 0,
            quest_line,
            last: None,
            resolution: None,
            settled: None,
            dispute: None,
            handover: None,
            revisions: 0,
            asked: false,
            after: quest.after.clone().into(),
        }
    }

    /// What those who wait for it have to expect.
    #[must_use]
    pub fn way(&self) -> Way {
        if Effective::of(self).holds() {
            Way::Passed
        } else if self.progress.state == State::Todo {
            Way::Open
        } else {
            Way::Ended
        }
    }

    /// Whether it is a REVIEW that rests on an unanswered lookup alone, and that nobody has
    /// looked at again.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        let silent = |last: Last| last.grounds == Grounds::Silence;
        self.progress.state == State::Review
            && self.resolution.is_none()
            && self.settled.is_none()
            && self.last.is_some_and(silent)
    }

    /// The line that proves its answer: of the PASS, or of the confirmation.
    #[must_use]
    pub fn proof(&self) -> Option<Span> {
        match self.resolution {
            Some(resolved) if resolved.outcome == Outcome::Confirmed => Some(resolved.line),
            _ if self.progress.state == State::Pass => self.last.map(|last| last.line),
            _ => None,
        }
    }

    /// The standing after it was noted that reviewers are asked, or that they were not.
    pub(super) fn asked(&self, asked: &Asked) -> Result<Self, Story> {
        if self.progress.state != State::Todo {
            return Err("nobody is asked about a locked quest");
        }
        if asked.number != self.attempts.saturating_add(1) {
            return Err("reviewers are asked about the next attempt");
        }
        if self.asked != asked.withdrawn {
            return Err("reviewers are asked once until an attempt says what they said");
        }
        Ok(Self {
            asked: !asked.withdrawn,
            ..self.clone()
        })
    }

    /// The standing after an attempt whose line lies at `line`.
    pub(super) fn judged(
        &self,
        attempt: &Attempt,
        line: Span,
        max_tries: std::num::NonZeroU32,
    ) -> Result<Self, Story> {
        if attempt.number != self.attempts.saturating_add(1) {
            return Err("attempts are numbered without gaps");
        }
        let judged = if attempt.revision {
            let revised = self.progress.revised(max_tries);
            revised.filter(|_| attempt.verdict == Verdict::Review)
        } else {
            self.progress.judged(attempt.verdict, max_tries).ok()
        };
        let next = judged.ok_or("a locked quest takes no submission")?;
        if (next.state, next.tries) != (attempt.state, attempt.tries) {
            return Err("the verdict leads to another state");
        }
        if next.state != State::Pass && !attempt.holds.is_empty() {
            return Err("only a PASS takes anything");
        }
        Ok(Self {
            progress: next,
            attempts: attempt.number,
            revisions: self.revisions + u32::from(attempt.revision),
            // A FAIL comes before reviewers are asked: it is not what they said.
            asked: self.asked && attempt.verdict == Verdict::Fail,
            last: Some(Last {
                line,
                grounds: attempt.grounds,
            }),
            ..self.clone()
        })
    }

    /// The standing after a PASS of an earlier session was carried here.
    pub(super) fn carried(&self, carried: &Carried, line: Span) -> Result<Self, Story> {
        let attempt = &carried.attempt;
        if self.progress != Progress::NEW || self.attempts > 0 {
            return Err("a PASS is carried only to a quest that nobody has worked on");
        }
        if attempt.state != State::Pass {
            return Err("only a PASS is carried");
        }
        Ok(Self {
            progress: Progress {
                state: State::Pass,
                tries: 0,
            },
            last: Some(Last {
                line,
                grounds: attempt.grounds,
            }),
            ..self.clone()
        })
    }

    /// The standing after its REVIEW was looked at again.
    pub(super) fn resolved(&self, resolution: &Resolution, line: Span) -> Result<Self, Story> {
        if !self.is_unanswered() {
            return Err("only a REVIEW that rests on an unanswered lookup is looked at again");
        }
        if resolution.attempt != self.attempts {
            return Err("only the last attempt is looked at again");
        }
        if resolution.outcome != Outcome::of(resolution.verdict) {
            return Err("the verdict leads to another outcome");
        }
        if resolution.outcome != Outcome::Confirmed && !resolution.holds.is_empty() {
            return Err("only a confirmation takes anything");
        }
        Ok(Self {
            resolution: Some(Resolved {
                line,
                outcome: resolution.outcome,
            }),
            ..self.clone()
        })
    }

    /// The standing after a person settled its REVIEW, or settled it anew.
    pub(super) fn settled(
        &self,
        attempt: u32,
        decision: Decision,
        line: Span,
    ) -> Result<Self, Story> {
        if self.progress.state != State::Review {
            return Err("only a REVIEW is settled by a person");
        }
        if attempt != self.attempts {
            return Err("only the last attempt is settled");
        }
        if decision == Decision::Reopened && self.settled.is_none() {
            return Err("only what was settled is reopened");
        }
        Ok(Self {
            settled: Some(Settled { line, decision }),
            ..self.clone()
        })
    }

    /// The standing after somebody disputed it.
    pub(super) fn disputed(&self, line: Span) -> Result<Self, Story> {
        if !Effective::of(self).holds() {
            return Err("only what counts as right is disputed");
        }
        Ok(Self {
            dispute: Some(line),
            ..self.clone()
        })
    }

    /// How it ended; none while it is in TODO.
    pub(super) fn ending(&self) -> Option<Ending> {
        Ending::of(self.progress.state, self.last?.grounds)
    }
}
