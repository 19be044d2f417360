//! How the agents of a run reach the judge, which runs in the process of the run.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use super::detect::SelfCall;
use crate::judge::Worktree;
use crate::quest::QuestId;
use crate::session::Worker;

pub trait Judge: Sync {
    /// Lets one start of an agent answer a quest as this worker. In a session with worktrees, the
    /// start gets one of its own, with what the `earlier` start of the quest changed.
    fn admit(
        &self,
        quest: QuestId,
        worker: &Worker,
        earlier: Option<&Worktree>,
    ) -> Result<Box<dyn Admission>, Box<dyn Error + Send + Sync>>;
}

/// The access of one start of an agent. Dropping it revokes the access.
pub trait Admission: Send {
    /// The variables by which the agent finds the judge.
    fn env(&self) -> Vec<(OsString, OsString)>;

    /// A private directory for the agent, which is removed after the start.
    fn dir(&self) -> &Path;

    /// Where the agent works instead of the working tree, and its directory there.
    fn worktree(&self) -> Option<(&Worktree, &Path)>;

    /// The calls that were answered since the last time, in order.
    fn calls(&self) -> Vec<SelfCall>;

    /// Answers no further call, and waits for the calls in progress.
    fn close(&self);
}
