//! Every class of address that is not public, with its public neighbours.

use proptest::prelude::*;

use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().expect("the tests' addresses are well-formed")
}

fn networks(texts: &[&str]) -> Vec<IpNet> {
    let parse = |text: &&str| text.parse().expect("the tests' networks are well-formed");
    texts.iter().map(parse).collect()
}

/// Every closed class, a line each: its name, its first and last address, and the public
/// neighbours on either side, where a neighbour is not closed too.
const CLASSES: &str = "
    this network | 0.0.0.0 | 0.255.255.255 | 1.0.0.0
    private 10 | 10.0.0.0 | 10.255.255.255 | 9.255.255.255 11.0.0.0
    CGNAT | 100.64.0.0 | 100.127.255.255 | 100.63.255.255 100.128.0.0
    loopback | 127.0.0.0 | 127.255.255.255 | 126.255.255.255 128.0.0.0
    link-local | 169.254.0.0 | 169.254.255.255 | 169.253.255.255 169.255.0.0
    private 172 | 172.16.0.0 | 172.31.255.255 | 172.15.255.255 172.32.0.0
    protocol | 192.0.0.0 | 192.0.0.255 | 191.255.255.255 192.0.1.0
    documentation 1 | 192.0.2.0 | 192.0.2.255 | 192.0.1.255 192.0.3.0
    6to4 relays | 192.88.99.0 | 192.88.99.255 | 192.88.98.255 192.88.100.0
    private 192 | 192.168.0.0 | 192.168.255.255 | 192.167.255.255 192.169.0.0
    benchmarking | 198.18.0.0 | 198.19.255.255 | 198.17.255.255 198.20.0.0
    documentation 2 | 198.51.100.0 | 198.51.100.255 | 198.51.99.255 198.51.101.0
    documentation 3 | 203.0.113.0 | 203.0.113.255 | 203.0.112.255 203.0.114.0
    multicast | 224.0.0.0 | 239.255.255.255 | 223.255.255.255
    reserved | 240.0.0.0 | 255.255.255.255 |
    unspecified, loopback 6 | :: | ::1 |
    compatible | ::7f00:1 | ::808:808 |
    mapped | ::ffff:0.0.0.0 | ::ffff:255.255.255.255 |
    mapped public | ::ffff:8.8.8.8 | ::ffff:1.1.1.1 |
    NAT64 | 64:ff9b::7f00:1 | 64:ff9b::808:808 |
    local NAT64 | 64:ff9b:1:: | 64:ff9b:1:ffff:ffff:ffff:ffff:ffff |
    discard | 100:: | 100::ffff:ffff:ffff:ffff |
    below global unicast | 1fff:ffff:: | 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | 2000::
    protocol 6, Teredo | 2001:: | 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff | 2000:ffff:: 2001:200::
    documentation 6 | 2001:db8:: | 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff | 2001:db7:ffff:: 2001:db9::
    6to4 | 2002:: | 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff | 2001:ffff:: 2003::
    documentation 6 large | 3fff:: | 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff | 3ffe:ffff:: 3fff:1000::
    above global unicast | 4000:: | 5f00::1 | 3fff:ffff::
    unique local | fc00:: | fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff |
    link-local 6 | fe80:: | febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff |
    site-local | fec0:: | feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff |
    multicast 6 | ff00:: | ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff |
";

#[test]
fn every_closed_class_is_refused_and_its_public_neighbours_are_not() {
    for line in CLASSES.trim().lines() {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [class, first, last, neighbours] = parts[..] else {
            panic!("{line}");
        };
        for closed in [first, last] {
            assert!(!permitted(address(closed), &[]), "{class}: {closed}");
        }
        for open in neighbours.split_whitespace() {
            assert!(permitted(address(open), &[]), "{class}: {open}");
        }
    }
}

#[test]
fn ordinary_public_addresses_are_permitted() {
    for text in "8.8.8.8 211.115.106.1 2606:4700::1111 2a00:1450::1 2400:cb00::1".split_whitespace()
    {
        assert!(permitted(address(text), &[]), "{text}");
    }
}

#[test]
fn an_allowed_network_opens_only_itself() {
    let allow = networks(&["127.0.0.1/32", "fd00::/8"]);
    assert!(permitted(address("127.0.0.1"), &allow));
    assert!(!permitted(address("127.0.0.2"), &allow));
    assert!(permitted(address("fd12::1"), &allow));
    assert!(!permitted(address("fc12::1"), &allow));
}

#[test]
fn allowing_an_ipv4_network_does_not_allow_the_forms_that_embed_it() {
    let allow = networks(&["0.0.0.0/0"]);
    assert!(permitted(address("10.0.0.1"), &allow));
    for text in [
        "::ffff:10.0.0.1",
        "::10.0.0.1",
        "64:ff9b::10.0.0.1",
        "2002:a00:1::",
    ] {
        assert!(!permitted(address(text), &allow), "{text}");
    }
    let allow = networks(&["::ffff:10.0.0.0/104"]);
    assert!(permitted(address("::ffff:10.0.0.1"), &allow));
    assert!(!permitted(address("10.0.0.1"), &allow));
}

proptest! {
    #[test]
    fn no_form_that_embeds_an_ipv4_address_is_permitted(bits: u32) {
        let embedded = Ipv4Addr::from(bits);
        let [high, low] = [(bits >> 16) as u16, (bits & 0xffff) as u16];
        let forms = [
            embedded.to_ipv6_mapped(),
            embedded.to_ipv6_compatible(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 1),
        ];
        for form in forms {
            prop_assert!(!permitted(form.into(), &[]), "{form}");
        }
    }

    #[test]
    fn what_the_standard_library_calls_private_is_never_permitted(bits: u32) {
        let address = Ipv4Addr::from(bits);
        let closed = address.is_private() || address.is_loopback() || address.is_link_local()
            || address.is_multicast() || address.is_broadcast() || address.is_documentation()
            || address.is_unspecified();
        prop_assert!(!closed || !permitted(address.into(), &[]), "{address}");
    }
}
