//! What the program and the supervisor of an agent say to each other on a socket.
//!
//! The supervisor is sent one frame with its [`Work`], and answers with what it has to [`Tell`].
//! Each eight bytes that follow ask it to end the agent, and say how many milliseconds the agent
//! has for that. The end of the stream, which the death of the program is too, makes it kill all.

use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub argv: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub unset: Vec<OsString>,
    pub dir: OsString,
    pub stdin: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Tell {
    Started(i32),
    NotStarted(String),
    Ended(HowEnded),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HowEnded {
    Exited(i32),
    Signalled(i32),
}

pub(super) fn stop_within(grace: Duration) -> [u8; 8] {
    let millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    millis.to_be_bytes()
}

pub(super) fn grace_of(request: [u8; 8]) -> Duration {
    Duration::from_millis(u64::from_be_bytes(request))
}
