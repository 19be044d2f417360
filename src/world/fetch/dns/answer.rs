//! The meaning of an answer: a pure function of a message that echoes the question.
//!
//! | the message | the reading |
//! |---|---|
//! | records of the kind at the end of the alias chain | found |
//! | NXDOMAIN | the last name of the chain does not exist (RFC 6604 §3) |
//! | NOERROR, no record, SOA at or above the last name | no such record (RFC 2308 §2.2) |
//! | NOERROR, no record, no SOA, no NS, chain not followed | no such record (RFC 2308 §2.2, type 3) |
//! | NOERROR, part of a chain | ask on, for its last name |
//! | anything else: referral, alias loop, chain too long, other codes | nothing definite |
//!
//! A denial counts only from a server that is authoritative or recurses: one that is neither
//! knows nothing about the name.

use std::collections::BTreeSet;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::{DNSClass, Name, RData, Record, RecordType};

use crate::world::domain::HostName;
use crate::world::{Looked, MxHost, RecordKind, Records};

const MAX_ALIASES: usize = 8;

/// Why the answer is not definite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Indefinite(pub(super) String);

fn indefinite<T>(why: impl Into<String>) -> Result<T, Indefinite> {
    Err(Indefinite(why.into()))
}

pub(super) fn record_type(kind: RecordKind) -> RecordType {
    match kind {
        RecordKind::A => RecordType::A,
        RecordKind::Aaaa => RecordType::AAAA,
        RecordKind::Mx => RecordType::MX,
    }
}

/// The answer of a message for the last name of `chain`, a chain of aliases to which the message's own
/// aliases are added. None if the chain continues with a name that the message does not cover.
pub(super) fn read(
    message: &Message,
    chain: &mut Vec<Name>,
    kind: RecordKind,
) -> Result<Option<Looked>, Indefinite> {
    let code = message.metadata.response_code;
    if !matches!(code, ResponseCode::NoError | ResponseCode::NXDomain) {
        return indefinite(format!("the server says {code}"));
    }
    let asked = chain.len();
    let mut last = chain.last().cloned().unwrap_or_default();
    while let Some(target) = alias(message, &last) {
        if chain.contains(target) {
            return indefinite(format!("the aliases loop at {target}"));
        }
        if chain.len() > MAX_ALIASES {
            return indefinite(format!("more than {MAX_ALIASES} aliases"));
        }
        last = target.clone();
        chain.push(last.clone());
    }
    let found: Vec<&RData> = records_of(message, &last)
        .filter(|data| data.record_type() == record_type(kind))
        .collect();
    let denied = code == ResponseCode::NXDomain;
    match (found.is_empty(), denied) {
        (false, false) => found_records(&found, kind).map(Some),
        (false, true) => indefinite("the server denies the name and gives records of it"),
        (true, _) if !knows(message) => {
            indefinite("the server is neither authoritative nor recursive")
        }
        (true, true) => Ok(Some(Looked::NoSuchName)),
        (true, false) => no_record(message, &last, chain.len() > asked),
    }
}

fn no_record(message: &Message, last: &Name, led: bool) -> Result<Option<Looked>, Indefinite> {
    let of_type = |wanted: RecordType| {
        let authorities = message.authorities.iter();
        authorities.filter(move |record| record.record_type() == wanted)
    };
    if of_type(RecordType::SOA).any(|soa| soa.name.zone_of(last)) {
        Ok(Some(Looked::NoData))
    } else if led {
        Ok(None)
    } else if of_type(RecordType::NS).next().is_some() {
        indefinite("the server only refers to others")
    } else if of_type(RecordType::SOA).next().is_some() {
        indefinite("the server speaks for a zone that the name is not in")
    } else {
        Ok(Some(Looked::NoData))
    }
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
    match kind {
        RecordKind::A | RecordKind::Aaaa => {
            let addresses = sorted(found.iter().filter_map(|data| data.ip_addr()));
            if addresses.is_empty() {
                return indefinite("the records hold no address");
            }
            Ok(Looked::Found(Records::Addresses(addresses)))
        }
        RecordKind::Mx => {
            let hosts = sorted(found.iter().filter_map(|data| mx_host(data)));
            if hosts.is_empty() {
                return indefinite("no mail exchanger is a host name");
            }
            Ok(Looked::Found(Records::Mx(hosts)))
        }
    }
}

fn sorted<T: Ord>(found: impl Iterator<Item = T>) -> Vec<T> {
    let found: BTreeSet<T> = found.collect();
    found.into_iter().collect()
}

/// The exchanger of an MX record; none if it is not a valid host name, because no mail can reach it.
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
