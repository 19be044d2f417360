//! Resolves a URL's host to the addresses that may be connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use url::{Host, Url};

use crate::world::domain::HostName;
use crate::world::fetch::address_guard::permitted;
use crate::world::fetch::settings::{Limits, NetworkSettings};
use crate::world::{Fetched, Looked, RecordKind, Records, Resolver, Unanswered, UnansweredKind};

/// The addresses to connect to for `url`: the permitted ones of its host, or those of the operator's
/// proxy. The error is the result of the fetch.
pub(super) fn addresses(
    url: &Url,
    resolver: &dyn Resolver,
    settings: &NetworkSettings,
) -> Result<Vec<IpAddr>, Fetched> {
    let own = |host: &Host<&str>| match host {
        Host::Domain(name) if settings.proxy.is_none() => resolve(name, resolver),
        // The proxy resolves it; only a literal address can be checked here.
        Host::Domain(_) => Ok(Vec::new()),
        Host::Ipv4(address) => Ok(vec![IpAddr::V4(*address)]),
        Host::Ipv6(address) => Ok(vec![IpAddr::V6(*address)]),
    };
    let host = url
        .host()
        .ok_or_else(|| unanswered(UnansweredKind::Protocol, format!("{url} has no host")))?;
    let mut found = own(&host)?;
    let known = !found.is_empty();
    found.retain(|address| permitted(*address, &settings.allow_net));
    if known && found.is_empty() {
        return Err(unanswered(
            UnansweredKind::PrivateAddress,
            format!("{host} leads to no public address"),
        ));
    }
    match &settings.proxy {
        None => Ok(found),
        Some(proxy) => of_proxy(proxy, resolver),
    }
}

/// The proxy's own addresses: the operator named it, so they may be private.
fn of_proxy(proxy: &Url, resolver: &dyn Resolver) -> Result<Vec<IpAddr>, Fetched> {
    // Only its host is named, because a proxy's URL may contain a password.
    let name = proxy.host_str().unwrap_or_default();
    let unreachable =
        |why: &str| unanswered(UnansweredKind::Dns, format!("the proxy {name}: {why}"));
    match proxy.host() {
        None => Err(unreachable("it has no host")),
        Some(Host::Ipv4(address)) => Ok(vec![address.into()]),
        Some(Host::Ipv6(address)) => Ok(vec![address.into()]),
        // RFC 6761 §6.3: never asked of DNS.
        Some(Host::Domain("localhost")) => {
            Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
        }
        Some(Host::Domain(name)) => resolve(name, resolver).map_err(|fetched| match fetched {
            Fetched::Unanswered(why) => unreachable(&why.detail),
            _ => unreachable("there is no such host"),
        }),
    }
}

/// Checks that the operator's proxy accepts a connection.
pub(super) fn connect_to_proxy(
    proxy: &Url,
    resolver: &dyn Resolver,
    limits: &Limits,
) -> Result<(), Unanswered> {
    let addresses = of_proxy(proxy, resolver).map_err(|fetched| match fetched {
        Fetched::Unanswered(why) => why,
        _ => Unanswered::new(UnansweredKind::Dns, "the proxy has no address"),
    })?;
    let port = proxy.port_or_known_default().unwrap_or_default();
    let limit = Duration::from_millis(limits.connect_ms);
    let mut why = String::from("it has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&SocketAddr::new(address, port), limit) {
            Ok(_) => return Ok(()),
            Err(error) => why = error.to_string(),
        }
    }
    let name = proxy.host_str().unwrap_or_default();
    let detail = format!("the proxy {name} accepts no connection: {why}");
    Err(Unanswered::new(UnansweredKind::Connection, detail))
}

/// The addresses of a name: A before AAAA, each with its own question.
///
/// If one question is unanswered, so is the name: the other answer alone would be incomplete, and
/// which one is missing would be chance.
fn resolve(name: &str, resolver: &dyn Resolver) -> Result<Vec<IpAddr>, Fetched> {
    let host = HostName::parse(name)
        .map_err(|error| unanswered(UnansweredKind::Dns, error.to_string()))?;
    let mut found = Vec::new();
    for kind in [RecordKind::A, RecordKind::Aaaa] {
        match resolver.lookup(&host, kind) {
            Looked::Found(Records::Addresses(addresses)) => found.extend(addresses),
            // NXDOMAIN applies to the name, not to one kind of record (RFC 8020 §2).
            Looked::NoSuchName if found.is_empty() => return Err(Fetched::NoSuchHost),
            // A server that denies the name after it returned addresses contradicts itself.
            Looked::Found(Records::Mx(_)) | Looked::NoData | Looked::NoSuchName => {}
            Looked::Unanswered(why) => return Err(Fetched::Unanswered(why)),
        }
    }
    if found.is_empty() {
        return Err(Fetched::NoSuchHost);
    }
    Ok(found)
}

fn unanswered(silence: UnansweredKind, detail: String) -> Fetched {
    Fetched::Unanswered(Unanswered::new(silence, detail))
}

#[cfg(test)]
mod tests;
