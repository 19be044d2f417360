//! What a session has passed before, as a gate asks for it.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::quest::{Key, QuestId, email};
use crate::session::{Session, SessionError, State};
use crate::world::domain::RegistrableDomain;
use crate::world::mailbox::Mailbox;
use crate::world::{Accepted, Taken};

/// The addresses that a session has passed for quests other than one.
///
/// They are read when first asked for, and never again.
pub struct SessionAccepted<'a> {
    session: &'a Session,
    except: QuestId,
    holders: OnceCell<Holders>,
    error: OnceCell<SessionError>,
}

#[derive(Default)]
struct Holders {
    mailboxes: HashMap<Mailbox, Key>,
    domains: HashMap<RegistrableDomain, Key>,
}

impl<'a> SessionAccepted<'a> {
    /// What `session` has passed for quests other than `except`.
    #[must_use]
    pub fn new(session: &'a Session, except: QuestId) -> Self {
        Self {
            session,
            except,
            holders: OnceCell::new(),
            error: OnceCell::new(),
        }
    }

    /// What kept the session from being read, where something did. Answers given then are
    /// void: whoever asked must not act on them.
    #[must_use]
    pub fn into_error(self) -> Option<SessionError> {
        self.error.into_inner()
    }

    fn holders(&self) -> &Holders {
        self.holders.get_or_init(|| match self.read() {
            Ok(holders) => holders,
            Err(error) => {
                // The first error is as good as any later one.
                let _ = self.error.set(error);
                Holders::default()
            }
        })
    }

    fn read(&self) -> Result<Holders, SessionError> {
        let mut holders = Holders::default();
        let mut reader = self.session.reader()?;
        let passed = self
            .session
            .board()
            .quests()
            .iter()
            .filter(|quest| quest.progress.state == State::Pass && quest.id != self.except);
        for quest in passed {
            let Some(attempt) = reader.last_attempt(quest)? else {
                continue;
            };
            let text = attempt.value.submission.field(email::EMAIL.as_str());
            let Some(mailbox) = text.and_then(|text| Mailbox::parse(text).ok()) else {
                continue;
            };
            if let Some(domain) = mailbox.domain().registrable() {
                holders
                    .domains
                    .entry(domain)
                    .or_insert_with(|| quest.key.clone());
            }
            holders
                .mailboxes
                .entry(mailbox)
                .or_insert_with(|| quest.key.clone());
        }
        Ok(holders)
    }
}

impl Accepted for SessionAccepted<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        let holders = self.holders();
        match taken {
            Taken::Mailbox(mailbox) => holders.mailboxes.get(mailbox).cloned(),
            Taken::Domain(domain) => holders.domains.get(domain).cloned(),
        }
    }
}
