//! What stands at a place in a tree.

use serde::{Deserialize, Serialize};

use crate::base::Digest;

/// What a tree has at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A file.
    File {
        /// The digest of its contents.
        sha256: Digest,
        /// Its length.
        bytes: u64,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link; it is never followed.
    Link {
        /// What it says.
        to: String,
    },
}

/// Something that is no part of a tree, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Odd {
    /// Where it stands: its path, or its folder's with the name escaped where no path names it.
    pub place: String,
    /// Why.
    pub why: Oddity,
}

/// Why something is no part of a tree.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[serde(rename_all = "kebab-case")]
pub enum Oddity {
    /// No path can name it: a name that is not UTF-8, a control character, too deep.
    #[error("has a name that cannot be written down, or lies too deep")]
    Name,
    /// A named pipe.
    #[error("is a named pipe")]
    Pipe,
    /// A socket.
    #[error("is a socket")]
    Socket,
    /// A device, or what else the system has.
    #[error("is a device")]
    Device,
    /// A link to something that is not UTF-8.
    #[error("is a link to a name that is not UTF-8")]
    Target,
    /// The system does not let it be read.
    #[error("may not be read")]
    Unreadable,
    /// A file larger than a tree may have.
    #[error("is too large")]
    TooLarge,
    /// A file that would make its writer's files more than is kept.
    #[error("is more than is kept of changed files")]
    TooMuch,
    /// It became something else while it was looked at.
    #[error("changed while it was read")]
    Changing,
}
