//! A mailbox that mail can be sent to.
//!
//! In ledgers and evidence it is one text, `local@domain`, in lower case.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::Ipv6Addr;

use icu_properties::CodePointSetData;
use icu_properties::props::WhiteSpace;
use serde::{Deserialize, Serialize};
use url::Host;

use super::domain::{Disguise, HostName, InternationalName};
use crate::base::text::invisible;

/// The most octets of a local part (RFC 5321 §4.5.3.1.1).
const MAX_LOCAL_OCTETS: usize = 64;
/// The most octets of an address: a path has 256 with its angle brackets (RFC 5321 §4.5.3.1.3).
const MAX_OCTETS: usize = 254;

/// An addr-spec with a dot-atom local part (RFC 5321 §4.1.2) and an ASCII domain.
///
/// Comparing, hashing and ordering ignore case, in the local part too: RFC 5321 §2.4 leaves
/// that to the receiving host, and no mail system in use tells `Info@` from `info@`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mailbox {
    local: String,
    domain: HostName,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMailbox {
    #[error("character {at} is white space")]
    WhiteSpace { at: usize },
    #[error("character {at} is invisible (U+{code:04X})")]
    Invisible { at: usize, code: u32 },
    #[error("it has no @")]
    NoAt,
    #[error("it has more than one @")]
    SeveralAts,
    #[error("it has {0} octets, and at most {MAX_OCTETS} are allowed")]
    TooLong(usize),
    /// A display name, angle brackets or a `mailto:` around the address.
    #[error("it is more than the bare address: found {0:?}")]
    NotBare(String),
    #[error("there is nothing before the @")]
    NoLocal,
    #[error("the part before the @ has {0} octets, and at most {MAX_LOCAL_OCTETS} are allowed")]
    LocalTooLong(usize),
    #[error("the part before the @ begins or ends with a dot, or has two in a row")]
    LocalDots,
    #[error("the part before the @ is quoted")]
    Quoted,
    #[error("the part before the @ contains {0:?}")]
    LocalCharacter(char),
    #[error("there is nothing after the @")]
    NoDomain,
    #[error("the part after the @ is an IP address, not a domain")]
    AddressLiteral,
    #[error("{0:?} is not a domain name that can be registered")]
    BadDomain(String),
    #[error("{written:?} is not in its registered form, {becomes:?}")]
    Repaired { written: String, becomes: String },
    #[error("{0:?} mixes scripts")]
    MixedScripts(String),
    #[error("{0:?} is written in letters that look like Latin ones")]
    LooksLatin(String),
    #[error("{0} has no known public suffix")]
    UnknownSuffix(HostName),
    #[error("{0} is a public suffix, under which others register names")]
    BareSuffix(HostName),
}

impl Mailbox {
    /// The mailbox that `text` spells, exactly as written: nothing is repaired but the case of
    /// ASCII letters.
    pub fn parse(text: &str) -> Result<Self, BadMailbox> {
        if text.len() > MAX_OCTETS {
            return Err(BadMailbox::TooLong(text.len()));
        }
        refuse_hidden_characters(text)?;
        refuse_decoration(text)?;
        let (local, domain) = text.rsplit_once('@').ok_or(BadMailbox::NoAt)?;
        refuse_other_than_dot_atom(local)?;
        let domain = mail_domain(domain)?;
        // A domain written in Unicode may be longer in the form that mail is sent to.
        let octets = local.len() + 1 + domain.as_str().len();
        if octets > MAX_OCTETS {
            return Err(BadMailbox::TooLong(octets));
        }
        Ok(Self {
            local: local.to_ascii_lowercase(),
            domain,
        })
    }

    pub fn local(&self) -> &str {
        &self.local
    }

    pub fn domain(&self) -> &HostName {
        &self.domain
    }
}

fn refuse_hidden_characters(text: &str) -> Result<(), BadMailbox> {
    let white = CodePointSetData::new::<WhiteSpace>();
    for (index, found) in text.chars().enumerate() {
        let at = index + 1;
        if white.contains(found) {
            return Err(BadMailbox::WhiteSpace { at });
        }
        if found.is_control() || invisible(found) {
            let code = u32::from(found);
            return Err(BadMailbox::Invisible { at, code });
        }
    }
    Ok(())
}

fn refuse_decoration(text: &str) -> Result<(), BadMailbox> {
    if let Some(found) = text.find(['<', '>']) {
        return Err(BadMailbox::NotBare(text[found..=found].to_owned()));
    }
    match text.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("mailto:") => {
            Err(BadMailbox::NotBare(scheme.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Refuses what is not a dot-atom of at most 64 octets (RFC 5321 §4.1.2).
fn refuse_other_than_dot_atom(local: &str) -> Result<(), BadMailbox> {
    if local.is_empty() {
        return Err(BadMailbox::NoLocal);
    }
    if local.starts_with('"') {
        return Err(BadMailbox::Quoted);
    }
    if local.contains('@') {
        return Err(BadMailbox::SeveralAts);
    }
    if let Some(found) = local.chars().find(|&c| !is_atext(c) && c != '.') {
        return Err(BadMailbox::LocalCharacter(found));
    }
    if local.len() > MAX_LOCAL_OCTETS {
        return Err(BadMailbox::LocalTooLong(local.len()));
    }
    if local.split('.').any(str::is_empty) {
        return Err(BadMailbox::LocalDots);
    }
    Ok(())
}

/// Whether an atom can hold `c` (RFC 5322 §3.2.3).
fn is_atext(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

/// Reads a mailbox in a ledger or in evidence. It was parsed when it was written, and stays
/// readable when a later edition of the Public Suffix List no longer knows its suffix.
impl TryFrom<String> for Mailbox {
    type Error = BadMailbox;

    fn try_from(text: String) -> Result<Self, BadMailbox> {
        let (local, domain) = text.rsplit_once('@').ok_or(BadMailbox::NoAt)?;
        refuse_other_than_dot_atom(local)?;
        let domain =
            HostName::parse(domain).map_err(|_| BadMailbox::BadDomain(domain.to_owned()))?;
        Ok(Self {
            local: local.to_ascii_lowercase(),
            domain,
        })
    }
}

impl From<Mailbox> for String {
    fn from(mailbox: Mailbox) -> Self {
        mailbox.to_string()
    }
}

/// The domain that `text` spells in labels of ASCII or Unicode (UTS #46, strict).
pub(super) fn mail_domain(text: &str) -> Result<HostName, BadMailbox> {
    if text.is_empty() {
        return Err(BadMailbox::NoDomain);
    }
    let is_ipv4 = matches!(Host::parse(text), Ok(Host::Ipv4(_)));
    if text.starts_with('[') || is_ipv4 || text.parse::<Ipv6Addr>().is_ok() {
        return Err(BadMailbox::AddressLiteral);
    }
    let bad = || BadMailbox::BadDomain(text.to_owned());
    let written = text.to_ascii_lowercase();
    let name = InternationalName::parse(&written).ok_or_else(bad)?;
    if let Some((written, becomes)) = name.repair(&written) {
        return Err(BadMailbox::Repaired { written, becomes });
    }
    match name.disguise() {
        Some(Disguise::MixedScripts(label)) => return Err(BadMailbox::MixedScripts(label)),
        Some(Disguise::LooksLatin(label)) => return Err(BadMailbox::LooksLatin(label)),
        None => {}
    }
    let name = HostName::parse(&name.ascii).map_err(|_| bad())?;
    if !name.has_public_suffix() {
        Err(BadMailbox::UnknownSuffix(name))
    } else if name.registrable().is_none() {
        Err(BadMailbox::BareSuffix(name))
    } else {
        Ok(name)
    }
}
