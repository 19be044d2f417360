//! The detectors over what one worker's agents do.

use super::alarm::Alarm;
use super::call::Call;
use super::settings::Settings;
use crate::quest::Digest;

/// What the loop sees of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// A new process of the agent began, for the same quest.
    Began,
    /// It called a tool: by its event stream, or where it has none, noted by comail itself.
    Call(Call),
    /// What it submitted was judged; the digest is the one of the ledger.
    Submitted(Digest),
    /// Something else got further: the working tree changed, or the quest's file did.
    Progress,
    /// The quest settled.
    Settled,
}

/// The detectors over what one worker's agents do.
#[derive(Debug)]
pub struct Detectors {
    settings: Settings,
}

impl Detectors {
    /// Detectors that saw nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// Takes in what was seen, and gives the gravest alarm that is new.
    pub fn observe(&mut self, _observed: Observed) -> Option<Alarm> {
        let _ = self.settings;
        None
    }
}
