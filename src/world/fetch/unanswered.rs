//! Why the world did not answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A lookup that brought neither a yes nor a no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// What kind of silence it was.
    pub silence: Silence,
    /// The detail, for people: a status, a host, an operating system's message.
    pub detail: String,
    /// The HTTP status, where one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl Unanswered {
    /// A silence without a status.
    #[must_use]
    pub fn new(silence: Silence, detail: impl Into<String>) -> Self {
        Self {
            silence,
            detail: detail.into(),
            status: None,
        }
    }

    /// A status that says neither yes nor no.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self {
            silence: Silence::Status,
            detail: format!("HTTP status {status}"),
            status: Some(status),
        }
    }
}

/// The kinds of silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Silence {
    /// No complete answer in time.
    Timeout,
    /// The connection was refused, reset or cut off.
    Connection,
    /// TLS could not be set up.
    Tls,
    /// A status that is neither 2xx, 3xx with a usable target, 404 nor 410.
    Status,
    /// DNS gave no definite answer.
    Dns,
    /// The name leads to private addresses alone.
    PrivateAddress,
    /// The answer is not HTTP, or breaks it.
    Protocol,
    /// All lookups of the submission together ran out of time.
    Budget,
    /// The evidence holds no answer to this question.
    NotRecorded,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}
