//! The network settings that `scan` froze: nothing an agent passes later changes them.

use std::net::SocketAddr;
use std::time::Duration;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use url::Url;

/// How the world is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// The name servers; empty for those of the system's `resolv.conf`.
    pub dns_servers: Vec<SocketAddr>,
    /// Networks that may be connected to although they are not public.
    pub allow_net: Vec<IpNet>,
    /// Further certificate authorities, as PEM text; the compiled-in roots always hold.
    pub ca_certs_pem: Vec<String>,
    /// An HTTP proxy, which then resolves names itself.
    pub proxy: Option<Url>,
    /// The least time between two requests to one host.
    pub min_gap_ms: u64,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// Whether robots.txt is obeyed.
    pub robots: RobotsPolicy,
    /// The limits of one lookup.
    pub limits: Limits,
}

impl NetworkSettings {
    /// Whether `other` gets its answers from the same world: the same resolvers, networks,
    /// authorities and proxy. How patiently and politely it asks is another matter.
    #[must_use]
    pub fn asks_as(&self, other: &Self) -> bool {
        self.dns_servers == other.dns_servers
            && self.allow_net == other.allow_net
            && self.ca_certs_pem == other.ca_certs_pem
            && self.proxy == other.proxy
    }
}

/// Whether robots.txt is obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsPolicy {
    /// As RFC 9309 says.
    Obey,
    /// Not asked for; the operator's own choice.
    Ignore,
}

/// Bounds of lookups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Setting up one connection.
    pub connect_ms: u64,
    /// One exchange, from its start to the last byte.
    pub request_ms: u64,
    /// All lookups of one submission, with their retries.
    pub submission_ms: u64,
    /// One DNS question to one server.
    pub dns_ms: u64,
    /// A body after decompression.
    pub body_bytes: u64,
    /// How often a lookup that brings no answer is made in all.
    pub tries: u32,
    /// The wait before the second try; it doubles for each further one.
    pub backoff_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_ms: 5_000,
            request_ms: 20_000,
            submission_ms: 75_000,
            dns_ms: 3_000,
            body_bytes: 5 * 1024 * 1024,
            tries: 3,
            backoff_ms: 500,
        }
    }
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            dns_servers: Vec::new(),
            allow_net: Vec::new(),
            ca_certs_pem: Vec::new(),
            proxy: None,
            min_gap_ms: 1_000,
            user_agent: format!(
                "comail/{} (verifies published company contacts; contact: the operator)",
                env!("CARGO_PKG_VERSION")
            ),
            robots: RobotsPolicy::Obey,
            limits: Limits::default(),
        }
    }
}

impl NetworkSettings {
    /// The least time between two requests to one host.
    #[must_use]
    pub fn min_gap(&self) -> Duration {
        Duration::from_millis(self.min_gap_ms)
    }
}
