//! A mailbox that mail can be sent to.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::domain::HostName;

/// An addr-spec with a dot-atom local part (RFC 5321 §4.1.2) and an ASCII domain.
///
/// Comparing, hashing and ordering ignore case, in the local part too: no mail system in
/// use tells `Info@` from `info@`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mailbox {
    /// The local part, in lower case.
    local: String,
    /// The domain.
    domain: HostName,
}

impl Mailbox {
    /// The local part, in lower case.
    #[must_use]
    pub fn local(&self) -> &str {
        &self.local
    }

    /// The domain.
    #[must_use]
    pub fn domain(&self) -> &HostName {
        &self.domain
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

/// Why a text is not a mailbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMailbox {
    /// There is not exactly one `@` with something on either side.
    #[error("it is not of the form local@domain")]
    Shape,
}

impl Mailbox {
    /// The mailbox that `text` spells, exactly as written: nothing is repaired.
    pub fn parse(text: &str) -> Result<Self, BadMailbox> {
        let (local, domain) = text.split_once('@').ok_or(BadMailbox::Shape)?;
        let domain = HostName::parse(domain).map_err(|_| BadMailbox::Shape)?;
        Ok(Self {
            local: local.to_ascii_lowercase(),
            domain,
        })
    }
}
