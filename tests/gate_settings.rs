//! What `scan` freezes of the gate and the network, and that nothing later changes it.

use std::time::Duration;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, WWW, page};
use crate::servers::http::{Reply, WebServer};

const LEVELS: &[Case] = cases![
    "REVIEW by default" => "REVIEW source-user-content", |net| net.at("/wiki/a");
    "made a FAIL" => "FAIL source-user-content",
        |net| net.at("/wiki/a"), with(&["--level","source-user-content=fail"]);
    "FAIL by default" => "FAIL email-not-on-source", |net| net.acme().email("x@acme.co.kr");
    "made a REVIEW" => "REVIEW email-not-on-source",
        |net| net.acme().email("x@acme.co.kr"), with(&["--level","email-not-on-source=review"]);
    "of two, the other still fails" => "FAIL domain-mismatch no-reply",
        |net| net.acme().email("no-reply@bolt.kr"), with(&["--level","domain-mismatch=review","--level","no-reply=fail",]);
    "a local FAIL made a REVIEW lets the page be read" => "FAIL domain-mismatch email-not-on-source",
        |net| net.acme().email("sales@bolt.kr"), with(&["--level","domain-mismatch=review"]);
];

pub const CASES: [&[Case]; 1] = [LEVELS];

#[test]
fn levels_are_the_operators() {
    run(LEVELS);
}

#[test]
fn no_level_switches_a_rule_off() {
    let net = EmailNet::unscanned();
    net.place.write("companies.txt", ACME);
    for level in "mx-null=off mx-null=pass mx-null mx-nul=fail no-result=review".split_whitespace()
    {
        let scan = ["scan", "companies.txt", "--level", level];
        assert_eq!(net.place.run(scan).code, 2, "{level}");
        assert!(!net.place.at(".comail").exists());
    }
}

#[test]
fn the_levels_in_force_are_printed() {
    let net = EmailNet::with(&[ACME], &["--level", "mx-null=review"]);
    let (_, rules) = net.place.json(["rules"]);
    let rules = rules["rules"].as_array().expect("rules");
    let level = |id: &str| {
        let rule = rules.iter().find(|rule| rule["id"] == id);
        rule.map(|rule| rule["level"].clone()).expect(id)
    };
    assert_eq!(level("mx-null"), "REVIEW");
    assert_eq!(level("mx-missing"), "FAIL");
}

#[test]
fn robots_txt_is_not_asked_for_where_the_operator_says_so() {
    let net = EmailNet::with(&[ACME], &["--robots", "ignore"]);
    assert_eq!(net.says(&net.acme()), "PASS");
    assert_eq!(net.net.web.count(WWW, "/robots.txt"), 0);
    assert_eq!(net.net.web.count(WWW, "/contact"), 1);
}

#[test]
fn the_frozen_user_agent_is_sent_and_robots_txt_still_knows_the_program() {
    let agent = "AcmeCheck/1.0 comail/0.1 (+mailto:ops@check.kr)";
    let net = EmailNet::with(&[ACME], &["--user-agent", agent]);
    let rules = Reply::html("User-agent: comail\nDisallow: /contact\n");
    net.net.web.reply(WWW, "/robots.txt", rules);
    assert_eq!(net.says(&net.acme()), "REVIEW source-robots");
    let seen = net.net.web.seen();
    assert!(!seen.is_empty());
    for seen in seen {
        assert_eq!(seen.header("user-agent"), Some(agent), "{seen:?}");
    }
}

#[test]
fn the_program_names_itself_and_nothing_of_its_user() {
    let net = EmailNet::start();
    assert_eq!(net.says(&net.acme()), "PASS");
    for seen in net.net.web.seen() {
        let agent = seen.header("user-agent").unwrap_or_default();
        assert!(
            agent.starts_with("comail/") && agent.contains("contact"),
            "{agent}"
        );
        for name in ["cookie", "referer", "authorization"] {
            assert_eq!(seen.header(name), None, "{name}");
        }
    }
}

#[test]
fn requests_to_one_host_are_a_gap_apart_across_submissions() {
    // Half a second; the server may note a request late, but no later than the next.
    let net = EmailNet::with(&[ACME], &["--rate", "2"]);
    net.net.web.reply(WWW, "/contact", Reply::status(404));
    assert_eq!(net.says(&net.acme()), "FAIL source-missing");
    let again = net.acme().source(&net.url("/gone"));
    assert_eq!(net.says(&again), "FAIL source-missing");
    let seen = net.net.web.seen();
    let paths: Vec<_> = seen.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!(paths, ["/robots.txt", "/contact", "/robots.txt", "/gone"]);
    for pair in seen.windows(2) {
        assert!(
            pair[1].at - pair[0].at >= Duration::from_millis(350),
            "{pair:?}"
        );
    }
}

#[test]
fn a_frozen_proxy_fetches_every_page() {
    let proxy = WebServer::start();
    for path in ["/", "/contact"] {
        proxy.page("far.kr", path, &page(ACME, "info@far.kr"));
    }
    let url = proxy.url("127.0.0.1", "/");
    let net = EmailNet::with(&[ACME], &["--proxy", &url]);
    net.net.dns.mx("far.kr", 10, "mail.acme.co.kr");
    let submission = net
        .acme()
        .site("http://far.kr/")
        .email("info@far.kr")
        .source("http://far.kr/contact");
    assert_eq!(net.says(&submission), "PASS");
    let lines: Vec<_> = proxy.seen().into_iter().map(|seen| seen.line).collect();
    let expected = ["robots.txt", "contact", ""].map(|path| format!("http://far.kr/{path}"));
    let expected = expected.map(|url| format!("GET {url} HTTP/1.1"));
    assert_eq!(lines, expected);
    let asked: Vec<_> = net
        .net
        .dns
        .questions()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert!(!asked.contains(&"www.far.kr".to_owned()), "{asked:?}");
    assert_eq!(net.net.web.connections(), 0);
}
