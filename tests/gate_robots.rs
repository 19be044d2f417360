//! robots.txt (RFC 9309): what it forbids is for a person.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, run};
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
const ROBOTS_TXT: &[Case] = &[
    case(
        "the page is forbidden",
        |net| rules(net, "User-agent: *\nDisallow: /contact\n"),
        ROBOTS,
    ),
    case(
        "to this program",
        |net| rules(net, "User-agent: comail\nDisallow: /con\n"),
        ROBOTS,
    ),
    case(
        "to another",
        |net| rules(net, "User-agent: other\nDisallow: /\n"),
        "PASS",
    ),
    case(
        "this program's own group beats the common one",
        |net| {
            rules(
                net,
                "User-agent: *\nDisallow: /\n\nUser-agent: Comail\nAllow: /\n",
            )
        },
        "PASS",
    ),
    case(
        "another page",
        |net| rules(net, "User-agent: *\nDisallow: /contacts\n"),
        "PASS",
    ),
    case(
        "the longer rule counts",
        |net| {
            rules(
                net,
                "User-agent: *\nDisallow: /\nAllow: /$\nAllow: /contact\n",
            )
        },
        "PASS",
    ),
    case("404", |net| robots(net, Reply::status(404)), "PASS"),
    case("403", |net| robots(net, Reply::status(403)), "PASS"),
    case(
        "503 forbids all, the home page too",
        |net| robots(net, Reply::status(503)),
        "REVIEW identity-unanswered source-robots",
    ),
    case(
        "a reset is no answer",
        |net| robots(net, Reply::Reset),
        "REVIEW identity-unanswered source-unanswered",
    ),
    case(
        "a redirect to another host's rules",
        |net| {
            let to = net.net.web.url("acme.co.kr", "/rules.txt");
            let rules = Reply::html("User-agent: *\nDisallow: /contact\n");
            net.net.web.reply("acme.co.kr", "/rules.txt", rules);
            robots(net, Reply::redirect(301, &to))
        },
        ROBOTS,
    ),
    case(
        "the rules of the host that a redirect leads to",
        |net| {
            let rules = Reply::html("User-agent: *\nDisallow: /\n");
            net.net.web.reply("acme.co.kr", "/robots.txt", rules);
            net.answers(Reply::redirect(
                302,
                &net.net.web.url("acme.co.kr", "/contact"),
            ))
        },
        ROBOTS,
    ),
    case(
        "not asked for",
        |net| rules(net, "User-agent: *\nDisallow: /\n"),
        "PASS",
    )
    .with(&["--robots", "ignore"]),
];

/// Every case of this file.
pub const CASES: [&[Case]; 1] = [ROBOTS_TXT];

#[test]
fn robots_txt_is_obeyed() {
    run(ROBOTS_TXT);
}
