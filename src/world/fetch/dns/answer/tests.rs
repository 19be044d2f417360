//! Answers of DNS, definite and not.

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

fn read_a(message: &Message) -> Result<Reading, Indefinite> {
    read(
        message,
        &mut Aliases::of(name("www.acme.test.")),
        RecordKind::A,
    )
}

#[test]
fn an_address_is_found_whatever_the_case_of_its_owner() {
    let mut message = message(ResponseCode::NoError);
    message.add_answer(a("WWW.acme.test."));
    let address = IpAddr::from([192, 0, 2, 1]);
    let found = Looked::Found(Records::Addresses(vec![address]));
    assert_eq!(read_a(&message), Ok(Reading::Definite(found)));
}

#[test]
fn an_address_of_another_name_or_kind_is_not_an_answer() {
    let mut message = message(ResponseCode::NoError);
    message.add_answer(a("www.evil.test."));
    message.add_answer(record(
        "www.acme.test.",
        RData::MX(MX::new(1, name("mx.test."))),
    ));
    assert_eq!(read_a(&message), Ok(Reading::Definite(Looked::NoData)));
}

#[test]
fn nxdomain_denies_the_name_and_the_end_of_its_aliases() {
    let mut message = message(ResponseCode::NXDomain);
    assert_eq!(read_a(&message), Ok(Reading::Definite(Looked::NoSuchName)));
    message.add_answer(cname("www.acme.test.", "gone.test."));
    assert_eq!(read_a(&message), Ok(Reading::Definite(Looked::NoSuchName)));
}

#[test]
fn nxdomain_with_records_of_the_name_contradicts_itself() {
    let mut message = message(ResponseCode::NXDomain);
    message.add_answer(a("www.acme.test."));
    assert!(read_a(&message).is_err());
}

#[test]
fn a_server_that_neither_owns_nor_recurses_denies_nothing() {
    for code in [ResponseCode::NXDomain, ResponseCode::NoError] {
        let mut message = message(code);
        message.metadata.recursion_available = false;
        assert!(read_a(&message).is_err(), "{code}");
        message.metadata.authoritative = true;
        assert!(read_a(&message).is_ok(), "{code}");
    }
}

#[test]
fn a_referral_is_no_answer_and_the_same_with_the_zones_soa_is_one() {
    let mut message = message(ResponseCode::NoError);
    message.add_authority(record("acme.test.", RData::NS(NS(name("ns.acme.test.")))));
    assert!(read_a(&message).is_err());
    message.add_authority(soa("acme.test."));
    assert_eq!(read_a(&message), Ok(Reading::Definite(Looked::NoData)));
}

#[test]
fn the_soa_of_another_zone_denies_nothing() {
    let mut message = message(ResponseCode::NoError);
    message.add_authority(soa("evil.test."));
    assert!(read_a(&message).is_err());
}

#[test]
fn part_of_a_chain_is_asked_on_and_a_denial_of_its_end_is_not() {
    let mut message = message(ResponseCode::NoError);
    message.add_answer(cname("www.acme.test.", "cdn.test."));
    assert_eq!(read_a(&message), Ok(Reading::AskOn));
    message.add_authority(soa("test."));
    assert_eq!(read_a(&message), Ok(Reading::Definite(Looked::NoData)));
}

#[test]
fn a_chain_in_any_order_leads_to_its_records() {
    let mut message = message(ResponseCode::NoError);
    message.add_answer(a("end.test."));
    message.add_answer(cname("cdn.test.", "end.test."));
    message.add_answer(cname("www.acme.test.", "CDN.test."));
    assert!(matches!(
        read_a(&message),
        Ok(Reading::Definite(Looked::Found(_)))
    ));
}

#[test]
fn alias_loops_and_long_chains_are_no_answers() {
    let mut looping = message(ResponseCode::NoError);
    looping.add_answer(cname("www.acme.test.", "b.test."));
    looping.add_answer(cname("b.test.", "www.acme.test."));
    assert!(read_a(&looping).is_err());

    let chain = |length: usize| {
        let mut message = message(ResponseCode::NoError);
        let step = |n: usize| {
            if n == 0 {
                "www.acme.test.".to_owned()
            } else {
                format!("n{n}.test.")
            }
        };
        for n in 0..length {
            message.add_answer(cname(&step(n), &step(n + 1)));
        }
        message.add_answer(a(&step(length)));
        message
    };
    assert!(read_a(&chain(MAX_ALIASES)).is_ok());
    assert!(read_a(&chain(MAX_ALIASES + 1)).is_err());
}

#[test]
fn every_other_code_is_no_answer() {
    for code in [
        ResponseCode::ServFail,
        ResponseCode::Refused,
        ResponseCode::FormErr,
        ResponseCode::NotImp,
    ] {
        assert!(read_a(&message(code)).is_err(), "{code}");
    }
}

#[test]
fn exchangers_are_sorted_the_root_is_null_and_what_is_no_host_is_left_out() {
    let mx =
        |preference, host: &str| record("acme.test.", RData::MX(MX::new(preference, name(host))));
    let mut message = message(ResponseCode::NoError);
    message.add_answer(mx(20, "b.test."));
    message.add_answer(mx(10, "A.test."));
    message.add_answer(mx(0, "."));
    message.add_answer(mx(5, "no-host-.test."));
    let read = read(
        &message,
        &mut Aliases::of(name("acme.test.")),
        RecordKind::Mx,
    );
    let host = |text: &str| HostName::parse(text).ok();
    let expected = [(0, None), (10, host("a.test")), (20, host("b.test"))];
    let hosts = expected.map(|(preference, host)| MxHost { preference, host });
    let found = Looked::Found(Records::Mx(hosts.to_vec()));
    assert_eq!(read, Ok(Reading::Definite(found)));
}

#[test]
fn exchangers_that_are_no_hosts_alone_are_no_answer() {
    let mut message = message(ResponseCode::NoError);
    message.add_answer(record(
        "acme.test.",
        RData::MX(MX::new(5, name("x-.test."))),
    ));
    let read = read(
        &message,
        &mut Aliases::of(name("acme.test.")),
        RecordKind::Mx,
    );
    assert!(read.is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(message) = Message::from_vec(&bytes) {
            let _ = read_a(&message);
        }
    }
}
