//! `recheck` across hosts, two of them at once, and Ctrl-C: it stops at once, and keeps what was
//! judged.

use std::cell::RefCell;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use serde_json::Value;

use crate::harness::email_net::{ACME, WWW, page};
use crate::harness::{EmailNet, Run, until};
use crate::servers::http::Reply;

fn start(net: &EmailNet) -> Child {
    let mut command = net.place.command();
    let command = command.args(["recheck", "--json"]);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the program starts")
}

fn resolutions(net: &EmailNet) -> usize {
    let ledger = String::from_utf8(net.place.ledger()).expect("UTF-8");
    ledger.matches("\"type\":\"resolution\"").count()
}

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
    let children = [start(&net), start(&net)];
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
    assert_eq!(resolutions(&net), 1);
}

/// Quests of two sites that did not answer: Acme Foods, and two of Bolt Toys, whose site now
/// answers once the barrier lets it, and later at once.
fn world(barrier: &Arc<Barrier>) -> EmailNet {
    let net = EmailNet::patient(&[ACME, "Bolt Toys", "Bolt Toys Inc."]);
    net.expect(
        1,
        &net.answers(Reply::Reset),
        "REVIEW",
        &["source-unanswered"],
    );
    net.company("bolt.kr", "Bolt Toys");
    let html = page("Bolt Toys", "info@bolt.kr");
    let held = Reply::Meet(Arc::clone(barrier), html.clone());
    let replies = vec![Reply::Reset, Reply::Reset, held, Reply::html(html)];
    net.net.web.replies("www.bolt.kr", "/contact", replies);
    for id in [2, 3] {
        net.expect(id, &net.right("bolt.kr"), "REVIEW", &["source-unanswered"]);
    }
    net.contact("info@acme.co.kr");
    net
}

fn press_ctrl_c(child: &Child) {
    let mut kill = Command::new("kill");
    let kill = kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().expect("kill runs").success());
}

#[test]
fn ctrl_c_stops_it_and_what_was_judged_is_kept() {
    let barrier = Arc::new(Barrier::new(2));
    let net = world(&barrier);
    let child = start(&net);
    until("Acme is on disk", || resolutions(&net) == 1);
    let held = || net.net.web.count("www.bolt.kr", "/contact") == 3;
    until("Bolt is being asked", held);
    press_ctrl_c(&child);
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let report: Value = serde_json::from_str(&run.exits(130)).expect("one document");
    assert_eq!(report["status"], "interrupted", "{report:#}");
    assert_eq!(report["left"], 2, "{report:#}");
    assert_eq!(report["quests"].as_array().expect("quests").len(), 1);
    assert_eq!(report["quests"][0]["became"], "confirmed");
    assert_eq!(resolutions(&net), 1);
    // The site was held until now: nobody waited for it.
    barrier.wait();

    let (code, report) = net.place.json(["recheck"]);
    assert_eq!((code, &report["left"]), (0, &0.into()), "{report:#}");
    let became = |at: usize| report["quests"][at]["became"].as_str();
    assert_eq!((became(0), became(1)), (Some("confirmed"), Some("open")));
    assert_eq!(report["quests"][0]["id"], 2);
    assert_eq!(resolutions(&net), 3);
}

/// Whether the process waits for a file's lock.
fn waits_for_a_lock(child: &Child) -> bool {
    let locks = std::fs::read_to_string("/proc/locks").expect("the system's locks");
    let pid = child.id().to_string();
    let mut lines = locks.lines().filter(|line| line.contains("->"));
    lines.any(|line| line.split_whitespace().any(|word| word == pid))
}

#[test]
fn what_is_being_recorded_is_recorded_whole_and_a_second_ctrl_c_ends_at_once() {
    for second in [false, true] {
        let barrier = Arc::new(Barrier::new(2));
        let net = world(&barrier);
        let lock = std::fs::File::open(net.place.at(".comail/lock")).expect("the lock");
        lock.lock().expect("the lock");
        let mut child = start(&net);
        until("it waits to record", || waits_for_a_lock(&child));
        press_ctrl_c(&child);
        // The two must not come to the process as one.
        until("it was heard", || !has_pending_signal(&child));
        if second {
            press_ctrl_c(&child);
        } else {
            lock.unlock().expect("the lock");
        }
        let ended = RefCell::new(&mut child);
        let has_ended = || ended.borrow_mut().try_wait().expect("a child").is_some();
        until("it has ended", has_ended);
        let run = Run::from(child.wait_with_output().expect("the program ends"));
        let said = run.exits(130);
        if second {
            assert_eq!((said.as_str(), resolutions(&net)), ("", 0));
        } else {
            let report: Value = serde_json::from_str(&said).expect("one document");
            assert_eq!(
                (&report["confirmed"], &report["left"]),
                (&1.into(), &2.into())
            );
            assert_eq!(resolutions(&net), 1);
        }
        drop(lock);
        let held = || net.net.web.count("www.bolt.kr", "/contact") == 3;
        if held() {
            barrier.wait();
        }
    }
}

/// Whether a signal was sent to the process that it has not taken yet.
fn has_pending_signal(child: &Child) -> bool {
    let path = format!("/proc/{}/status", child.id());
    let status = std::fs::read_to_string(path).expect("the process");
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    pending
        .expect("its signals")
        .trim()
        .chars()
        .any(|c| c != '0')
}
