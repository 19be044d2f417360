//! Leave to ask reviewers about an answer, which the ledger notes before they are asked.

use std::cell::{Cell, RefCell};

use jiff::Timestamp;

use super::accepted::SessionAccepted;
use super::refusal::{Declined, Refusal, refusal};
use super::turn::Answer;
use crate::base::Digest;
use crate::gate::{Judgement, ReviewerReport};
use crate::quest::Key;
use crate::session::{Appended, Asked, Event, Salt, Session, Standing, Store as _};
use crate::world::{Accepted, EarlierDoubt, Taken};

pub(super) struct Leave<'a> {
    session: RefCell<&'a mut Session>,
    answer: Answer<'a>,
    submitted: Digest,
    before: &'a Standing,
    clock: RefCell<&'a mut dyn FnMut() -> Timestamp>,
    salts: RefCell<&'a mut dyn FnMut() -> Salt>,
    noted: Cell<bool>,
    failed: RefCell<Option<Declined>>,
}

impl<'a> Leave<'a> {
    pub(super) fn new(
        session: &'a mut Session,
        answer: Answer<'a>,
        before: &'a Standing,
        clock: &'a mut dyn FnMut() -> Timestamp,
        salts: &'a mut dyn FnMut() -> Salt,
    ) -> Self {
        Self {
            session: RefCell::new(session),
            submitted: answer.submission.digest(),
            answer,
            before,
            clock: RefCell::new(clock),
            salts: RefCell::new(salts),
            noted: Cell::new(false),
            failed: RefCell::new(None),
        }
    }

    /// The answer of a gate that asked; else why the session could not tell, or gave no leave.
    pub(super) fn told<T>(self, answer: T) -> Result<T, Declined> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }

    /// Takes the note back where something of ours failed, and all who were heard cleared the
    /// answer: else they would never be heard on the quest again.
    ///
    /// One who overlooked the plant cleared nothing: who sees that, and has what follows fail,
    /// would be given other ears.
    pub(super) fn withdraw(&self, judgement: &Judgement) {
        let mut reviewers = judgement.panel.iter().flat_map(|panel| &panel.reviewers);
        if self.noted.get() && reviewers.all(cleared) {
            // Where it cannot be, a person hears of it.
            let _ = self.note(true);
        }
    }

    fn note(&self, withdrawn: bool) -> Result<(), Declined> {
        let mut session = self.session.borrow_mut();
        let (mut clock, mut salts) = (self.clock.borrow_mut(), self.salts.borrow_mut());
        let appended = session.append_at(&mut **clock, &mut **salts, |session, now| {
            let standing = session.standing(self.answer.quest)?;
            let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
            if let Some(refusal) = refusal(session, &standing, self.answer.worker, now)? {
                return Err(Declined::Refusal(refusal));
            }
            // Another answer is before the reviewers, or was judged.
            if standing.asked != withdrawn || standing.attempts != self.before.attempts {
                return Err(Declined::Refusal(Refusal::Overtaken));
            }
            Ok(vec![Event::Asked(Asked {
                quest: standing.id,
                number: standing.attempts.saturating_add(1),
                submitted: self.submitted,
                withdrawn,
            })])
        })?;
        match appended {
            Appended::Done => Ok(()),
            Appended::Refused(declined) => Err(declined),
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&dyn Accepted) -> T) -> T {
        let session = self.session.borrow();
        let accepted = SessionAccepted::new(&**session, self.answer.quest);
        let answer = question(&accepted);
        if let Err(error) = accepted.told(()) {
            *self.failed.borrow_mut() = Some(error.into());
        }
        answer
    }
}

/// Whether a reviewer was heard, and had nothing against the answer.
fn cleared(reviewer: &ReviewerReport) -> bool {
    let mut votes = reviewer.votes.iter();
    reviewer.counts && reviewer.errors.is_empty() && votes.all(|on| on.vote.is_clearance())
}

impl Accepted for Leave<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        self.ask(|accepted| accepted.holder(taken))
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.ask(|accepted| accepted.doubts())
    }

    fn may_ask(&self) -> bool {
        if self.before.asked {
            return false;
        }
        match self.note(false) {
            Ok(()) => self.noted.set(true),
            Err(declined) => *self.failed.borrow_mut() = Some(declined),
        }
        self.noted.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Vote, VoteOn};
    use crate::world::sandbox::Usage;

    fn reviewer(counts: bool, votes: Vec<Vote>, errors: &[&str]) -> ReviewerReport {
        let votes = votes.into_iter().map(|vote| VoteOn {
            question: String::from("faithful"),
            vote,
        });
        ReviewerReport {
            name: String::from("one"),
            model: String::from("m"),
            counts,
            votes: votes.collect(),
            errors: errors.iter().map(|error| (*error).to_owned()).collect(),
            usage: Usage::default(),
        }
    }

    #[test]
    fn only_who_was_heard_and_said_no_has_cleared() {
        let clear = || Vote::Cleared(String::from("all of it"));
        assert!(cleared(&reviewer(true, vec![clear()], &[])));
        let silent = Vote::Error(String::from("said nothing"));
        assert!(!cleared(&reviewer(true, vec![clear(), silent], &[])));
        // Who overlooked the plant has no votes, and an error that says so.
        assert!(!cleared(&reviewer(false, vec![], &["overlooked it"])));
        assert!(!cleared(&reviewer(false, vec![], &[])));
        assert!(!cleared(&reviewer(true, vec![clear()], &["a stray line"])));
    }
}
