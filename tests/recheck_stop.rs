//! `recheck` and Ctrl-C: it stops at once, and keeps what was judged.

#[cfg(target_os = "linux")]
use std::cell::RefCell;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};

use serde_json::Value;

use crate::harness::email_net::{ACME, page};
use crate::harness::{EmailNet, Run, until};
use crate::servers::http::Reply;

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

fn start(net: &EmailNet) -> Child {
    let mut command = net.place.command();
    let command = command.args(["recheck", "--json"]);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the program starts")
}

fn press_ctrl_c(child: &Child) {
    let mut kill = Command::new("kill");
    let kill = kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().expect("kill runs").success());
}

fn resolutions(net: &EmailNet) -> usize {
    let ledger = String::from_utf8(net.place.ledger()).expect("UTF-8");
    ledger.matches("\"type\":\"resolution\"").count()
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
#[cfg(target_os = "linux")]
fn waits_for_a_lock(child: &Child) -> bool {
    let locks = std::fs::read_to_string("/proc/locks").expect("the system's locks");
    let pid = child.id().to_string();
    let mut lines = locks.lines().filter(|line| line.contains("->"));
    lines.any(|line| line.split_whitespace().any(|word| word == pid))
}

#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
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
