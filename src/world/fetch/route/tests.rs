//! Which addresses a connection may go to.

use super::*;
use crate::base::rows;
use crate::world::MockResolver;

fn found(addresses: &[&str]) -> Looked {
    let parse = |text: &&str| text.parse().expect("the tests' addresses are well-formed");
    Looked::Found(Records::Addresses(addresses.iter().map(parse).collect()))
}

fn unanswered() -> Looked {
    Looked::Unanswered(Unanswered::new(UnansweredKind::Dns, "SERVFAIL"))
}

fn parse(url: &str) -> Url {
    Url::parse(url).expect("the tests' URLs are well-formed")
}

/// Why there is no answer; none where there is no such host.
fn silence(fetched: &Fetched) -> Option<UnansweredKind> {
    match fetched {
        Fetched::Unanswered(why) => Some(why.silence),
        _ => None,
    }
}

fn literal(url: &str) -> Result<Vec<IpAddr>, Option<UnansweredKind>> {
    let routed = addresses(
        &parse(url),
        &MockResolver::new(),
        &NetworkSettings::default(),
    );
    routed.map_err(|fetched| silence(&fetched))
}

#[test]
fn the_records_of_a_name_decide_where_to_connect() {
    use UnansweredKind::{Dns, PrivateAddress};
    let one = || found(&["1.1.1.1"]);
    let first: IpAddr = [1, 1, 1, 1].into();
    let second: IpAddr = [0x2606, 0, 0, 0, 0, 0, 0, 1].into();
    let mixed = (
        found(&["10.0.0.1", "1.1.1.1"]),
        found(&["2606::1", "fc00::1"]),
    );
    let private = (found(&["127.0.0.1"]), found(&["::ffff:1.1.1.1"]));
    for (case, (a, aaaa), expected) in rows! {
        "private ones are left out", mixed => Ok(vec![first, second]);
        "private addresses alone", private => Err(Some(PrivateAddress));
        "no address of either kind", (Looked::NoData, Looked::NoData) => Err(None);
        "no such name", (Looked::NoSuchName, unanswered()) => Err(None);
        "no answer for AAAA", (Looked::NoData, unanswered()) => Err(Some(Dns));
        "no answer for A", (unanswered(), Looked::NoData) => Err(Some(Dns));
        "half an answer", (one(), unanswered()) => Err(Some(Dns));
        "a name that is denied after its address", (one(), Looked::NoSuchName) => Ok(vec![first]);
    } {
        let mut resolver = MockResolver::new();
        resolver
            .expect_lookup()
            .returning(move |_, kind| match kind {
                RecordKind::A => a.clone(),
                _ => aaaa.clone(),
            });
        let routed = addresses(
            &parse("http://acme.test/"),
            &resolver,
            &NetworkSettings::default(),
        );
        assert_eq!(
            routed.map_err(|fetched| silence(&fetched)),
            expected,
            "{case}"
        );
    }
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
    let private = Err(Some(UnansweredKind::PrivateAddress));
    for url in PRIVATE_LITERALS {
        assert_eq!(literal(url), private, "{url}");
    }
    assert_eq!(literal("http://0x01010101/"), Ok(vec![[1, 1, 1, 1].into()]));
    let too_long = format!("http://{}.test/", "a".repeat(64));
    assert_eq!(literal(&too_long), Err(Some(UnansweredKind::Dns)));
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
        let refused = route(url).map_err(|fetched| silence(&fetched));
        assert_eq!(refused, Err(Some(UnansweredKind::PrivateAddress)), "{url}");
    }
}
