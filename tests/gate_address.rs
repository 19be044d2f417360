//! From a web host's name to the address that is connected to.

use std::io::ErrorKind;
use std::net::TcpListener;

use comail::world::RecordKind::{A, Aaaa};
use hickory_resolver::proto::op::ResponseCode;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::dns::Answer;

const UNANSWERED: &str = "REVIEW source-unanswered";
const MISSING: &str = "FAIL source-missing";

/// Lets a host of the site that has nothing else have these addresses; returns the submission
/// of its page, which shows the address.
fn shop(net: &EmailNet, answers: Vec<Answer>) -> Submission {
    let shop = "shop.acme.co.kr";
    net.net.dns.says_in_turn(shop, A, answers);
    net.net.web.page(shop, "/", &page(ACME, "info@acme.co.kr"));
    net.acme().source(&net.net.web.url(shop, "/"))
}

fn at(addresses: &[[u8; 4]]) -> Answer {
    Answer::Addresses(addresses.iter().map(|address| (*address).into()).collect())
}

/// Names of web hosts.
const NAMES: &[Case] = cases![
    "no such host" => MISSING, |net| net.acme().source(&net.net.web.url("x.acme.co.kr", "/"));
    "a host without an address" => MISSING, |net| shop(net, vec![Answer::NoData]);
    "SERVFAIL" => UNANSWERED, |net| shop(net, vec![Answer::Code(ResponseCode::ServFail)]);
    "REFUSED" => UNANSWERED, |net| shop(net, vec![Answer::Code(ResponseCode::Refused)]);
    "a referral" => UNANSWERED, |net| shop(net, vec![Answer::Referral]);
    "an alias" => "PASS", |net| shop(net, vec![Answer::Alias(WWW.to_owned())]);
    "an alias of nothing" => MISSING,
        |net| shop(net, vec![Answer::Alias("gone.bolt.kr".to_owned())]);
    "A answers and AAAA does not" => UNANSWERED, |net| {
            net.net.dns.says(
                "shop.acme.co.kr",
                Aaaa,
                Answer::Code(ResponseCode::ServFail),
            );
            shop(net, vec![at(&[[127, 0, 0, 1]])])
        };
    "truncated over UDP" => "PASS",
        |net| shop(net, vec![Answer::Truncated(Box::new(at(&[[127, 0, 0, 1]])))]);
    "a private address" => UNANSWERED, |net| shop(net, vec![at(&[[10, 0, 0, 1]])]);
    "two private addresses" => UNANSWERED,
        |net| shop(net, vec![at(&[[127, 0, 0, 2], [10, 0, 0, 1]])]);
    "a private address beside a public one, which is taken" => "PASS",
        |net| shop(net, vec![at(&[[10, 0, 0, 1], [127, 0, 0, 1]])]);
];

/// Every case of this file.
pub const CASES: [&[Case]; 1] = [NAMES];

#[test]
fn names_lead_to_public_addresses_or_nowhere() {
    run(NAMES);
}

#[test]
fn a_host_that_moves_inside_is_not_followed_there() {
    let net = EmailNet::start();
    let port = net.net.web.address().port();
    let inside = TcpListener::bind(("127.0.0.2", port)).expect("a free port");
    inside
        .set_nonblocking(true)
        .expect("a listener that does not wait");
    // robots.txt finds the public address, the page the private one.
    let moves = vec![at(&[[127, 0, 0, 1]]), at(&[[127, 0, 0, 2]])];
    let submission = shop(&net, moves);
    assert_eq!(net.says(&submission), UNANSWERED);
    assert_eq!(net.net.web.count("shop.acme.co.kr", "/robots.txt"), 1);
    assert_eq!(net.net.web.count("shop.acme.co.kr", "/"), 0);
    let came = inside.accept().map_err(|error| error.kind());
    assert!(matches!(came, Err(ErrorKind::WouldBlock)), "{came:?}");
}
