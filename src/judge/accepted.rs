//! What a session has passed for other quests, as the gate asks for it.

use std::cell::RefCell;

use crate::gate::{Case, Gate, Judgement};
use crate::quest::{Key, QuestId};
use crate::session::{Attempt, Mark, Session, SessionError};
use crate::world::{EarlierDoubt, UniqueValue, UniquenessIndex};

/// The addresses that a session has passed for quests other than one.
pub(super) struct SessionAccepted<'a> {
    store: &'a Session,
    except: QuestId,
    /// Whether reviewers may be asked about the answer.
    pub(super) may_ask: bool,
    failed: RefCell<Option<SessionError>>,
}

impl<'a> SessionAccepted<'a> {
    pub fn new(store: &'a Session, except: QuestId) -> Self {
        Self {
            store,
            except,
            may_ask: true,
            failed: RefCell::new(None),
        }
    }

    /// The answer of a gate that asked; an error when the session could not be read.
    pub fn checked<T>(self, answer: T) -> Result<T, SessionError> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }

    /// A gate knows no errors of the session, so they are kept for [`Self::checked`].
    fn kept<T: Default>(&self, read: Result<T, SessionError>) -> T {
        read.unwrap_or_else(|error| {
            *self.failed.borrow_mut() = Some(error);
            T::default()
        })
    }
}

impl UniquenessIndex for SessionAccepted<'_> {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        let holder = self.kept(self.store.holder(&mark(taken)));
        let other = holder.filter(|holder| holder.id != self.except);
        other.map(|holder| holder.key)
    }

    /// What reviewers doubted in earlier answers of this quest that went back to the agent.
    fn doubts(&self) -> Vec<EarlierDoubt> {
        let revised = || -> Result<_, SessionError> {
            match self.store.standing(self.except)? {
                Some(record) => self.store.revised(&record),
                None => Ok(Vec::new()),
            }
        };
        self.kept(revised()).iter().flat_map(doubts_of).collect()
    }

    fn may_ask(&self) -> bool {
        self.may_ask
    }
}

pub(super) fn doubts_of(attempt: &Attempt) -> Vec<EarlierDoubt> {
    let judgement = serde_json::from_str::<Judgement>(attempt.judgement.get());
    let panel = judgement.ok().and_then(|judgement| judgement.panel);
    let mut doubts = Vec::new();
    for reviewer in panel.into_iter().flat_map(|panel| panel.reviewers) {
        for on in &reviewer.votes {
            doubts.extend(on.vote.doubt().map(|passage| EarlierDoubt {
                reviewer: reviewer.name.clone(),
                question: on.question.clone(),
                quotation: passage.quotation.clone(),
            }));
        }
    }
    doubts
}

/// Nothing passed before: for judging away from the session, which is compared afterwards.
#[derive(Debug, Clone, Copy)]
pub struct NothingAccepted;

impl UniquenessIndex for NothingAccepted {
    fn holder(&self, _taken: &UniqueValue) -> Option<Key> {
        None
    }
}

/// What a PASS of `gate` on the submission takes for its quest alone.
pub fn marks(gate: &dyn Gate, case: Case<'_>) -> Vec<Mark> {
    gate.takes(case).iter().map(mark).collect()
}

pub(super) fn mark(taken: &UniqueValue) -> Mark {
    Mark(match taken {
        UniqueValue::Mailbox(mailbox) => format!("mailbox {mailbox}"),
        UniqueValue::Domain(domain) => format!("domain {domain}"),
        UniqueValue::Value { field, text } => format!("value {field} {text}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::{EmailSettings, email_gate};
    use crate::quest::{Quest, Submission, email};

    fn texts(email: &str) -> Vec<String> {
        let quest = Quest {
            id: QuestId::from_index(0).unwrap(),
            key: Key::new("Acme").unwrap(),
            anchor: None,
            known: Vec::new(),
            after: Vec::new(),
            shown: Vec::new(),
            rows: vec![1],
        };
        let submission = Submission::Fields([(email::EMAIL, email.to_owned())].into());
        let case = Case {
            quest: &quest,
            submission: &submission,
        };
        let marks = marks(&email_gate(EmailSettings::default()), case).into_iter();
        marks.map(|mark| mark.0).collect()
    }

    #[test]
    fn a_pass_takes_its_address_and_its_domain_whatever_their_case() {
        let expected = ["mailbox info@mail.acme.co.kr", "domain acme.co.kr"];
        assert_eq!(texts("INFO@Mail.Acme.co.kr"), expected);
        assert_eq!(texts("not an address"), [""; 0]);
    }
}
