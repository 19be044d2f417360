//! How a page is reached: from a host's name to its address, by robots.txt (RFC 9309), through
//! frames and refreshes, which are hops like redirects.

use std::io::ErrorKind;
use std::net::TcpListener;

use comail::world::RecordKind::{A, Aaaa};
use hickory_resolver::proto::op::ResponseCode;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::dns::Answer;
use crate::servers::http::Reply;

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

pub const CASES: [&[Case]; 3] = [NAMES, ROBOTS_TXT, OTHER_PAGES];

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

/// Lets robots.txt be answered so; returns the right submission.
fn robots(net: &EmailNet, reply: Reply) -> Submission {
    net.net.web.reply(WWW, "/robots.txt", reply);
    net.acme()
}

fn rules(net: &EmailNet, text: &str) -> Submission {
    robots(
        net,
        Reply::status(200)
            .with("Content-Type", "text/plain")
            .body(text),
    )
}

const ROBOTS: &str = "REVIEW source-robots";

/// robots.txt (RFC 9309).
const ROBOTS_TXT: &[Case] = cases![
    "the page is forbidden" => ROBOTS, |net| rules(net, "User-agent: *\nDisallow: /contact\n");
    "to this program" => ROBOTS, |net| rules(net, "User-agent: comail\nDisallow: /con\n");
    "to another" => "PASS", |net| rules(net, "User-agent: other\nDisallow: /\n");
    "this program's own group beats the common one" => "PASS",
        |net| rules(net, "User-agent: *\nDisallow: /\n\nUser-agent: Comail\nAllow: /\n");
    "another page" => "PASS", |net| rules(net, "User-agent: *\nDisallow: /contacts\n");
    "the longer rule counts" => "PASS",
        |net| rules(net, "User-agent: *\nDisallow: /\nAllow: /$\nAllow: /contact\n");
    "404" => "PASS", |net| robots(net, Reply::status(404));
    "403" => "PASS", |net| robots(net, Reply::status(403));
    "503 forbids all, the home page too" => "REVIEW identity-unanswered source-robots",
        |net| robots(net, Reply::status(503));
    "a reset is no answer" => "REVIEW identity-unanswered source-unanswered",
        |net| robots(net, Reply::Reset);
    "a redirect to another host's rules" => ROBOTS, |net| {
            let to = net.net.web.url("acme.co.kr", "/rules.txt");
            let rules = Reply::html("User-agent: *\nDisallow: /contact\n");
            net.net.web.reply("acme.co.kr", "/rules.txt", rules);
            robots(net, Reply::redirect(301, &to))
        };
    "the rules of the host that a redirect leads to" => ROBOTS, |net| {
            let rules = Reply::html("User-agent: *\nDisallow: /\n");
            net.net.web.reply("acme.co.kr", "/robots.txt", rules);
            net.answers(Reply::redirect(
                302,
                &net.net.web.url("acme.co.kr", "/contact"),
            ))
        };
];

#[test]
fn robots_txt_is_obeyed() {
    run(ROBOTS_TXT);
}

#[test]
fn a_page_that_robots_txt_forbids_is_not_fetched() {
    let net = EmailNet::start();
    let submission = rules(&net, "User-agent: *\nDisallow: /contact\n");
    assert_eq!(net.says(&submission), ROBOTS);
    assert_eq!(net.net.web.count(WWW, "/contact"), 0);
}

const ABSENT: &str = "FAIL email-not-on-source";

/// Pages that show other pages.
const OTHER_PAGES: &[Case] = cases![
    "a frame of the site" => "PASS", |net| {
            net.net.web.page(WWW, "/frame", "<p>info@acme.co.kr");
            net.contact("<iframe src=/frame></iframe>")
        };
    "a frameset" => "PASS", |net| {
            net.net.web.page(WWW, "/main", "<p>info@acme.co.kr");
            let html = "<title>Acme Foods</title><frameset><frame src=main></frameset>";
            net.answers(Reply::html(html))
        };
    "a frame of another site" => "REVIEW source-off-site", |net| {
            net.net.host("www.bolt.kr");
            net.net.web.page("www.bolt.kr", "/", "<p>info@acme.co.kr");
            let src = net.net.web.url("www.bolt.kr", "/");
            net.contact(&format!("<iframe src='{src}'></iframe>"))
        };
    "a frame that no one sees" => ABSENT, |net| {
            net.net.web.page(WWW, "/frame", "<p>info@acme.co.kr");
            net.contact("<iframe hidden src=/frame></iframe>")
        };
    "a frame that is silent" => "REVIEW source-unanswered", |net| {
            net.net.web.reply(WWW, "/frame", Reply::status(503));
            net.contact("<iframe src=/frame></iframe>")
        };
    "a frame that does not exist" => ABSENT, |net| net.contact("<iframe src=/gone></iframe>");
    "a refresh" => "PASS", |net| {
            net.at("/new");
            net.contact("<meta http-equiv=refresh content='0;url=/new'>")
        };
    "a refresh header" => "PASS", |net| {
            net.at("/new");
            net.answers(Reply::html("moved").with("Refresh", "0; url=/new"))
        };
    "a page that a refresh leaves behind" => ABSENT, |net| {
            net.net.web.page(WWW, "/new", "<p>moved");
            net.contact("<meta http-equiv=refresh content='0;url=/new'>info@acme.co.kr")
        };
    "a page that reloads itself" => "PASS",
        |net| net.contact("<meta http-equiv=refresh content='5'>info@acme.co.kr");
];

#[test]
fn frames_and_refreshes_are_followed() {
    run(OTHER_PAGES);
}
