//! The system's name servers.

use std::net::SocketAddr;

use hickory_resolver::system_conf::read_system_conf;

/// The port of DNS (RFC 1035 §4.2).
const PORT: u16 = 53;

/// The name servers that the system is set up with; its search list and options are left out.
pub(super) fn of_the_system() -> Result<Vec<SocketAddr>, String> {
    let (config, _options) = read_system_conf().map_err(|error| {
        format!(
            "the system's name servers cannot be read ({error}); \
             scan with --dns-server ADDR:PORT to name one"
        )
    })?;
    let addresses = config.name_servers().iter().map(|server| server.ip);
    Ok(addresses.map(|ip| SocketAddr::new(ip, PORT)).collect())
}
