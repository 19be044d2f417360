//! The network settings that `scan` froze, so that an agent cannot change them later.

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use url::Url;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// The name servers; empty for those of the system's `resolv.conf`.
    pub dns_servers: Vec<SocketAddr>,
    pub allow_net: Vec<IpNet>,
    /// Additional certificate authorities, as PEM text; the compiled-in roots are always trusted.
    pub ca_certs_pem: Vec<String>,
    pub proxy: Option<Url>,
    pub min_gap_ms: u64,
    pub user_agent: String,
    pub robots: RobotsPolicy,
    pub limits: Limits,
    /// The browser that shows pages; without one, their markup counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<PathBuf>,
}

impl NetworkSettings {
    /// Whether `other` asks the same world: with the same resolvers, networks, authorities and proxy.
    /// Time limits and pauses may differ.
    pub fn asks_as(&self, other: &Self) -> bool {
        self.dns_servers == other.dns_servers
            && self.allow_net == other.allow_net
            && self.ca_certs_pem == other.ca_certs_pem
            && self.proxy == other.proxy
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsPolicy {
    #[default]
    Obey,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub connect_ms: u64,
    pub request_ms: u64,
    pub submission_ms: u64,
    pub dns_ms: u64,
    pub body_bytes: u64,
    /// How often an unanswered lookup is made in total.
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
            browser: None,
        }
    }
}
