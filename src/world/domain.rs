//! Host names and registrable domains.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An absolute DNS host name: lower-case ASCII (A-labels), no trailing dot, at most 253 octets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

/// A name one label below a known public suffix (<https://publicsuffix.org>), such as `acme.co.kr`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RegistrableDomain(String);

/// A text that is not a DNS host name.
#[derive(Debug, thiserror::Error)]
#[error("not a host name: {0:?}")]
pub struct BadHostName(String);

impl HostName {
    /// The host name that `text` spells; upper case and one trailing dot are let through.
    pub fn parse(text: &str) -> Result<Self, BadHostName> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let label_ok = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        if name.len() <= 253 && name.split('.').all(label_ok) {
            Ok(Self(name))
        } else {
            Err(BadHostName(text.to_owned()))
        }
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The registrable domain that the name lies in; none when its suffix is unknown, private
    /// suffixes (`github.io`) counted as suffixes, or when the name is itself a suffix.
    #[must_use]
    pub fn registrable(&self) -> Option<RegistrableDomain> {
        let domain = psl::domain(self.0.as_bytes())?;
        if !domain.suffix().is_known() {
            return None;
        }
        let text = std::str::from_utf8(domain.as_bytes()).ok()?;
        Some(RegistrableDomain(text.to_owned()))
    }
}

impl RegistrableDomain {
    /// The domain's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RegistrableDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for HostName {
    type Error = BadHostName;

    fn try_from(text: String) -> Result<Self, BadHostName> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}
