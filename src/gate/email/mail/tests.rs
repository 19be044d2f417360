//! Step 6 on the answers of a small DNS.

use super::*;
use crate::gate::email::tests::{EmailCase, rules};
use crate::gate::tests::no_answer_in_time;

const DOMAIN: &str = "acme.co.kr";
const PUBLIC: &str = "93.184.215.14";

fn mx(hosts: &[(u16, &str)]) -> EmailCase {
    let mut case = EmailCase::good();
    case.world.mx(DOMAIN, hosts);
    case
}

#[test]
fn what_settles_nothing_is_no_answer() {
    for kind in [RecordKind::A, RecordKind::Aaaa] {
        let mut one_of_two = mx(&[(10, "a.mx.kr"), (20, "b.mx.kr")]);
        let silent = Looked::Unanswered(no_answer_in_time());
        one_of_two.world.looked("a.mx.kr", kind, silent);
        assert_eq!(one_of_two.fired(&STEP), ["mx-unanswered"], "{kind:?}");
    }
    let mut private = mx(&[(10, "mx.acme.co.kr")]).allowing("10.0.0.0/8");
    let addresses = ["127.0.0.1", "192.168.0.1"];
    private.world.addresses("mx.acme.co.kr", &addresses);
    assert_eq!(private.fired(&STEP), ["mx-unanswered"]);
    let mut of_another_kind = EmailCase::good();
    let addresses = Records::Addresses(vec![PUBLIC.parse().unwrap()]);
    let answer = Looked::Found(addresses);
    of_another_kind.world.looked(DOMAIN, RecordKind::Mx, answer);
    assert_eq!(of_another_kind.fired(&STEP), ["mx-unanswered"]);
}

#[test]
fn hosts_are_asked_in_order_until_one_is_good() {
    let mut case = mx(&[(20, "b.mx.kr"), (10, "gone.mx.kr"), (30, "c.mx.kr")]);
    case.world.addresses("b.mx.kr", &[PUBLIC]);
    let silent = Looked::Unanswered(no_answer_in_time());
    case.world.looked("c.mx.kr", RecordKind::A, silent);
    assert_eq!(case.run(&STEP), []);
    let asked = [
        "acme.co.kr Mx",
        "gone.mx.kr A",
        "gone.mx.kr Aaaa",
        "b.mx.kr A",
    ];
    assert_eq!(case.world.asked(), asked);
}

#[test]
fn a_fact_says_what_dns_said() {
    let hosts = [(10, "a.mx.kr"), (20, "b.mx.kr"), (30, "a.mx.kr")];
    let facts = mx(&hosts).run(&STEP);
    assert_eq!(rules(&facts), ["mx-missing"]);
    assert_eq!(facts[0].count, 2);
    assert_eq!(&*facts[0].actual, "no MX host exists: a.mx.kr, b.mx.kr");
    let mut case = EmailCase::good();
    let silent = Looked::Unanswered(no_answer_in_time());
    case.world.looked(DOMAIN, RecordKind::Mx, silent);
    let facts = case.run(&STEP);
    assert_eq!(rules(&facts), ["mx-unanswered"]);
    assert_eq!(&*facts[0].actual, "no answer in time");
}

#[test]
fn more_hosts_than_are_asked_leave_it_unknown() {
    let names: Vec<String> = (0..50).map(|n| format!("mx{n}.kr")).collect();
    let hosts: Vec<(u16, &str)> = names.iter().map(|name| (1, name.as_str())).collect();
    let case = mx(&hosts);
    assert_eq!(case.fired(&STEP), ["mx-unanswered"]);
    assert_eq!(case.world.asked().len(), 1 + 2 * MAX_MX_HOSTS);
    assert_eq!(mx(&hosts[..MAX_MX_HOSTS]).fired(&STEP), ["mx-missing"]);
}

#[test]
fn an_address_that_does_not_parse_is_left_to_the_format_step() {
    assert_eq!(EmailCase::good().email("nobody").run(&STEP), []);
}
