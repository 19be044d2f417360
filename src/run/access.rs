//! How the agents of a run reach the judge, which runs in the process of the run.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use super::detect::SelfCall;
use crate::quest::QuestId;
use crate::session::Worker;

pub trait Judge: Sync {
    /// Lets one start of an agent answer a quest as this worker.
    fn admit(
        &self,
        quest: QuestId,
        worker: &Worker,
    ) -> Result<Box<dyn Admission>, Box<dyn Error + Send + Sync>>;
}

/// What one start of an agent may do. Dropping it ends that.
pub trait Admission: Send {
    /// The variables by which the agent finds the judge.
    fn env(&self) -> Vec<(OsString, OsString)>;

    /// A directory for the agent alone, which is removed after the start.
    fn dir(&self) -> &Path;

    /// The calls since the last time, in order. A call is listed once it was answered.
    fn calls(&self) -> Vec<SelfCall>;

    /// Answers no further call, and waits for the end of those that were begun.
    fn close(&self);
}
