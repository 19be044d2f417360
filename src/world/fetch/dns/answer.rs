//! What an answer says: pure reading of a message that echoes the question.
//!
//! | the message | the reading |
//! |---|---|
//! | records of the kind at the end of the alias chain | found |
//! | NXDOMAIN | the last name of the chain does not exist (RFC 6604 §3) |
//! | NOERROR, no record, SOA at or above the last name | no such record (RFC 2308 §2.2) |
//! | NOERROR, no record, no SOA, no NS, chain not followed | no such record (RFC 2308 §2.2, type 3) |
//! | NOERROR, part of a chain | ask on, for its last name |
//! | all else: referral, alias loop, chain too long, other codes | nothing definite |
//!
//! A denial counts only from a server that is authoritative or recurses: one that is neither
//! knows nothing about the name.

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use crate::world::domain::HostName;
use crate::world::{Looked, MxHost, RecordKind, Records};

const MAX_ALIASES: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indefinite(pub(super) String);

/// The names that aliases have led through, the one that was asked for first.
#[derive(Debug)]
pub(super) struct Aliases {
    passed: Vec<Name>,
    last: Name,
}

/// What a message adds to what is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Definite(Looked),
    /// The chain goes on at its last name, of which the message says nothing.
    AskOn,
}

impl Aliases {
    pub(super) fn of(name: Name) -> Self {
        Self {
            passed: Vec::new(),
            last: name,
        }
    }

    pub(super) fn last(&self) -> &Name {
        &self.last
    }

    fn follow(&mut self, target: &Name) -> Result<(), Indefinite> {
        let left = std::mem::replace(&mut self.last, target.clone());
        self.passed.push(left);
        if self.passed.contains(&self.last) {
            return Err(Indefinite(format!("the aliases loop at {target}")));
        }
        if self.passed.len() > MAX_ALIASES {
            return Err(Indefinite(format!("more than {MAX_ALIASES} aliases")));
        }
        Ok(())
    }
}

pub(super) fn record_type(kind: RecordKind) -> RecordType {
    match kind {
        RecordKind::A => RecordType::A,
        RecordKind::Aaaa => RecordType::AAAA,
        RecordKind::Mx => RecordType::MX,
    }
}

pub(super) fn read(
    message: &Message,
    aliases: &mut Aliases,
    kind: RecordKind,
) -> Result<Reading, Indefinite> {
    let code = message.metadata.response_code;
    if !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain) {
        return Err(Indefinite(format!("the server says {code}")));
    }
    let asked = aliases.passed.len();
    while let Some(target) = alias(message, aliases.last()) {
        aliases.follow(target)?;
    }
    let found: Vec<&RData> = records_of(message, aliases.last())
        .filter(|data| data.record_type() == record_type(kind))
        .collect();
    let denied = code == ResponseCode::NXDomain;
    match (found.is_empty(), denied) {
        (false, false) => found_records(&found, kind).map(Reading::Definite),
        (false, true) => Err(Indefinite(
            "the server denies the name and gives records of it".to_owned(),
        )),
        (true, _) if !knows(message) => Err(Indefinite(
            "the server is neither authoritative nor recursive".to_owned(),
        )),
        (true, true) => Ok(Reading::Definite(Looked::NoSuchName)),
        (true, false) => no_record(message, aliases, asked),
    }
}

fn no_record(message: &Message, aliases: &Aliases, asked: usize) -> Result<Reading, Indefinite> {
    let of_type = |wanted: RecordType| {
        let authorities = message.authorities.iter();
        authorities.filter(move |record| record.record_type() == wanted)
    };
    let denies = of_type(RecordType::SOA).any(|soa| soa.name.zone_of(aliases.last()));
    if denies {
        return Ok(Reading::Definite(Looked::NoData));
    }
    if aliases.passed.len() > asked {
        return Ok(Reading::AskOn);
    }
    if of_type(RecordType::NS).next().is_some() {
        return Err(Indefinite("the server only refers to others".to_owned()));
    }
    if of_type(RecordType::SOA).next().is_some() {
        return Err(Indefinite(
            "the server speaks for a zone that the name is not in".to_owned(),
        ));
    }
    Ok(Reading::Definite(Looked::NoData))
}

fn knows(message: &Message) -> bool {
    message.metadata.authoritative || message.metadata.recursion_available
}

fn alias<'m>(message: &'m Message, name: &Name) -> Option<&'m Name> {
    records_of(message, name).find_map(|data| match data {
        RData::CNAME(target) => Some(&target.0),
        _ => None,
    })
}

fn records_of<'m>(message: &'m Message, name: &Name) -> impl Iterator<Item = &'m RData> {
    let of_it = move |record: &&Record| record.name == *name && record.dns_class == DNSClass::IN;
    let answers = message.answers.iter().filter(of_it);
    answers.map(|record| &record.data)
}

fn found_records(found: &[&RData], kind: RecordKind) -> Result<Looked, Indefinite> {
    let records = match kind {
        RecordKind::A | RecordKind::Aaaa => {
            let mut addresses: Vec<_> = found.iter().filter_map(|data| data.ip_addr()).collect();
            addresses.sort_unstable();
            addresses.dedup();
            Records::Addresses(addresses)
        }
        RecordKind::Mx => {
            let mut hosts: Vec<_> = found.iter().filter_map(|data| mx_host(data)).collect();
            hosts.sort_unstable();
            hosts.dedup();
            Records::Mx(hosts)
        }
    };
    match &records {
        Records::Addresses(addresses) if addresses.is_empty() => {
            Err(Indefinite("the records hold no address".to_owned()))
        }
        Records::Mx(hosts) if hosts.is_empty() => {
            Err(Indefinite("no mail exchanger is a host name".to_owned()))
        }
        _ => Ok(Looked::Found(records)),
    }
}

/// The exchanger of an MX record; none when it cannot be a host's name, so that no mail
/// can reach it by that name.
fn mx_host(data: &RData) -> Option<MxHost> {
    let RData::MX(mx) = data else { return None };
    let host = if mx.exchange.is_root() {
        None
    } else {
        Some(HostName::parse(&mx.exchange.to_ascii()).ok()?)
    };
    Some(MxHost {
        preference: mx.preference,
        host,
    })
}

#[cfg(test)]
mod tests;
