//! What the program and the supervisor of an agent say to each other on a socket.
//!
//! The supervisor is sent one frame with its [`Work`], and answers with what it has to [`Tell`].
//! Each eight bytes that follow ask it to end the agent, and say how many milliseconds the agent
//! has for that. The end of the stream, which the death of the program is too, makes it kill all.

use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a supervisor starts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The variables that are set.
    pub env: Vec<(OsString, OsString)>,
    /// The variables that are unset.
    pub unset: Vec<OsString>,
    /// The working directory.
    pub dir: OsString,
    /// What is read on standard input.
    pub stdin: Option<String>,
}

/// What a supervisor tells.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tell {
    /// The agent is started, and leads the process group of this number.
    Started(i32),
    /// It could not be started, for this reason.
    NotStarted(String),
    /// It ended.
    Ended(HowEnded),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HowEnded {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// A request to end the agent within `grace`.
pub(super) fn stop_within(grace: Duration) -> [u8; 8] {
    let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    millis.to_be_bytes()
}

/// The time that such a request gives.
pub(super) fn grace_of(request: [u8; 8]) -> Duration {
    Duration::from_millis(u64::from_be_bytes(request))
}
