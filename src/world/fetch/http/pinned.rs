//! The only addresses that one connection may go to.

use std::future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Answers every name with the addresses that were checked for this connection.
///
/// Unlike an override by name it cannot be missed by another spelling of the host, such as
/// one with a trailing dot; nothing behind it asks any other resolver.
#[derive(Debug)]
pub(super) struct Pinned(Vec<IpAddr>);

impl Pinned {
    /// A resolver that knows nothing but `addresses`.
    pub(super) fn to(addresses: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self(addresses))
    }
}

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        // Port 0 stands for the URL's own.
        let addresses: Vec<_> = self.0.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        let addresses: Addrs = Box::new(addresses.into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}
