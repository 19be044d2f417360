//! Answers of DNS, definite and not.

use crate::base::rows;
use std::net::{IpAddr, Ipv4Addr};

use hickory_resolver::proto::op::{MessageType, OpCode};
use hickory_resolver::proto::rr::rdata::{A, CNAME, MX, NS, SOA};
use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    Name::from_ascii(text).expect("the tests' names are well-formed")
}

fn message(code: ResponseCode) -> Message {
    let mut message = Message::new(1, MessageType::Response, OpCode::Query);
    message.metadata.response_code = code;
    message.metadata.recursion_available = true;
    message
}

fn record(owner: &str, data: RData) -> Record {
    Record::from_rdata(name(owner), 60, data)
}

fn a(owner: &str) -> Record {
    record(owner, RData::A(A(Ipv4Addr::new(192, 0, 2, 1))))
}

fn cname(owner: &str, target: &str) -> Record {
    record(owner, RData::CNAME(CNAME(name(target))))
}

fn soa(zone: &str) -> Record {
    let soa = SOA::new(name("ns.test."), name("host.test."), 1, 1, 1, 1, 1);
    record(zone, RData::SOA(soa))
}

fn read_of(asked: &str, message: &Message, kind: RecordKind) -> Result<Option<Looked>, Indefinite> {
    read(message, &mut vec![name(asked)], kind)
}

const WWW: &str = "www.acme.test.";

fn answered(code: ResponseCode, answers: Vec<Record>, authorities: Vec<Record>) -> Message {
    let mut message = message(code);
    message.add_answers(answers);
    message.add_authorities(authorities);
    message
}

#[test]
fn only_a_definite_answer_counts() {
    use ResponseCode::{FormErr, NXDomain, NoError, NotImp, Refused, ServFail};
    let address = IpAddr::from([192, 0, 2, 1]);
    let found = || Some(Some(Looked::Found(Records::Addresses(vec![address]))));
    let (no_data, no_name) = (Some(Some(Looked::NoData)), Some(Some(Looked::NoSuchName)));
    let mx = || record(WWW, RData::MX(MX::new(1, name("mx.test."))));
    let ns = || record("acme.test.", RData::NS(NS(name("ns.acme.test."))));
    let cdn = || cname(WWW, "CDN.test.");
    let around = vec![cname(WWW, "b.test."), cname("b.test.", WWW)];
    let chain = vec![a("end.test."), cname("cdn.test.", "end.test."), cdn()];
    for (case, code, answers, authorities, expected) in rows! {
        "an address, whatever the case of its owner", NoError, vec![a("WWW.acme.test.")], vec![]
            => found();
        "another name's, and another kind", NoError, vec![a("www.evil.test."), mx()], vec![]
            => no_data.clone();
        "NXDOMAIN", NXDomain, vec![], vec![] => no_name.clone();
        "NXDOMAIN of an alias's target", NXDomain, vec![cdn()], vec![] => no_name;
        "NXDOMAIN with records of the name", NXDomain, vec![a(WWW)], vec![] => None;
        "a referral", NoError, vec![], vec![ns()] => None;
        "a referral with the zone's SOA", NoError, vec![], vec![ns(), soa("acme.test.")]
            => no_data.clone();
        "the SOA of another zone", NoError, vec![], vec![soa("evil.test.")] => None;
        "part of a chain", NoError, vec![cdn()], vec![] => Some(None);
        "part of a chain, its end denied", NoError, vec![cdn()], vec![soa("test.")] => no_data;
        "a chain in any order", NoError, chain, vec![] => found();
        "a loop", NoError, around, vec![] => None;
        "SERVFAIL", ServFail, vec![], vec![] => None;
        "REFUSED", Refused, vec![], vec![] => None;
        "FORMERR", FormErr, vec![], vec![] => None;
        "NOTIMP", NotImp, vec![], vec![] => None;
    } {
        let message = answered(code, answers, authorities);
        assert_eq!(
            read_of(WWW, &message, RecordKind::A).ok(),
            expected,
            "{case}"
        );
    }
}

#[test]
fn a_denial_needs_an_authoritative_or_recursive_server() {
    for code in [ResponseCode::NXDomain, ResponseCode::NoError] {
        let mut message = message(code);
        message.metadata.recursion_available = false;
        assert!(read_of(WWW, &message, RecordKind::A).is_err(), "{code}");
        message.metadata.authoritative = true;
        assert!(read_of(WWW, &message, RecordKind::A).is_ok(), "{code}");
    }
}

#[test]
fn long_chains_are_not_answers() {
    let read_chain = |length: usize| {
        let step = |n: usize| match n {
            0 => WWW.to_owned(),
            _ => format!("n{n}.test."),
        };
        let mut answers: Vec<_> = (0..length).map(|n| cname(&step(n), &step(n + 1))).collect();
        answers.push(a(&step(length)));
        let message = answered(ResponseCode::NoError, answers, vec![]);
        read_of(WWW, &message, RecordKind::A)
    };
    assert!(read_chain(MAX_ALIASES).is_ok());
    assert!(read_chain(MAX_ALIASES + 1).is_err());
}

#[test]
fn exchangers_are_sorted_and_invalid_hosts_left_out() {
    let read_mx = |hosts: &[(u16, &str)]| {
        let mx = |(preference, host): &(u16, &str)| {
            record("acme.test.", RData::MX(MX::new(*preference, name(host))))
        };
        let answers = hosts.iter().map(mx).collect();
        let message = answered(ResponseCode::NoError, answers, vec![]);
        read_of("acme.test.", &message, RecordKind::Mx)
    };
    let host = |text: &str| HostName::parse(text).ok();
    let expected = [(0, None), (10, host("a.test")), (20, host("b.test"))];
    let hosts = expected.map(|(preference, host)| MxHost { preference, host });
    let found = Looked::Found(Records::Mx(hosts.to_vec()));
    let all = [
        (20, "b.test."),
        (10, "A.test."),
        (0, "."),
        (5, "no-host-.test."),
    ];
    assert_eq!(read_mx(&all), Ok(Some(found)));
    assert!(read_mx(&[(5, "x-.test.")]).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(message) = Message::from_vec(&bytes) {
            let _ = read_of(WWW, &message, RecordKind::A);
        }
    }
}
