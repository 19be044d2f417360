//! Which addresses a connection may go to.

use super::*;
use crate::world::MockResolver;

fn found(addresses: &[&str]) -> Looked {
    let parse = |text: &&str| text.parse().expect("the tests' addresses are well-formed");
    Looked::Found(Records::Addresses(addresses.iter().map(parse).collect()))
}

fn unanswered() -> Looked {
    Looked::Unanswered(Unanswered::new(UnansweredKind::Dns, "SERVFAIL"))
}

fn route(url: &str, a: Looked, aaaa: Looked) -> Result<Vec<IpAddr>, Fetched> {
    let mut resolver = MockResolver::new();
    resolver
        .expect_lookup()
        .returning(move |_, kind| match kind {
            RecordKind::A => a.clone(),
            _ => aaaa.clone(),
        });
    addresses(&parse(url), &resolver, &NetworkSettings::default())
}

fn parse(url: &str) -> Url {
    Url::parse(url).expect("the tests' URLs are well-formed")
}

fn silence(routed: Result<Vec<IpAddr>, Fetched>) -> Option<UnansweredKind> {
    match routed {
        Err(Fetched::Unanswered(why)) => Some(why.silence),
        _ => None,
    }
}

#[test]
fn both_kinds_of_address_are_used_and_private_ones_left_out() {
    let routed = route(
        "http://acme.test/",
        found(&["10.0.0.1", "1.1.1.1"]),
        found(&["2606::1", "fc00::1"]),
    );
    let expected: [IpAddr; 2] = [[1, 1, 1, 1].into(), [0x2606, 0, 0, 0, 0, 0, 0, 1].into()];
    assert_eq!(routed, Ok(expected.to_vec()));
}

#[test]
fn private_addresses_alone_are_silence() {
    let routed = route(
        "http://acme.test/",
        found(&["127.0.0.1"]),
        found(&["::ffff:1.1.1.1"]),
    );
    assert_eq!(silence(routed), Some(UnansweredKind::PrivateAddress));
}

#[test]
fn no_address_of_either_kind_is_no_host_and_half_an_answer_is_silence() {
    let no_host = Err(Fetched::NoSuchHost);
    assert_eq!(
        route("http://acme.test/", Looked::NoData, Looked::NoData),
        no_host
    );
    assert_eq!(
        route("http://acme.test/", Looked::NoSuchName, unanswered()),
        no_host
    );
    for (a, aaaa) in [
        (Looked::NoData, unanswered()),
        (unanswered(), Looked::NoData),
        (found(&["1.1.1.1"]), unanswered()),
    ] {
        assert_eq!(
            silence(route("http://acme.test/", a, aaaa)),
            Some(UnansweredKind::Dns)
        );
    }
}

#[test]
fn a_server_that_denies_a_name_after_giving_its_address_is_not_believed() {
    let routed = route("http://acme.test/", found(&["1.1.1.1"]), Looked::NoSuchName);
    assert_eq!(routed, Ok(vec![[1, 1, 1, 1].into()]));
}

/// Every spelling of a private address that a URL has.
const PRIVATE_LITERALS: [&str; 12] = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://①②⑦.0.0.1/",
    "http://0/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::10.0.0.1]/",
];

#[test]
fn no_spelling_of_a_private_address_gets_through() {
    for url in PRIVATE_LITERALS {
        let routed = addresses(
            &parse(url),
            &MockResolver::new(),
            &NetworkSettings::default(),
        );
        assert_eq!(
            silence(routed),
            Some(UnansweredKind::PrivateAddress),
            "{url}"
        );
    }
}

#[test]
fn a_public_literal_needs_no_resolver() {
    let routed = addresses(
        &parse("http://0x01010101/"),
        &MockResolver::new(),
        &NetworkSettings::default(),
    );
    assert_eq!(routed, Ok(vec![[1, 1, 1, 1].into()]));
}

#[test]
fn a_proxy_takes_names_unresolved_and_private_literals_not_at_all() {
    let settings = NetworkSettings {
        proxy: Some(parse("http://localhost:3128/")),
        ..NetworkSettings::default()
    };
    let route = |url| addresses(&parse(url), &MockResolver::new(), &settings);
    let proxy: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    assert_eq!(route("http://acme.test/"), Ok(proxy.to_vec()));
    for url in PRIVATE_LITERALS {
        assert_eq!(
            silence(route(url)),
            Some(UnansweredKind::PrivateAddress),
            "{url}"
        );
    }
}

#[test]
fn a_host_that_dns_cannot_hold_is_not_asked_for() {
    let url = format!("http://{}.test/", "a".repeat(64));
    let routed = addresses(
        &parse(&url),
        &MockResolver::new(),
        &NetworkSettings::default(),
    );
    assert_eq!(silence(routed), Some(UnansweredKind::Dns));
}
