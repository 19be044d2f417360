//! Whether a domain takes mail, as far as DNS says.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::{Looked, MxHost, RecordKind, Records, Resolver};

/// The most MX hosts that are asked for; a sender should try two at least (RFC 5321 §5.1).
pub const MAX_MX_HOSTS: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakesMail {
    /// An MX host has an address that may be connected to.
    Yes,
    /// It says that it takes none (RFC 7505).
    Null,
    /// It has no MX, but an address (RFC 5321 §5.1).
    Implicit,
    No {
        why: String,
        /// How many of its MX hosts do not exist; one where it has none.
        hosts: u32,
    },
    /// DNS gave no definite answer, and why.
    Unknown(String),
}

/// Asks whether `domain` takes mail; addresses of `allow` count as public.
pub fn takes_mail(resolver: &dyn Resolver, domain: &HostName, allow: &[IpNet]) -> TakesMail {
    let asked = Asked { resolver, allow };
    match resolver.lookup(domain, RecordKind::Mx) {
        Looked::Found(Records::Mx(hosts)) if !hosts.is_empty() => asked.of_hosts(hosts),
        Looked::Found(Records::Mx(_)) | Looked::NoData => asked.without_mx(domain),
        Looked::NoSuchName => no("the domain does not exist"),
        Looked::Unanswered(why) => TakesMail::Unknown(why.to_string()),
        Looked::Found(Records::Addresses(_)) => {
            TakesMail::Unknown("asked for MX, told addresses".to_owned())
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Behind {
    Reachable,
    Unanswered(String),
    Closed,
    Nothing,
}

struct Asked<'a> {
    resolver: &'a dyn Resolver,
    allow: &'a [IpNet],
}

impl Asked<'_> {
    fn of_hosts(&self, mut hosts: Vec<MxHost>) -> TakesMail {
        hosts.sort();
        let mut names: Vec<&HostName> = Vec::new();
        for name in hosts.iter().filter_map(|mx| mx.host.as_ref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            return TakesMail::Null;
        }
        let mut doubt = (names.len() > MAX_MX_HOSTS).then(|| {
            format!(
                "{} MX hosts, of which {MAX_MX_HOSTS} are asked for",
                names.len()
            )
        });
        for name in names.iter().take(MAX_MX_HOSTS) {
            match self.behind(name) {
                Behind::Reachable => return TakesMail::Yes,
                Behind::Unanswered(why) => doubt = Some(format!("{name}: {why}")),
                Behind::Closed => {
                    doubt.get_or_insert_with(|| format!("{name} has no public address"));
                }
                Behind::Nothing => {}
            }
        }
        match doubt {
            Some(doubt) => TakesMail::Unknown(doubt),
            None => TakesMail::No {
                why: format!("no MX host exists: {}", listed(&names)),
                hosts: u32::try_from(names.len()).unwrap_or(u32::MAX),
            },
        }
    }

    fn without_mx(&self, domain: &HostName) -> TakesMail {
        match self.behind(domain) {
            Behind::Reachable => TakesMail::Implicit,
            Behind::Unanswered(why) => TakesMail::Unknown(why),
            Behind::Closed => TakesMail::Unknown("no MX, and no public address".to_owned()),
            Behind::Nothing => no("neither MX nor address"),
        }
    }

    /// Asks for A, and for AAAA unless the answer to A settles it.
    fn behind(&self, name: &HostName) -> Behind {
        let mut found = Behind::Nothing;
        for kind in [RecordKind::A, RecordKind::Aaaa] {
            match self.resolver.lookup(name, kind) {
                Looked::Found(Records::Addresses(addresses)) if !addresses.is_empty() => {
                    let reachable = |address: &IpAddr| permitted(*address, self.allow);
                    if addresses.iter().any(reachable) {
                        return Behind::Reachable;
                    }
                    if found == Behind::Nothing {
                        found = Behind::Closed;
                    }
                }
                Looked::Found(Records::Mx(_)) => {
                    found = Behind::Unanswered("asked for addresses, told MX".to_owned());
                }
                Looked::Unanswered(why) => found = Behind::Unanswered(why.to_string()),
                Looked::Found(_) | Looked::NoData | Looked::NoSuchName => {}
            }
        }
        found
    }
}

fn no(why: &str) -> TakesMail {
    TakesMail::No {
        why: why.to_owned(),
        hosts: 1,
    }
}

fn listed(names: &[&HostName]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
