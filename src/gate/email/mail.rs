//! Step 6, `mail`: does the address's domain take mail?

use std::net::IpAddr;

use super::context::{Context, EMAIL};
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::world::address_guard::permitted;
use crate::world::domain::HostName;
use crate::world::{Looked, MxHost, RecordKind, Records};

/// The most MX hosts that are asked for; a sender should try two at least (RFC 5321 §5.1).
const MAX_MX_HOSTS: usize = 10;

const RULES: &[Rule] = &[
    Rule::known(
        "mx-missing",
        Level::Fail,
        "the domain does not exist, has neither MX nor address, or every MX host does not exist",
        "submit an address of a domain that takes mail",
    ),
    Rule::known(
        "mx-null",
        Level::Fail,
        "the domain says that it takes no mail (RFC 7505)",
        "submit an address of a domain that takes mail",
    ),
    Rule::known(
        "mx-implicit",
        Level::Review,
        "the domain has no MX, but an address (RFC 5321 §5.1)",
        "submit an address of a domain with an MX record, if the company has one",
    ),
    Rule::known(
        "mx-unanswered",
        Level::Review,
        "DNS gave no definite answer, or no public address behind any MX",
        "nothing for the agent to change: a person looks again later",
    ),
];

/// Step 6.
pub struct Mail;

impl Check<Context<'_>> for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn cost(&self) -> Cost {
        Cost::Dns
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(email) = &context.email else {
            return Vec::new();
        };
        let domain = email.domain();
        let finding = match context.world.resolver.lookup(domain, RecordKind::Mx) {
            Looked::Found(Records::Mx(hosts)) if !hosts.is_empty() => {
                of_hosts(context, domain, hosts)
            }
            Looked::Found(Records::Mx(_)) | Looked::NoData => Some(without_mx(context, domain)),
            Looked::NoSuchName => Some(missing(domain, "the domain does not exist")),
            Looked::Unanswered(why) => Some(unanswered(domain, why.to_string())),
            Looked::Found(Records::Addresses(_)) => {
                Some(unanswered(domain, "asked for MX, told addresses"))
            }
        };
        finding.into_iter().collect()
    }
}

/// What is known of the addresses behind a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Behind {
    /// An address that may be connected to.
    Reachable,
    /// No definite answer.
    Unanswered(String),
    /// Addresses, and none that may be connected to.
    Closed,
    /// No address, or no such name.
    Nothing,
}

fn of_hosts(context: &Context<'_>, domain: &HostName, mut hosts: Vec<MxHost>) -> Option<Finding> {
    hosts.sort();
    let mut names: Vec<&HostName> = Vec::new();
    for name in hosts.iter().filter_map(|mx| mx.host.as_ref()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        let finding = Finding::new("mx-null", "an MX host", "a null MX alone");
        return Some(finding.on(EMAIL).at(domain.as_str()));
    }
    let mut doubt = (names.len() > MAX_MX_HOSTS).then(|| {
        format!(
            "{} MX hosts, of which {MAX_MX_HOSTS} are asked for",
            names.len()
        )
    });
    for name in names.iter().take(MAX_MX_HOSTS) {
        match behind(context, name) {
            Behind::Reachable => return None,
            Behind::Unanswered(why) => doubt = Some(format!("{name}: {why}")),
            Behind::Closed => {
                doubt.get_or_insert_with(|| format!("{name} has no public address"));
            }
            Behind::Nothing => {}
        }
    }
    Some(match doubt {
        Some(doubt) => unanswered(domain, doubt),
        None => missing(domain, format!("no MX host exists: {}", listed(&names)))
            .times(u32::try_from(names.len()).unwrap_or(u32::MAX)),
    })
}

fn without_mx(context: &Context<'_>, domain: &HostName) -> Finding {
    match behind(context, domain) {
        Behind::Reachable => Finding::new("mx-implicit", "an MX record", "none, but an address")
            .on(EMAIL)
            .at(domain.as_str()),
        Behind::Unanswered(why) => unanswered(domain, why),
        Behind::Closed => unanswered(domain, "no MX, and no public address"),
        Behind::Nothing => missing(domain, "neither MX nor address"),
    }
}

/// Asks for A, and for AAAA unless the answer to A settles it.
fn behind(context: &Context<'_>, name: &HostName) -> Behind {
    let mut found = Behind::Nothing;
    for kind in [RecordKind::A, RecordKind::Aaaa] {
        match context.world.resolver.lookup(name, kind) {
            Looked::Found(Records::Addresses(addresses)) if !addresses.is_empty() => {
                let allow = context.settings.allow_net;
                let reachable = |address: &IpAddr| permitted(*address, allow);
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

fn missing(domain: &HostName, actual: impl Into<String>) -> Finding {
    Finding::new("mx-missing", "a domain that takes mail", actual)
        .on(EMAIL)
        .at(domain.as_str())
}

fn unanswered(domain: &HostName, actual: impl Into<String>) -> Finding {
    Finding::new("mx-unanswered", "a definite answer of DNS", actual)
        .on(EMAIL)
        .at(domain.as_str())
}

fn listed(names: &[&HostName]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(|name| name.as_str()).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests;
