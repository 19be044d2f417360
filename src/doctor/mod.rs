//! Diagnoses problems of a session and of the machine and network that it depends on.
//!
//! Each check observes first, and a pure function turns what was observed into findings. A check
//! changes nothing but files of its own, which it removes, and ends in bounded time.

pub mod machine;
pub mod network;
pub mod session;

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Ok,
    /// Worth knowing; everything works.
    Note,
    /// Something will not work, or cannot be trusted.
    Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// `session.json`, the ledger's chain and the index.
    Session,
    /// Who may read the session.
    Permissions,
    Lock,
    Evidence,
    /// The programs that the session's checks run.
    Programs,
    FileSystem,
    /// How much room is left on the disk.
    Space,
    Dns,
    Tls,
    Clock,
    /// The agents that `run` knows.
    Agents,
    /// What confines the commands of quest files.
    Confinement,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    pub check: Check,
    pub level: Level,
    pub found: String,
    /// How to solve it, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Check {
    fn ok(self, found: impl Into<String>) -> Finding {
        Finding {
            check: self,
            level: Level::Ok,
            found: found.into(),
            hint: None,
        }
    }

    fn note(self, found: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding {
            level: Level::Note,
            hint: Some(hint.into()),
            ..self.ok(found)
        }
    }

    fn problem(self, found: impl Into<String>, hint: impl Into<String>) -> Finding {
        Finding {
            level: Level::Problem,
            ..self.note(found, hint)
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::FileSystem => "file system".to_owned(),
            check => format!("{check:?}").to_lowercase(),
        })
    }
}
