//! The world's failures: what the gate makes of servers that err, lie, hang or lead elsewhere.

use std::time::Duration;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::closed_port;
use crate::servers::http::{Reply, WebServer};
use crate::servers::tls::Authority;

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
        |net| net.answers(Reply::Hang), with(&["--timeout", "0.3"]);
    "a body that drips" => UNANSWERED,
        |net| net.answers(Reply::Drip(Duration::from_millis(20))), with(&["--timeout", "0.3"]);
    "a second try that answers" => "PASS", |net| {
            let good = Reply::html(page(ACME, "info@acme.co.kr"));
            net.net
                .web
                .replies(WWW, "/contact", vec![Reply::status(503), good]);
            net.acme()
        }, with(&["--lookup-tries", "2"]);
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

pub const CASES: [&[Case]; 4] = [ANSWERS, SLOW, WAYS, TLS];

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
    let net = EmailNet::with(&[ACME], &["--lookup-tries", "2", "--timeout", "5"]);
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
    let net = EmailNet::with(&[ACME], &["--level", "source-unanswered=fail"]);
    let submission = net.answers(Reply::status(503));
    assert_eq!(net.says(&submission), "FAIL source-unanswered");
    // The world was silent, so the same submission is no repeat.
    let submission = net.contact("info@acme.co.kr");
    assert_eq!(net.says(&submission), "PASS");
}
