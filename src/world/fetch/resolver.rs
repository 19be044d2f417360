//! One DNS question, as a gate sees it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::world::Unanswered;
use crate::world::domain::HostName;

/// The kinds of record that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordKind {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
    /// Mail exchangers.
    Mx,
}

/// A mail exchanger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MxHost {
    /// Its preference; the lowest is tried first.
    pub preference: u16,
    /// Its host; `None` for the root, as a null MX has it (RFC 7505 §3).
    pub host: Option<HostName>,
}

/// The records that a name has, after CNAMEs. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    /// Answers to A or AAAA.
    Addresses(Vec<IpAddr>),
    /// Answers to MX, sorted by preference, then host.
    Mx(Vec<MxHost>),
}

/// What came of one DNS question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Looked {
    /// The name has such records.
    Found(Records),
    /// The name exists, and has no such record (RFC 2308 §2.2).
    NoData,
    /// The name does not exist (RFC 2308 §2.1).
    NoSuchName,
    /// No definite answer, after all retries.
    Unanswered(Unanswered),
}

/// Asks DNS.
#[cfg_attr(test, mockall::automock)]
pub trait Resolver {
    /// Asks for one kind of record of an absolute name.
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked;
}
