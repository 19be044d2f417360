//! The addresses that may be connected to: public ones, and those in networks that the operator
//! allowed.
//!
//! The tables are taken from IANA's special-purpose address registries (RFC 6890). An IPv6
//! address that embeds an IPv4 one (mapped, compatible, NAT64, 6to4, Teredo) is always refused: a
//! public host is reached by its own address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

const CLOSED_V4: [Ipv4Net; 15] = [
    v4([0, 0, 0, 0], 8),       // this network, unspecified (RFC 791 §3.2)
    v4([10, 0, 0, 0], 8),      // private (RFC 1918)
    v4([100, 64, 0, 0], 10),   // shared by carriers, CGNAT (RFC 6598)
    v4([127, 0, 0, 0], 8),     // loopback (RFC 1122 §3.2.1.3)
    v4([169, 254, 0, 0], 16),  // link-local, cloud metadata (RFC 3927)
    v4([172, 16, 0, 0], 12),   // private (RFC 1918)
    v4([192, 0, 0, 0], 24),    // IETF protocol assignments (RFC 6890 §2.1)
    v4([192, 0, 2, 0], 24),    // documentation (RFC 5737)
    v4([192, 88, 99, 0], 24),  // 6to4 relays, deprecated (RFC 7526)
    v4([192, 168, 0, 0], 16),  // private (RFC 1918)
    v4([198, 18, 0, 0], 15),   // benchmarking (RFC 2544)
    v4([198, 51, 100, 0], 24), // documentation (RFC 5737)
    v4([203, 0, 113, 0], 24),  // documentation (RFC 5737)
    v4([224, 0, 0, 0], 4),     // multicast (RFC 5771)
    v4([240, 0, 0, 0], 4),     // reserved, limited broadcast (RFC 1112 §4, RFC 919)
];

/// The only IPv6 network with public hosts (RFC 4291 §2.4, IANA's allocations).
///
/// Outside it are unspecified, loopback, mapped (`::ffff:0:0/96`), compatible (`::/96`),
/// NAT64 (`64:ff9b::/96`, `64:ff9b:1::/48`), discard (`100::/64`), unique local (`fc00::/7`),
/// link-local (`fe80::/10`), site-local (`fec0::/10`) and multicast (`ff00::/8`) addresses.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0], 3);

/// IPv6 networks inside [`GLOBAL_V6`] without public hosts.
const CLOSED_V6: [Ipv6Net; 4] = [
    v6([0x2001, 0, 0], 23), // protocol assignments, Teredo, benchmarking (RFC 2928)
    v6([0x2001, 0xdb8, 0], 32), // documentation (RFC 3849)
    v6([0x2002, 0, 0], 16), // 6to4 (RFC 3056)
    v6([0x3fff, 0, 0], 20), // documentation (RFC 9637)
];

/// Whether `address` may be connected to: it is public, or in a network of `allow`.
///
/// An IPv6 address is compared only with the IPv6 networks of `allow`: an allowed IPv4 network does
/// not allow the IPv6 addresses that embed it.
pub fn permitted(address: IpAddr, allow: &[IpNet]) -> bool {
    allow.iter().any(|net| net.contains(&address))
        || match address {
            IpAddr::V4(address) => !CLOSED_V4.iter().any(|net| net.contains(&address)),
            IpAddr::V6(address) => {
                GLOBAL_V6.contains(&address) && !CLOSED_V6.iter().any(|net| net.contains(&address))
            }
        }
}

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(head: [u16; 3], prefix: u8) -> Ipv6Net {
    let [a, b, c] = head;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

#[cfg(test)]
mod tests;
