//! What a session has passed before, as a gate asks for it.

use std::cell::RefCell;

use crate::quest::Submission;
use crate::quest::{Key, QuestId, email};
use crate::session::{Mark, SessionError, Store};
use crate::world::mailbox::Mailbox;
use crate::world::{Accepted, Taken};

/// The addresses that a session has passed for quests other than one.
pub struct SessionAccepted<'a> {
    store: &'a dyn Store,
    except: QuestId,
    failed: RefCell<Option<SessionError>>,
}

impl<'a> SessionAccepted<'a> {
    /// What `store` has passed for quests other than `except`.
    #[must_use]
    pub fn new(store: &'a dyn Store, except: QuestId) -> Self {
        Self {
            store,
            except,
            failed: RefCell::new(None),
        }
    }

    /// The answer of a gate that asked; none when the session could not tell.
    pub fn told<T>(self, answer: T) -> Result<T, SessionError> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }
}

impl Accepted for SessionAccepted<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        match self.store.holder(&mark(taken)) {
            Ok(holder) => holder
                .filter(|holder| holder.id != self.except)
                .map(|holder| holder.key),
            Err(error) => {
                *self.failed.borrow_mut() = Some(error);
                None
            }
        }
    }
}

/// Nothing passed before: for judging away from the session, which is asked afterwards.
#[derive(Debug, Clone, Copy)]
pub struct NothingAccepted;

impl Accepted for NothingAccepted {
    fn holder(&self, _taken: &Taken) -> Option<Key> {
        None
    }
}

/// What a PASS on `submission` takes for its quest alone.
#[must_use]
pub fn marks(submission: &Submission) -> Vec<Mark> {
    let text = submission.field(email::EMAIL.as_str());
    let Some(mailbox) = text.and_then(|text| Mailbox::parse(text).ok()) else {
        return Vec::new();
    };
    let domain = mailbox.domain().registrable().map(Taken::Domain);
    let taken = std::iter::once(Taken::Mailbox(mailbox)).chain(domain);
    taken.map(|taken| mark(&taken)).collect()
}

/// The mark by which a session knows what may be taken.
pub(super) fn mark(taken: &Taken) -> Mark {
    Mark(match taken {
        Taken::Mailbox(mailbox) => format!("mailbox {mailbox}"),
        Taken::Domain(domain) => format!("domain {domain}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission(email: &str) -> Submission {
        Submission::Fields([(email::EMAIL, email.to_owned())].into())
    }

    #[test]
    fn a_pass_takes_its_address_and_its_domain_whatever_their_case() {
        let texts = |email| marks(&submission(email)).into_iter().map(|mark| mark.0);
        let expected = ["mailbox info@mail.acme.co.kr", "domain acme.co.kr"];
        assert!(texts("INFO@Mail.Acme.co.kr").eq(expected));
        assert_eq!(texts("not an address").count(), 0);
        assert_eq!(marks(&Submission::None("why".into())), []);
    }
}
