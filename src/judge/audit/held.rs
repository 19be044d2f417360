//! What the session answered to the gate, held against what its ledger said at that line.

use crate::judge::accepted::mark;
use crate::quest::{Key, QuestId};
use crate::session::Board;
use crate::world::evidence::{Evidence, Exchange};
use crate::world::{Accepted, Taken};

/// What the ledger had passed for other quests before one of its lines.
#[derive(Debug, Clone, Copy)]
pub struct HeldBefore<'a> {
    pub board: &'a Board,
    pub except: QuestId,
    pub offset: u64,
}

impl Accepted for HeldBefore<'_> {
    /// The first holder of all: who takes something never gives it back, so whoever held it
    /// before the line holds it at the ledger's end.
    fn holder(&self, taken: &Taken) -> Option<Key> {
        let holder = self.board.holder(&mark(taken))?;
        let before = holder.proof()?.offset < self.offset;
        (holder.id != self.except && before).then(|| holder.key.clone())
    }
}

/// An answer of the session that is not what its ledger says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongAnswer {
    pub taken: Taken,
    pub told: Option<Key>,
    pub holder: Option<Key>,
}

/// The answers in `evidence` that `ledger` gives otherwise.
#[must_use]
pub fn wrong_answers(evidence: &Evidence, ledger: &dyn Accepted) -> Vec<WrongAnswer> {
    let asked = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Session(asked) = exchange else {
            return None;
        };
        let holder = ledger.holder(&asked.taken);
        (holder != asked.holder).then(|| WrongAnswer {
            taken: asked.taken.clone(),
            told: asked.holder.clone(),
            holder,
        })
    });
    asked.collect()
}

impl std::fmt::Display for WrongAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let who = |key: &Option<Key>| {
            key.as_ref()
                .map_or("nobody".to_owned(), |key| format!("{:?}", key.as_str()))
        };
        match &self.taken {
            Taken::Mailbox(mailbox) => write!(f, "of {mailbox}")?,
            Taken::Domain(domain) => write!(f, "of the addresses of {domain}")?,
            Taken::Value { field, text } => write!(f, "of {text:?} as {field}")?,
        }
        write!(
            f,
            " the gate was told that {} had passed with it, and by the ledger {} had",
            who(&self.told),
            who(&self.holder)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::evidence::SessionExchange;
    use crate::world::mailbox::Mailbox;

    struct Acme;

    impl Accepted for Acme {
        fn holder(&self, taken: &Taken) -> Option<Key> {
            matches!(taken, Taken::Mailbox(_)).then(|| Key::new("Acme").unwrap())
        }
    }

    fn asked(holder: Option<&str>) -> Evidence {
        let mailbox = Mailbox::parse("info@acme.co.kr").unwrap();
        let domain = mailbox.domain().registrable().unwrap();
        let answer = |taken, holder: Option<&str>| {
            let holder = holder.map(|key| Key::new(key).unwrap());
            Exchange::Session(SessionExchange { taken, holder })
        };
        Evidence {
            exchanges: vec![
                answer(Taken::Mailbox(mailbox), holder),
                answer(Taken::Domain(domain), None),
            ],
        }
    }

    #[test]
    fn an_answer_that_the_ledger_gives_is_right() {
        assert_eq!(wrong_answers(&asked(Some("Acme")), &Acme), []);
    }

    #[test]
    fn a_holder_that_was_hidden_or_made_up_is_named() {
        for told in [None, Some("Bolt")] {
            let wrong = wrong_answers(&asked(told), &Acme);
            let [wrong] = wrong.as_slice() else {
                panic!("{wrong:?}");
            };
            assert_eq!(wrong.holder.as_ref().map(Key::as_str), Some("Acme"));
            let text = wrong.to_string();
            assert!(text.contains("info@acme.co.kr"), "{text}");
            assert!(text.contains("by the ledger \"Acme\" had"), "{text}");
        }
    }
}
