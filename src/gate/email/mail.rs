//! Step 6, `mail`: does the address's domain take mail, as far as DNS says?

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use ipnet::IpNet;

use super::step::{Context, EMAIL, Step};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::{Looked, MxHost, RecordKind, Records, Resolver};

/// The most MX hosts that are asked for; a sender should try two at least (RFC 5321 §5.1).
const MAX_MX_HOSTS: usize = 10;

pub static STEP: Step = Step {
    name: "email-mail",
    cost: Cost::Dns,
    // It shows nothing of the company, since every domain of a provider accepts mail.
    verifies: Verifies::Form,
    keys: &["email"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let Some(email) = &context.email else {
        return Vec::new();
    };
    let domain = email.domain();
    let dns = Dns {
        resolver: context.base.world.resolver,
        allow: &context.base.settings.allow_net,
    };
    let fault = dns.fault(domain);
    let fault = fault.map(|fact| fact.on(EMAIL).at(domain.as_str()));
    fault.into_iter().collect()
}

fn missing(why: impl Into<String>) -> Fact {
    Fact::new("mx-missing", "a domain that accepts mail", why)
}

fn unanswered(why: impl Into<String>) -> Fact {
    Fact::new("mx-unanswered", "a definite answer of DNS", why)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Behind {
    Reachable,
    Unanswered(String),
    Closed,
    Nothing,
}

struct Dns<'a> {
    resolver: &'a dyn Resolver,
    /// Addresses of these networks count as public.
    allow: &'a [IpNet],
}

impl Dns<'_> {
    /// Why `domain` may take no mail; none where one of its MX hosts has a public address.
    fn fault(&self, domain: &HostName) -> Option<Fact> {
        Some(match self.resolver.lookup(domain, RecordKind::Mx) {
            Looked::Found(Records::Mx(hosts)) if !hosts.is_empty() => return self.of_hosts(hosts),
            Looked::Found(Records::Mx(_)) | Looked::NoData => match self.behind(domain) {
                // A host without MX may take mail itself (RFC 5321 §5.1).
                Behind::Reachable => Fact::new(
                    "mx-implicit",
                    "an MX record",
                    "no MX record, only an address",
                ),
                Behind::Unanswered(why) => unanswered(why),
                Behind::Closed => unanswered("no MX, and no public address"),
                Behind::Nothing => missing("neither MX nor address"),
            },
            Looked::NoSuchName => missing("the domain does not exist"),
            Looked::Unanswered(why) => unanswered(why.to_string()),
            Looked::Found(Records::Addresses(_)) => unanswered("asked for MX, but got addresses"),
        })
    }

    fn of_hosts(&self, mut hosts: Vec<MxHost>) -> Option<Fact> {
        hosts.sort();
        let mut names: Vec<&HostName> = Vec::new();
        for name in hosts.iter().filter_map(|mx| mx.host.as_ref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() {
            // The domain says that it takes none (RFC 7505).
            return Some(Fact::new("mx-null", "an MX host", "a null MX alone"));
        }
        let count = names.len();
        let mut doubt = (count > MAX_MX_HOSTS)
            .then(|| format!("{count} MX hosts, of which {MAX_MX_HOSTS} are asked for"));
        for name in names.iter().take(MAX_MX_HOSTS) {
            match self.behind(name) {
                Behind::Reachable => return None,
                Behind::Unanswered(why) => doubt = Some(format!("{name}: {why}")),
                Behind::Closed => {
                    doubt.get_or_insert_with(|| format!("{name} has no public address"));
                }
                Behind::Nothing => {}
            }
        }
        let none = || {
            let why = format!("no MX host exists: {}", listed(&names));
            missing(why).times(u32::try_from(count).unwrap_or(u32::MAX))
        };
        Some(doubt.map_or_else(none, unanswered))
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
                    found = Behind::Unanswered("asked for addresses, but got MX".to_owned());
                }
                Looked::Unanswered(why) => found = Behind::Unanswered(why.to_string()),
                Looked::Found(_) | Looked::NoData | Looked::NoSuchName => {}
            }
        }
        found
    }
}

fn listed(names: &[&HostName]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
