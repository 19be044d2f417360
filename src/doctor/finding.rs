//! What a check tells.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// How good what was found is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; all works.
    Note,
    /// Something will not work, or cannot be trusted.
    Trouble,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// `session.json`, the ledger's chain and the index.
    Session,
    /// Who may read the session.
    Permissions,
    /// The session's lock.
    Lock,
    /// Where evidence is kept.
    Evidence,
    /// The programs that the session's checks run.
    Programs,
    /// What the file system does.
    FileSystem,
    /// How much room is left on it.
    Space,
    /// Names and addresses.
    Dns,
    /// Connections that are secured.
    Tls,
    /// The time.
    Clock,
    /// What a person looks at.
    Terminal,
    /// The agents that `run` knows.
    Agents,
    /// What confines commands of quest files.
    Confinement,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// What was checked.
    pub check: Check,
    /// How good it is.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// How to mend it, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Check {
    /// That it is as it should be.
    #[must_use]
    pub fn ok(self, found: impl Into<String>) -> Finding {
        self.finding(Level::Ok, found, None)
    }

    /// Something worth knowing, and what may be done about it.
    #[must_use]
    pub fn note(self, found: impl Into<String>, mend: impl Into<String>) -> Finding {
        self.finding(Level::Note, found, Some(mend.into()))
    }

    /// Something that must be mended, and how.
    #[must_use]
    pub fn trouble(self, found: impl Into<String>, mend: impl Into<String>) -> Finding {
        self.finding(Level::Trouble, found, Some(mend.into()))
    }

    fn finding(self, level: Level, found: impl Into<String>, mend: Option<String>) -> Finding {
        Finding {
            check: self,
            level,
            found: found.into(),
            mend,
        }
    }
}

/// Whether nothing must be mended.
#[must_use]
pub fn is_sound(findings: &[Finding]) -> bool {
    findings
        .iter()
        .all(|finding| finding.level < Level::Trouble)
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Trouble => "trouble",
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Session => "session",
            Self::Permissions => "permissions",
            Self::Lock => "lock",
            Self::Evidence => "evidence",
            Self::Programs => "programs",
            Self::FileSystem => "file system",
            Self::Space => "space",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Clock => "clock",
            Self::Terminal => "terminal",
            Self::Agents => "agents",
            Self::Confinement => "confinement",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_no_trouble() {
        let note = Check::Dns.note("no answer", "try again");
        let trouble = Check::Clock.trouble("behind", "set it");
        assert!(is_sound(&[]));
        assert!(is_sound(&[Check::Tls.ok("fine"), note.clone()]));
        assert!(!is_sound(&[note, trouble]));
    }
}
