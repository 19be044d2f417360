//! A small world on loopback for tests: web servers, a DNS server and a certificate authority.
//!
//! ```ignore
//! let net = TestNet::start();
//! net.host("www.acme.co.kr"); // DNS: 127.0.0.1
//! net.web.page("www.acme.co.kr", "/contact", "<p>info@acme.co.kr</p>");
//! net.dns.mx("acme.co.kr", 10, "mail.acme.co.kr");
//! let url = net.web.url("www.acme.co.kr", "/contact"); // http://www.acme.co.kr:PORT/contact
//! assert_eq!(net.web.count("www.acme.co.kr", "/contact"), 0);
//! ```
//!
//! Servers run on threads of their own and end with the process; what they were asked can be
//! read from them at any time.

pub mod chat;
pub mod dns;
pub mod http;
pub mod proxy;
pub mod tls;

use std::net::{SocketAddr, TcpListener};

use comail::world::fetch::settings::{Limits, NetworkSettings};

use dns::DnsServer;
use http::WebServer;
use tls::Authority;

/// The address that every server of a [`TestNet`] listens on.
pub const HERE: &str = "127.0.0.1";

/// One web server in the clear, one with TLS, and the DNS that leads to both.
pub struct TestNet {
    pub web: WebServer,
    /// The web with TLS; its certificates are issued by `authority` for whatever is asked for.
    pub tls: WebServer,
    pub dns: DnsServer,
    pub authority: Authority,
}

impl TestNet {
    /// A net of which nothing is known yet: every name is NXDOMAIN, every page 404.
    pub fn start() -> Self {
        let authority = Authority::new();
        Self {
            web: WebServer::start(),
            tls: WebServer::start_tls(authority.server_config()),
            dns: DnsServer::start(),
            authority,
        }
    }

    /// Lets `name` lead to the web servers.
    pub fn host(&self, name: &str) {
        self.dns.host(name, HERE);
    }

    /// Settings with which this net is the world: its DNS, its CA, loopback allowed, no gap
    /// between requests, and limits that no test waits long for.
    pub fn settings(&self) -> NetworkSettings {
        NetworkSettings {
            dns_servers: vec![self.dns.address()],
            allow_net: vec!["127.0.0.1/32".parse().expect("a network")],
            ca_certs_pem: vec![self.authority.pem()],
            min_gap_ms: 0,
            limits: Limits {
                connect_ms: 2_000,
                request_ms: 4_000,
                submission_ms: 20_000,
                dns_ms: 2_000,
                body_bytes: 100_000,
                tries: 2,
                backoff_ms: 1,
            },
            ..NetworkSettings::default()
        }
    }
}

/// An address of this host at which nothing listens.
pub fn closed_port() -> SocketAddr {
    listen().1
}

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((HERE, 0)).expect("loopback has a free port");
    let address = listener.local_addr();
    (listener, address.expect("a bound listener has an address"))
}
