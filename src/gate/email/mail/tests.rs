//! Step 6 on canned answers of DNS.

use super::*;
use crate::base::rows;
use crate::gate::email::testing::{Canned, rules, silence};

const PUBLIC: &str = "93.184.215.14";

fn run(world: &Canned) -> Vec<Fact> {
    let fields = [
        "https://acme.co.kr/",
        "info@acme.co.kr",
        "https://acme.co.kr/contact",
    ];
    world.run(&STEP, "Acme", fields)
}

#[test]
fn dns_decides_whether_the_domain_takes_mail() {
    const ACME: &str = "acme.co.kr";
    let world = Canned::default;
    let mx = |hosts: &[(u16, &str)]| world().mx(ACME, hosts);
    let two = || mx(&[(10, "a.mx.kr"), (20, "b.mx.kr")]);
    let one = mx(&[(10, "mx.acme.co.kr")]);
    let private = one.address("mx.acme.co.kr", &["127.0.0.1", "192.168.0.1"]);
    let silent = || Looked::Unanswered(silence());
    let addresses = Looked::Found(Records::Addresses(vec![PUBLIC.parse().unwrap()]));
    for (case, world, expected) in rows! {
        "one host has no answer for A", two().looked("a.mx.kr", RecordKind::A, silent())
            => "mx-unanswered";
        "one host has no answer for AAAA", two().looked("a.mx.kr", RecordKind::Aaaa, silent())
            => "mx-unanswered";
        "others are allowed", private.allowing("10.0.0.0/8") => "mx-unanswered";
        "addresses in answer to MX", world().looked(ACME, RecordKind::Mx, addresses)
            => "mx-unanswered";
    } {
        let found = run(&world);
        assert_eq!(rules(&found).concat(), expected, "{case}");
    }
}

#[test]
fn hosts_are_asked_in_order_until_one_is_good() {
    let hosts = [(20, "b.mx.kr"), (10, "gone.mx.kr"), (30, "c.mx.kr")];
    let world = Canned::default()
        .mx("acme.co.kr", &hosts)
        .address("b.mx.kr", &[PUBLIC])
        .looked("c.mx.kr", RecordKind::A, Looked::Unanswered(silence()));
    assert_eq!(run(&world), []);
    let asked = [
        "acme.co.kr Mx",
        "gone.mx.kr A",
        "gone.mx.kr Aaaa",
        "b.mx.kr A",
    ];
    assert_eq!(world.asked(), asked);
}

#[test]
fn a_finding_says_what_dns_said() {
    let hosts = [(10, "a.mx.kr"), (20, "b.mx.kr"), (30, "a.mx.kr")];
    let findings = run(&Canned::default().mx("acme.co.kr", &hosts));
    assert_eq!(rules(&findings), ["mx-missing"]);
    assert_eq!(findings[0].count, 2);
    assert_eq!(findings[0].actual, "no MX host exists: a.mx.kr, b.mx.kr");
    let unanswered = Looked::Unanswered(silence());
    let findings = run(&Canned::default().looked("acme.co.kr", RecordKind::Mx, unanswered));
    assert_eq!(rules(&findings), ["mx-unanswered"]);
    assert_eq!(findings[0].actual, "no answer in time");
}

#[test]
fn more_hosts_than_are_asked_leave_it_unknown() {
    let names: Vec<String> = (0..50).map(|n| format!("mx{n}.kr")).collect();
    let hosts: Vec<(u16, &str)> = names.iter().map(|name| (1, name.as_str())).collect();
    let world = Canned::default().mx("acme.co.kr", &hosts);
    assert_eq!(rules(&run(&world)), ["mx-unanswered"]);
    assert_eq!(world.asked().len(), 1 + 2 * MAX_MX_HOSTS);
    let world = Canned::default().mx("acme.co.kr", &hosts[..MAX_MX_HOSTS]);
    assert_eq!(rules(&run(&world)), ["mx-missing"]);
}

#[test]
fn an_address_that_does_not_parse_is_another_steps_matter() {
    let fields = [
        "https://acme.co.kr/",
        "nobody",
        "https://acme.co.kr/contact",
    ];
    assert_eq!(Canned::default().run(&STEP, "Acme", fields), []);
}
