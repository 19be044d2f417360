//! What commands ask of a session, wherever it is kept.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::attempt::{Attempt, Mark};
use super::claim::{Claim, Worker};
use super::error::SessionError;
use super::event::Dated;
use super::forgotten::Forgetting;
use super::manifest::Manifest;
use super::resolution::Resolution;
use super::settlement::{Dispute, Settlement};
use super::standing::{Standing, Way};
use super::totals::Totals;
use super::waiting::Waiting;
use crate::base::Digest;
use crate::quest::{FoldedKey, Key, Quest, QuestId};

/// What commands ask of a session. No answer reads the whole ledger.
pub trait Store {
    /// What was frozen at `scan`.
    fn manifest(&self) -> &Manifest;
    /// What the session adds up to.
    fn totals(&self) -> Totals;
    /// The hash of the ledger's last line: noted elsewhere, it shows any later edit.
    fn head(&self) -> Digest;
    /// The quest with this id.
    fn standing(&self, id: QuestId) -> Result<Option<Standing>, SessionError>;
    /// The quests whose keys fold to `key`, in order of id.
    fn named(&self, key: &FoldedKey) -> Result<Vec<Standing>, SessionError>;
    /// Hands on every key, in order of id.
    fn each_key(&self, take: &mut dyn FnMut(&Key)) -> Result<(), SessionError>;
    /// The first quest in TODO that no worker holds at `now`, and that waits for no other.
    fn first_free(&self, now: Timestamp) -> Result<Option<Standing>, SessionError> {
        self.first_free_but(now, &BTreeSet::new())
    }
    /// The same, with some quests passed over.
    fn first_free_but(
        &self,
        now: Timestamp,
        except: &BTreeSet<QuestId>,
    ) -> Result<Option<Standing>, SessionError>;
    /// The quests in TODO that wait for others.
    fn waiting(&self) -> Result<Waiting, SessionError>;
    /// The number of the earlier attempt that sent the same, if the world was heard on it.
    fn repeats(&self, quest: QuestId, submitted: Digest) -> Result<Option<u32>, SessionError>;
    /// The first quest that passed with this mark.
    fn holder(&self, mark: &Mark) -> Result<Option<Standing>, SessionError>;
    /// The claim on this quest, also when its lease has run out.
    fn claim_on(&self, quest: QuestId) -> Result<Option<Claim>, SessionError>;
    /// The claim of this worker, also when its lease has run out.
    fn claim_of(&self, worker: &Worker) -> Result<Option<Claim>, SessionError>;
    /// Every claim, also those whose lease has run out, in order of quests.
    fn claims(&self) -> Result<Vec<Claim>, SessionError>;
    /// The REVIEWs that rest on an unanswered lookup and were not looked at again.
    fn unanswered(&self) -> Result<Vec<Standing>, SessionError>;
    /// Every REVIEW, settled or not, in order of id.
    fn reviews(&self) -> Result<Vec<Standing>, SessionError>;
    /// The decision on the quest's REVIEW, with the time of its line.
    fn settlement(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Settlement>>>, SessionError>;
    /// What somebody said who disputed the quest, with the time of its line.
    fn dispute(&self, standing: &Standing) -> Result<Option<Dated<Box<Dispute>>>, SessionError>;
    /// What the last agent that was driven at the quest said of where it stands, with the time of
    /// its line.
    fn handover(&self, standing: &Standing) -> Result<Option<Dated<Box<str>>>, SessionError>;
    /// The quest of this standing, whole.
    fn quest(&self, standing: &Standing) -> Result<Quest, SessionError>;
    /// The quest's last attempt with the time of its line, or the one that was carried into the
    /// session with the time at which it passed first.
    fn last_attempt(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Attempt>>>, SessionError>;
    /// The quest's attempts that were sent back for a revision, the earliest first.
    ///
    /// Of a quest with more than one attempt the ledger is read up to its end: only who asks
    /// reviewers again asks.
    fn revised(&self, standing: &Standing) -> Result<Vec<Attempt>, SessionError>;
    /// What became of the quest's REVIEW, with the time of its line.
    fn resolution(
        &self,
        standing: &Standing,
    ) -> Result<Option<Dated<Box<Resolution>>>, SessionError>;

    /// What was forgotten here, and in the session whose PASSes were carried here.
    fn forgetting(&self) -> Forgetting {
        let earlier = &self.manifest().forgotten;
        self.totals().forgetting.beside(earlier)
    }

    /// The first of the quests that this one comes after which has not passed.
    fn awaited(&self, standing: &Standing) -> Result<Option<Standing>, SessionError> {
        for id in &standing.after {
            let before = self.standing(*id)?;
            if let Some(before) = before.filter(|before| before.way() != Way::Passed) {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    /// Whether the unproven streak pauses the session.
    fn paused(&self) -> bool {
        self.totals()
            .streak
            .pauses(self.manifest().frozen.pause_after)
    }
}
