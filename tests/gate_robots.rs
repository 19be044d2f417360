//! robots.txt (RFC 9309): what it forbids is for a person.

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{Submission, WWW};
use crate::servers::http::Reply;

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
    "not asked for" => "PASS",
        |net| rules(net, "User-agent: *\nDisallow: /\n"), with(&["--robots","ignore"]);
];

/// Every case of this file.
pub const CASES: [&[Case]; 1] = [ROBOTS_TXT];

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
