//! How a page is reached, and what the gate makes of servers that err, lie, hang or lead elsewhere.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;

use comail::world::RecordKind::{A, Aaaa};
use hickory_resolver::proto::op::ResponseCode;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::closed_port;
use crate::servers::dns::Answer;
use crate::servers::http::{Reply, WebServer};
use crate::servers::tls::Authority;

pub const CASES: [&[Case]; 7] = [ANSWERS, SLOW, WAYS, TLS, NAMES, ROBOTS_TXT, OTHER_PAGES];

const UNANSWERED: &str = "REVIEW source-unanswered";
const MISSING: &str = "FAIL source-missing";
const UNREADABLE: &str = "REVIEW source-unreadable";

fn status(net: &EmailNet, status: u16) -> Submission {
    net.answers(Reply::status(status).body("info@acme.co.kr"))
}

/// Answers, and what is none.
const ANSWERS: &[Case] = cases![
    "404" => MISSING, |net| status(net, 404);
    "410" => MISSING, |net| status(net, 410);
    "400" => UNANSWERED, |net| status(net, 400);
    "401" => UNANSWERED, |net| status(net, 401);
    "403" => UNANSWERED, |net| status(net, 403);
    "429" => UNANSWERED, |net| status(net, 429);
    "451" => UNANSWERED, |net| status(net, 451);
    "500" => UNANSWERED, |net| status(net, 500);
    "503" => UNANSWERED, |net| status(net, 503);
    "a redirect to nowhere" => UNANSWERED, |net| status(net, 302);
    "a reset" => UNANSWERED, |net| net.answers(Reply::Reset);
    "no HTTP" => UNANSWERED, |net| net.answers(Reply::Raw(b"SSH-2.0-x\r\n\r\n".to_vec()));
    "a page that is cut off behind the address" => UNANSWERED, |net| {
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n\
                <p>info@acme.co.kr</p>";
            net.answers(Reply::Raw(page.into()))
        };
    "a page that is gzipped" => "PASS",
        |net| net.answers(Reply::html(page(ACME, "info@acme.co.kr")).gzipped());
    "a page that is not gzipped, and says so" => UNANSWERED, |net| {
            let page = Reply::html(page(ACME, "info@acme.co.kr"));
            net.answers(page.with("Content-Encoding", "gzip"))
        };
    "a page of 50 MB" => UNREADABLE, |net| net.answers(Reply::Huge(50_000_000));
    "a gzip bomb" => UNREADABLE, |net| net.answers(Reply::GzipBomb(200_000_000));
    "a refused connection" => UNANSWERED, |net| {
            let port = closed_port().port();
            net.acme().source(&format!("http://{WWW}:{port}/contact"))
        };
];

/// Servers that take their time.
const SLOW: &[Case] = cases![
    "a server that hangs" => UNANSWERED,
        |net| net.answers(Reply::Hang), with(&["--set=network.timeout=0.3"]);
    "a body that drips" => UNANSWERED,
        |net| net.answers(Reply::Drip(Duration::from_millis(20))), with(&["--set=network.timeout=0.3"]);
    "a second try that answers" => "PASS", |net| {
            let good = Reply::html(page(ACME, "info@acme.co.kr"));
            net.net
                .web
                .replies(WWW, "/contact", vec![Reply::status(503), good]);
            net.acme()
        }, with(&["--set=network.lookup-tries=2"]);
];

/// The submission of a chain of `length` redirects, hosts taken in turn.
fn chain(net: &EmailNet, length: usize) -> Submission {
    let hosts = [WWW, "acme.co.kr", "shop.acme.co.kr"];
    net.net.host("shop.acme.co.kr");
    let web = &net.net.web;
    for n in 0..length {
        let (here, there) = (hosts[n % 3], hosts[(n + 1) % 3]);
        let to = Reply::redirect(302, &web.url(there, &format!("/hop{}", n + 1)));
        web.reply(here, &format!("/hop{n}"), to);
    }
    let page = page(ACME, "info@acme.co.kr");
    web.page(hosts[length % 3], &format!("/hop{length}"), &page);
    net.acme().source(&web.url(hosts[0], "/hop0"))
}

/// Lets the contact page lead to `to`.
fn leads(net: &EmailNet, to: &str) -> Submission {
    net.answers(Reply::redirect(302, to))
}

/// Ways through the web.
const WAYS: &[Case] = cases![
    "five redirects over three hosts" => "PASS", |net| chain(net, 5);
    "six" => UNANSWERED, |net| chain(net, 6);
    "a loop" => UNANSWERED, |net| leads(net, "/contact");
    "a loop of two" => UNANSWERED, |net| {
            net.net
                .web
                .reply(WWW, "/a", Reply::redirect(301, "/contact"));
            leads(net, "/a")
        };
    "a way to nothing" => MISSING, |net| leads(net, "/gone");
    "a way to no host" => MISSING, |net| leads(net, "http://gone.acme.co.kr/");
    "a way to a file" => UNANSWERED, |net| leads(net, "file:///etc/passwd");
    "a way to a mailbox" => UNANSWERED, |net| leads(net, "mailto:sales@acme.co.kr");
    "a way with credentials" => UNANSWERED, |net| leads(net, "http://a:b@www.acme.co.kr/");
    "a way to a private address" => UNANSWERED, |net| leads(net, "http://10.0.0.1/");
    "a way to a cloud's own address" => UNANSWERED, |net| leads(net, "http://169.254.169.254/");
    "a way to loopback in IPv6" => UNANSWERED, |net| leads(net, "http://[::1]/");
    "a way to loopback, mapped" => UNANSWERED, |net| leads(net, "http://[::ffff:127.0.0.2]/");
    "a way to an address that may be connected to, which is no site's" => "REVIEW source-off-site", |net| {
            net.net
                .web
                .page("127.0.0.1", "/contact", &page(ACME, "info@acme.co.kr"));
            leads(net, &net.net.web.url("127.0.0.1", "/contact"))
        };
    "a way to TLS" => "PASS", |net| {
            net.net
                .tls
                .page(WWW, "/contact", &page(ACME, "info@acme.co.kr"));
            leads(net, &net.net.tls.url(WWW, "/contact"))
        };
];

/// The submission of a page over TLS that this server shows.
fn tls(net: &EmailNet, server: &WebServer) -> Submission {
    server.page(WWW, "/contact", &page(ACME, "info@acme.co.kr"));
    net.acme().source(&server.url(WWW, "/contact"))
}

/// Certificates.
const TLS: &[Case] = cases![
    "the frozen authority" => "PASS", |net| tls(net, &net.net.tls);
    "another authority" => UNANSWERED,
        |net| tls(net, &WebServer::start_tls(Authority::new().server_config()));
    "another host's certificate" => UNANSWERED, |net| {
            let config = net.net.authority.server_config_of("www.bolt.kr");
            tls(net, &WebServer::start_tls(config))
        };
    "no TLS at all" => UNANSWERED,
        |net| net.acme().source(&net.url("/contact").replace("http://", "https://"));
];

#[test]
fn what_is_no_answer_is_for_a_recheck() {
    run(ANSWERS);
}

#[test]
fn slow_servers_are_given_up_and_asked_again() {
    run(SLOW);
}

#[test]
fn hops_are_judged_like_the_first() {
    run(WAYS);
}

#[test]
fn certificates_are_held_against_the_frozen_authorities() {
    run(TLS);
}

#[test]
fn a_server_that_asks_for_patience_is_given_it() {
    let net = EmailNet::with(
        &[ACME],
        &["--set=network.lookup-tries=2", "--set=network.timeout=5"],
    );
    let busy = Reply::status(429).with("Retry-After", "1");
    let good = Reply::html(page(ACME, "info@acme.co.kr"));
    net.net.web.replies(WWW, "/contact", vec![busy, good]);
    assert_eq!(net.says(&net.acme()), "PASS");
    let seen = net.net.web.seen();
    let [first, second] = seen
        .iter()
        .filter(|seen| seen.path == "/contact")
        .collect::<Vec<_>>()[..]
    else {
        panic!("{seen:?}");
    };
    assert!(second.at - first.at >= Duration::from_millis(900));
}

#[test]
fn a_flood_is_not_read_to_its_end() {
    let net = EmailNet::start();
    assert_eq!(net.says(&net.answers(Reply::Huge(u64::MAX))), UNREADABLE);
    assert_eq!(net.net.web.count(WWW, "/contact"), 1);
}

#[test]
fn what_was_not_answered_may_be_submitted_again() {
    let net = EmailNet::with(&[ACME], &["--set=gate.level=source-unanswered=fail"]);
    let submission = net.answers(Reply::status(503));
    assert_eq!(net.says(&submission), "FAIL source-unanswered");
    // The world was silent, so the same submission is no repeat.
    let submission = net.contact("info@acme.co.kr");
    assert_eq!(net.says(&submission), "PASS");
}

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
