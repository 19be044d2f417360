//! Step 6 on canned answers of DNS.

use super::*;
use crate::gate::email::takes_mail::MAX_MX_HOSTS;
use crate::gate::email::testing::{Canned, rules, silence};
use crate::world::{Looked, RecordKind, Records};

const PUBLIC: &str = "93.184.215.14";

fn run(world: &Canned) -> Vec<Fact> {
    let fields = [
        "https://acme.co.kr/",
        "info@acme.co.kr",
        "https://acme.co.kr/contact",
    ];
    world.run(&STEP, "Acme", fields)
}

fn fired(world: &Canned) -> Vec<String> {
    rules(&run(world)).into_iter().map(str::to_owned).collect()
}

fn unanswered() -> Looked {
    Looked::Unanswered(silence())
}

fn domain() -> Canned {
    Canned::default()
}

#[test]
fn an_mx_host_with_a_public_address_passes() {
    let world = domain()
        .mx("acme.co.kr", &[(10, "mx.acme.co.kr")])
        .address("mx.acme.co.kr", &[PUBLIC]);
    assert_eq!(fired(&world), [""; 0]);
    assert_eq!(world.asked(), ["acme.co.kr Mx", "mx.acme.co.kr A"]);
}

#[test]
fn ipv6_alone_passes() {
    let world = domain()
        .mx("acme.co.kr", &[(10, "mx.acme.co.kr")])
        .address("mx.acme.co.kr", &["2606:2800:21f::1"]);
    assert_eq!(fired(&world), [""; 0]);
}

#[test]
fn hosts_are_asked_in_order_until_one_is_good() {
    let world = domain()
        .mx(
            "acme.co.kr",
            &[(20, "b.mx.kr"), (10, "gone.mx.kr"), (30, "c.mx.kr")],
        )
        .address("b.mx.kr", &[PUBLIC])
        .looked("c.mx.kr", RecordKind::A, unanswered());
    assert_eq!(fired(&world), [""; 0]);
    let asked = [
        "acme.co.kr Mx",
        "gone.mx.kr A",
        "gone.mx.kr Aaaa",
        "b.mx.kr A",
    ];
    assert_eq!(world.asked(), asked);
}

#[test]
fn no_such_domain() {
    assert_eq!(fired(&domain()), ["mx-missing"]);
}

#[test]
fn neither_mx_nor_address() {
    let world = domain().looked("acme.co.kr", RecordKind::Mx, Looked::NoData);
    assert_eq!(fired(&world), ["mx-missing"]);
}

#[test]
fn no_mx_host_exists() {
    let world = domain().mx(
        "acme.co.kr",
        &[(10, "a.mx.kr"), (20, "b.mx.kr"), (30, "a.mx.kr")],
    );
    let findings = run(&world);
    assert_eq!(rules(&findings), ["mx-missing"]);
    assert_eq!(findings[0].count, 2);
    assert_eq!(findings[0].actual, "no MX host exists: a.mx.kr, b.mx.kr");
}

#[test]
fn one_host_without_an_answer_makes_it_unknown() {
    for kind in [RecordKind::A, RecordKind::Aaaa] {
        let world = domain()
            .mx("acme.co.kr", &[(10, "a.mx.kr"), (20, "b.mx.kr")])
            .looked("a.mx.kr", kind, unanswered());
        assert_eq!(fired(&world), ["mx-unanswered"]);
    }
}

#[test]
fn a_null_mx_alone() {
    assert_eq!(fired(&domain().mx("acme.co.kr", &[(0, ".")])), ["mx-null"]);
}

#[test]
fn a_null_mx_among_others_is_ignored() {
    let world = domain()
        .mx("acme.co.kr", &[(0, "."), (10, "mx.acme.co.kr")])
        .address("mx.acme.co.kr", &[PUBLIC]);
    assert_eq!(fired(&world), [""; 0]);
}

#[test]
fn an_address_without_mx() {
    let world = domain().address("acme.co.kr", &[PUBLIC]);
    assert_eq!(fired(&world), ["mx-implicit"]);
    let world = domain().address("acme.co.kr", &["10.0.0.1"]);
    assert_eq!(fired(&world), ["mx-unanswered"]);
    let world = domain()
        .looked("acme.co.kr", RecordKind::Mx, Looked::NoData)
        .looked("acme.co.kr", RecordKind::A, unanswered());
    assert_eq!(fired(&world), ["mx-unanswered"]);
}

#[test]
fn private_addresses_reach_nothing_unless_allowed() {
    let world = || {
        domain()
            .mx("acme.co.kr", &[(10, "mx.acme.co.kr")])
            .address("mx.acme.co.kr", &["127.0.0.1", "192.168.0.1"])
    };
    assert_eq!(fired(&world()), ["mx-unanswered"]);
    assert_eq!(fired(&world().allowing("192.168.0.0/16")), [""; 0]);
    assert_eq!(fired(&world().allowing("10.0.0.0/8")), ["mx-unanswered"]);
}

#[test]
fn no_answer_for_mx() {
    let world = domain().looked("acme.co.kr", RecordKind::Mx, unanswered());
    let findings = run(&world);
    assert_eq!(rules(&findings), ["mx-unanswered"]);
    assert_eq!(findings[0].actual, "no answer in time");
}

#[test]
fn more_hosts_than_are_asked_leave_it_unknown() {
    let names: Vec<String> = (0..50).map(|n| format!("mx{n}.kr")).collect();
    let hosts: Vec<(u16, &str)> = names.iter().map(|name| (1, name.as_str())).collect();
    let world = domain().mx("acme.co.kr", &hosts);
    assert_eq!(fired(&world), ["mx-unanswered"]);
    assert_eq!(world.asked().len(), 1 + 2 * MAX_MX_HOSTS);
    let world = domain().mx("acme.co.kr", &hosts[..MAX_MX_HOSTS]);
    assert_eq!(fired(&world), ["mx-missing"]);
}

#[test]
fn an_answer_of_another_kind_is_none() {
    let mx = Looked::Found(Records::Addresses(vec![PUBLIC.parse().unwrap()]));
    let world = domain().looked("acme.co.kr", RecordKind::Mx, mx);
    assert_eq!(fired(&world), ["mx-unanswered"]);
}

#[test]
fn an_address_that_does_not_parse_is_another_steps_matter() {
    let fields = [
        "https://acme.co.kr/",
        "nobody",
        "https://acme.co.kr/contact",
    ];
    assert_eq!(domain().run(&STEP, "Acme", fields), []);
}
