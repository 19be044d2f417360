//! What was judged, by what, on which grounds; and keeping it.

use std::cell::RefCell;

use super::accepted::SessionAccepted;
use super::error::DriveError;
use super::grounds::grounds;
use super::observe::observe_again;
use crate::base::Digest;
use crate::gate::{Case, Gate, Judgement};
use crate::session::{EvidenceStore, Grounds, Store};
use crate::world::evidence::{Recording, pack};

#[derive(Debug)]
pub(crate) struct Ruling {
    pub(crate) judgement: Judgement,
    pub(crate) grounds: Grounds,
    pub(crate) recording: Recording,
}

impl Ruling {
    /// A judgement for which nothing was looked up.
    pub(crate) fn unseen(judgement: Judgement, grounds: Grounds) -> Self {
        Self {
            judgement,
            grounds,
            recording: Recording::default(),
        }
    }

    pub(crate) fn seen(gate: &dyn Gate, judgement: Judgement, recording: Recording) -> Self {
        let evidence = &recording.evidence;
        let looked_up = !evidence.exchanges.is_empty();
        let silent = evidence.rests_on_silence();
        let grounds = grounds(&judgement, looked_up, silent, &gate.confirming());
        Self {
            judgement,
            grounds,
            recording,
        }
    }

    /// Judges again, from evidence alone, when what the session knows has changed.
    pub(crate) fn look_again(
        self,
        gate: &dyn Gate,
        case: Case<'_>,
        store: &dyn Store,
    ) -> Result<Self, DriveError> {
        let accepted = SessionAccepted::new(store, case.quest.id);
        let again = observe_again(gate, case, &self.recording, &accepted);
        Ok(match accepted.told(again)? {
            None => self,
            Some((judgement, recording)) => Self::seen(gate, judgement, recording),
        })
    }

    /// Puts the bodies that a ledger line is about to name on disk, and notes those that were not
    /// there.
    pub(crate) fn keep(
        &self,
        store: &EvidenceStore,
        new: &RefCell<Vec<Digest>>,
    ) -> Result<(), DriveError> {
        for (digest, body) in &self.recording.bodies {
            if store.keep(*digest, &pack(body))? {
                new.borrow_mut().push(*digest);
            }
        }
        Ok(())
    }

    pub(crate) fn fired(&self) -> Vec<String> {
        let mut rules: Vec<String> = Vec::new();
        for fact in &self.judgement.facts {
            if !rules.iter().any(|rule| rule == fact.rule.as_str()) {
                rules.push(fact.rule.to_string());
            }
        }
        rules
    }
}
