//! `recheck` across hosts, and two of them at once.

use std::process::Stdio;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use comail::session::Session;
use serde_json::Value;

use crate::harness::email_net::{WWW, page};
use crate::harness::replayed::resolutions;
use crate::harness::{EmailNet, Run, until};
use crate::servers::http::Reply;

/// Acme's site has more quests than are judged at once.
const OF_ACME: usize = 20;

/// How many sites are asked at the same time.
const SITES: usize = 4;

/// Quest `id`, whose page did not answer when it was submitted, and answers `then` so.
fn silent_first(net: &EmailNet, id: usize, host: &str, path: &str, email: &str, then: Reply) {
    net.net.web.replies(host, path, vec![Reply::Reset, then]);
    let site = net.net.web.url(host, "/");
    let source = net.net.web.url(host, path);
    let submission = net.acme().site(&site).email(email).source(&source);
    let id = u32::try_from(id).expect("a small number");
    net.expect(id, &submission, "REVIEW", &["source-unanswered"]);
}

#[test]
fn sites_are_asked_at_once_and_one_host_never_twice_at_once() {
    let acme: Vec<String> = (1..=OF_ACME).map(|n| format!("Acme Foods {n}")).collect();
    let others: Vec<String> = (2..=SITES).map(|n| format!("Bolt Toys {n}")).collect();
    let names: Vec<&str> = acme.iter().chain(&others).map(String::as_str).collect();
    let net = EmailNet::with(&names, &["--timeout", "20", "--pause-after", "0"]);
    let barrier = Arc::new(Barrier::new(SITES));
    let meet = |html| Reply::Meet(Arc::clone(&barrier), html);

    for (index, name) in acme.iter().enumerate() {
        let (path, email) = (format!("/{index}"), format!("at{index}@acme.co.kr"));
        let html = page(name, &email);
        net.put("/", &html);
        let then = match index {
            0 => meet(html),
            _ => Reply::Late(Duration::from_millis(5), html),
        };
        silent_first(&net, index + 1, WWW, &path, &email, then);
    }
    for (index, name) in others.iter().enumerate() {
        let (domain, email) = (format!("bolt{index}.kr"), format!("info@bolt{index}.kr"));
        net.company(&domain, name);
        let (www, id) = (format!("www.{domain}"), OF_ACME + index + 1);
        let then = meet(page(name, &email));
        silent_first(&net, id, &www, "/contact", &email, then);
    }

    // The barrier opens when all sites are asked at once, and for nothing else.
    let (code, report) = net.place.json(["recheck"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["confirmed"], SITES, "{report:#}");
    // What else waits for an address of Acme's domain finds it taken.
    assert_eq!(report["open"], OF_ACME - 1, "{report:#}");
    let hosts = (0..SITES - 1).map(|index| format!("www.bolt{index}.kr"));
    for host in hosts.chain([WWW.to_owned()]) {
        assert_eq!(net.net.web.busiest(&host), 1, "{host}");
    }
}

#[test]
fn of_two_rechecks_at_once_one_is_recorded() {
    let net = EmailNet::start();
    silent_first(&net, 1, WWW, "/contact", "info@acme.co.kr", Reply::Reset);
    net.contact("info@acme.co.kr");
    // Neither can record before both have judged.
    let lock = std::fs::File::open(net.place.at(".comail/lock")).expect("the lock");
    lock.lock().expect("the lock");
    let asked = net.net.web.count(WWW, "/contact");
    let start = || {
        let mut command = net.place.command();
        let command = command.args(["recheck", "--json"]);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        piped.spawn().expect("the program starts")
    };
    let children = [start(), start()];
    let both = || net.net.web.count(WWW, "/contact") == asked + 2;
    until("both have asked", both);
    lock.unlock().expect("the lock");
    let mut became = children.map(|child| {
        let run = Run::from(child.wait_with_output().expect("the program ends"));
        let report: Value = serde_json::from_str(&run.exits(0)).expect("JSON");
        report["quests"][0]["became"].to_string()
    });
    became.sort();
    assert_eq!(became, ["\"confirmed\"", "\"meanwhile\""]);
    let session = Session::open(&net.place.at(".comail")).expect("a session");
    assert_eq!(resolutions(&session).len(), 1);
}
