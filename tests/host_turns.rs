//! What becomes of an answer where comail itself is kept from asking the site: by other processes
//! that ask it, by one that holds the lock of its host, or because comail is stopped.

use std::fs::{self, File};
use std::process::Child;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use comail::base::Digest;
use comail::session::Event;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use sha2::{Digest as _, Sha256};

use crate::harness::agents::{PATH, QUICK};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::harness::forge::rewrite;
use crate::harness::poll::until;
use crate::harness::{EmailNet, Run};
use crate::servers::http::Reply;

/// The net with a session that waits at most `timeout` seconds for a request, and at most
/// `submission_ms` for all lookups of a submission.
fn hurried(names: &[&str], timeout: &str, submission_ms: u64) -> EmailNet {
    let net = EmailNet::with(names, &[&format!("--set=network.timeout={timeout}")]);
    let path = net.place.at(".comail/session.json");
    let text = fs::read_to_string(&path).expect("session.json");
    let limit = format!("\"submission_ms\": {submission_ms}");
    let edited = text.replace("\"submission_ms\": 75000", &limit);
    assert_ne!(edited, text);
    fs::write(&path, &edited).expect("session.json");
    rewrite(&net.place.at(".comail"), |_, event| {
        if let Event::Session(started) = event {
            started.manifest = Digest::of(edited.as_bytes());
        }
        true
    });
    net
}

/// The name of the file that stands for the turn at Acme's host.
fn lock_name() -> String {
    hex::encode(Sha256::digest(WWW.as_bytes()))
}

/// Holds the lock of Acme's host, as `flock` in a shell does.
fn hold(net: &EmailNet) -> File {
    let dir = net.place.at(".comail/hosts");
    fs::create_dir_all(&dir).expect("a directory of ours");
    let file = File::create(dir.join(lock_name())).expect("a file of ours");
    file.lock().expect("nobody else holds it");
    file
}

fn wrong(net: &EmailNet) -> Submission {
    net.acme().email("nobody@acme.co.kr")
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("an id of a process");
    kill(Pid::from_raw(pid), signal).expect("the process is there");
}

#[test]
fn a_lock_that_another_process_holds_is_no_silence() {
    let net = hurried(&[ACME], "1", 3_000);
    let (held, before) = (hold(&net), net.place.ledger());
    let mut command = net.place.command();
    let run = Run::of(command.args(wrong(&net).args(1)).arg("--json"));
    for words in [
        "error: comail was kept from asking: ",
        "the lock of www.acme.co.kr",
        &lock_name(),
        "nothing was recorded, and no try was used",
        "hint: end the process that holds the lock",
    ] {
        run.says(words);
    }
    let (code, answer) = run.json();
    assert_eq!((code, &answer["error"]["kind"]), (1, &"not-asked".into()));
    assert_eq!(net.place.ledger(), before);
    assert_eq!(net.net.web.connections(), 0);
    drop(held);
    let (code, _) = net.submit(1, &wrong(&net));
    assert_eq!(code, 5);
    assert_eq!(net.place.attempts(), [(1, 1)]);
}

#[test]
fn a_run_whose_agent_cannot_get_a_lock_three_times_in_a_row_ends() {
    let net = hurried(&[ACME], "0.2", 300);
    let _held = hold(&net);
    let script = format!("cat > prompt; comail {}; :", wrong(&net).args(1).join(" "));
    let mut command = net.place.command();
    command.env("PATH", PATH).arg("run").args(QUICK);
    let run = Run::of(command.args(["--", "sh", "-c", &script]));
    run.says("answers could not be judged three times in a row: comail was kept from asking");
    run.exits(8);
    let steps = net.place.events("run");
    let ended = steps.iter().rfind(|step| step["what"] == "ended").unwrap();
    assert_eq!(ended["reason"], "no-network");
    assert_eq!(net.place.attempts(), []);
}

/// However long the queue is, each answer is judged by what the site says.
#[test]
fn many_submissions_to_one_slow_host_are_all_judged() {
    const CROWD: u32 = 12;
    let names: Vec<String> = (1..=CROWD).map(|n| format!("Acme Foods {n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // One submission alone takes a fraction of its two seconds, and all of them take much longer.
    let net = hurried(&names, "2", 2_000);
    let slow = || Reply::Late(Duration::from_millis(250), page(ACME, "info@acme.co.kr"));
    net.net.web.reply(WWW, "/", slow());
    net.net.web.reply(WWW, "/contact", slow());
    let submits = (1..=CROWD).map(|id| net.place.start(wrong(&net).args(id)));
    let submits: Vec<Child> = submits.collect();
    for child in submits {
        let run = Run::of_child(child);
        assert_eq!(run.code, 5, "{run:?}");
    }
    assert_eq!(net.place.attempts().len(), names.len());
    assert_eq!(net.net.web.busiest(WWW), 1);
}

#[test]
fn an_answer_that_came_while_comail_was_stopped_counts() {
    let net = hurried(&[ACME], "1", 10_000);
    let barrier = Arc::new(Barrier::new(2));
    let html = page(ACME, "Write to info@acme.co.kr");
    net.answers(Reply::Meet(Arc::clone(&barrier), html));
    let child = net.place.start(wrong(&net).args(1));
    until("the page is asked for", || {
        net.net.web.count(WWW, "/contact") == 1
    });
    signal(&child, Signal::SIGSTOP);
    // Longer than a request may take.
    thread::sleep(Duration::from_millis(1_500));
    barrier.wait();
    signal(&child, Signal::SIGCONT);
    let run = Run::of_child(child);
    assert_eq!(run.code, 5, "{run:?}");
}

#[test]
fn a_lookup_that_ends_without_an_answer_after_a_stop_is_no_silence() {
    let net = hurried(&[ACME], "1", 10_000);
    let silent = net.answers(Reply::Hang);
    let before = net.place.ledger();
    let child = net.place.start(silent.args(1));
    until("the page is asked for", || {
        net.net.web.count(WWW, "/contact") == 1
    });
    signal(&child, Signal::SIGSTOP);
    // More than twice as long as comail waits for it while it runs.
    thread::sleep(Duration::from_millis(2_500));
    signal(&child, Signal::SIGCONT);
    let run = Run::of_child(child);
    run.says("comail itself was stopped");
    run.exits(1);
    assert_eq!(net.place.ledger(), before);
    // Negative control: a site that does not answer while comail runs.
    net.expect(1, &silent, "REVIEW", &["source-unanswered"]);
}

/// Negative control: the site says how long comail must wait, and so may take all of its time.
#[test]
fn a_crawl_delay_that_takes_all_the_time_is_a_review() {
    let net = hurried(&[ACME], "10", 1_200);
    let robots = "User-agent: *\nCrawl-delay: 3600\n";
    let robots = Reply::status(200)
        .with("Content-Type", "text/plain")
        .body(robots);
    net.net.web.reply(WWW, "/robots.txt", robots);
    for (from, to) in [("/contact", "/two"), ("/two", "/three")] {
        net.net.web.reply(WWW, from, Reply::redirect(302, to));
    }
    net.put("/three", &page(ACME, "info@acme.co.kr"));
    let (verdict, rules) = net.judge(&net.acme());
    assert_eq!(verdict, "REVIEW");
    assert!(rules.contains(&"source-unanswered".to_owned()), "{rules:?}");
    assert_eq!(net.net.web.count(WWW, "/three"), 0);
}

#[test]
fn what_is_put_in_place_of_the_locks_changes_no_verdict() {
    for put in [
        |hosts: &str| fs::write(hosts, "").expect("a file"),
        |hosts: &str| mkfifo(hosts, Mode::S_IRWXU).expect("a FIFO"),
        |hosts: &str| {
            fs::create_dir(hosts).expect("a directory");
            mkfifo(&*format!("{hosts}/{}", lock_name()), Mode::S_IRWXU).expect("a FIFO");
        },
    ] {
        let net = EmailNet::start();
        let hosts = net.place.at(".comail/hosts");
        put(hosts.to_str().expect("UTF-8"));
        let (code, answer) = net.submit(1, &wrong(&net));
        assert_eq!(code, 5, "{answer:#}");
    }
}
