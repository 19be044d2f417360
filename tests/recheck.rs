//! `recheck`: what becomes of REVIEWs that only an unanswered lookup kept from a verdict.

use std::cell::RefCell;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use comail::session::Session;
use comail::world::RecordKind;
use hickory_resolver::proto::op::ResponseCode;
use serde_json::Value;

use crate::harness::email_net::{ACME, WWW, page, rules};
use crate::harness::replayed::{assert_audited, resolutions};
use crate::harness::{EmailNet, Run, until};
use crate::servers::dns::Answer;
use crate::servers::http::Reply;

/// A session in which nothing answered when quest 1 was submitted.
fn silent() -> EmailNet {
    silent_among(&[ACME])
}

fn silent_among(names: &[&str]) -> EmailNet {
    let net = EmailNet::with(names, &[]);
    let submission = net.answers(Reply::Reset);
    net.expect(1, &submission, "REVIEW", &["source-unanswered"]);
    net
}

/// Runs `recheck`, which ends well, and returns its document.
#[track_caller]
fn recheck(net: &EmailNet) -> Value {
    let (code, report) = net.place.json(["recheck"]);
    assert_eq!((code, &report["status"]), (0, &"done".into()), "{report:#}");
    report
}

/// How many became what: confirmed, refuted, open, still unanswered.
fn counts(report: &Value) -> [u64; 4] {
    let names = ["confirmed", "refuted", "open", "unanswered"];
    names.map(|name| report[name].as_u64().expect("a count"))
}

/// Exports as CSV and returns the cells of the row that begins with `key`, by these columns.
fn exported(net: &EmailNet, key: &str, columns: &str) -> Vec<String> {
    let columns = format!("--columns={columns}");
    net.place
        .run(["export", "--out=out.csv", "--force", &columns])
        .ok();
    let bytes = std::fs::read(net.place.at("out.csv")).expect("the export");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes);
    let mut rows = reader.records().map(|row| row.expect("a record"));
    let row = rows.find(|row| &row[0] == key);
    let row = row.unwrap_or_else(|| panic!("no row of {key}"));
    row.iter().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_site_that_answers_now_confirms_what_it_could_not_then() {
    let net = silent();
    net.contact("info@acme.co.kr");
    let report = recheck(&net);
    assert_eq!(counts(&report), [1, 0, 0, 0], "{report:#}");
    let expected = serde_json::json!([
        {"id": 1, "key": ACME, "became": "confirmed", "facts": []}
    ]);
    assert_eq!(report["quests"], expected);
    // The state stays; the address is there to be used.
    let (_, status) = net.place.json(["status"]);
    assert_eq!(status["tally"]["review"], 1);
    assert_eq!(
        status["rechecked"],
        serde_json::json!({"confirmed": 1, "refuted": 0, "undecided": 0})
    );
    let status = net.place.run(["status"]).ok();
    assert!(status.contains("100.0 %  (1 confirmed)\n"), "{status}");
    assert_eq!(
        exported(&net, ACME, "email,status,rule,facts"),
        ["info@acme.co.kr", "REVIEW (confirmed)", "", ""]
    );
    // It is settled: nothing is left to look at again.
    let asked = net.net.web.connections();
    assert_eq!(counts(&recheck(&net)), [0; 4]);
    assert_eq!(net.net.web.connections(), asked);
}

#[test]
fn a_site_that_shows_another_address_now_refutes_it() {
    let net = silent();
    net.contact("sales@acme.co.kr");
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 1, 0, 0], "{report:#}");
    let quest = &report["quests"][0];
    assert_eq!(quest["became"], "refuted");
    assert_eq!(rules(quest), ["email-not-on-source"]);
    let cells = exported(&net, ACME, "email,site,source,status,rule,facts");
    assert_eq!(cells[..3], ["", "", ""], "what failed is nobody's address");
    assert_eq!(cells[3..5], ["REVIEW (refuted)", "email-not-on-source"]);
    assert!(cells[5].contains("sales@acme.co.kr"), "{cells:?}");
    // For people too.
    let net = silent();
    net.answers(Reply::status(404));
    let text = net.place.run(["recheck"]).ok();
    let head = "refuted quest 1, Acme Foods: the gate fails it now; a person decides\n  \
                FAIL source-missing";
    assert!(text.starts_with(head), "{text}");
    let foot = "1 judged again: 0 confirmed, 1 refuted, 0 open, 0 still unanswered\n";
    assert!(text.ends_with(foot), "{text}");
}

#[test]
fn a_world_that_answers_and_leaves_doubts_leaves_it_open() {
    let net = silent();
    net.contact("info [at] acme [dot] co [dot] kr");
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 0, 1, 0], "{report:#}");
    assert_eq!(rules(&report["quests"][0]), ["email-obfuscated"]);
    let cells = exported(&net, ACME, "email,email-to-review,status,rule");
    let expected = ["", "info@acme.co.kr", "REVIEW (open)", "email-obfuscated"];
    assert_eq!(cells, expected);
    assert_eq!(counts(&recheck(&net)), [0; 4]);
}

#[test]
fn a_world_that_is_still_silent_changes_nothing() {
    let net = silent();
    let before = net.place.ledger();
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 0, 0, 1], "{report:#}");
    assert_eq!(report["quests"][0]["became"], "unanswered");
    assert_eq!(rules(&report["quests"][0]), ["source-unanswered"]);
    assert_eq!(net.place.ledger(), before);
    // Half an answer is none: what the mail's domain says is still to come.
    net.contact("info [at] acme [dot] co [dot] kr");
    let broken = Answer::Code(ResponseCode::ServFail);
    net.net.dns.says("acme.co.kr", RecordKind::Mx, broken);
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 0, 0, 1], "{report:#}");
    assert_eq!(net.place.ledger(), before);
    assert_eq!(exported(&net, ACME, "status"), ["REVIEW"]);
}

#[test]
fn robots_txt_that_did_not_answer_is_silence_and_one_that_forbids_is_not() {
    let net = EmailNet::start();
    let robots = |reply| net.net.web.reply(WWW, "/robots.txt", reply);
    robots(Reply::status(503));
    let both = &["identity-unanswered", "source-robots"];
    net.expect(1, &net.acme(), "REVIEW", both);
    robots(Reply::html("User-agent: *\nDisallow: /contact\n"));
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 0, 1, 0], "{report:#}");
    assert_eq!(rules(&report["quests"][0]), ["source-robots"]);

    let net = EmailNet::start();
    let robots = |reply| net.net.web.reply(WWW, "/robots.txt", reply);
    robots(Reply::status(503));
    net.expect(1, &net.acme(), "REVIEW", both);
    robots(Reply::status(404));
    assert_eq!(counts(&recheck(&net)), [1, 0, 0, 0]);
}

#[test]
fn a_reopened_review_is_judged_again_as_before() {
    let net = EmailNet::unscanned();
    net.place.write("operator.key", [7; 32]);
    let flags = net.flags_with(&["--operator-key=operator.key"]);
    net.place.scan(&[ACME], &flags);
    let submission = net.answers(Reply::Reset);
    net.expect(1, &submission, "REVIEW", &["source-unanswered"]);
    net.contact("info@acme.co.kr");
    let settle = |verb: &str| {
        let review = [
            "review",
            verb,
            "1",
            "--note=x",
            "--operator-key=operator.key",
        ];
        net.place.run(review).ok();
    };
    settle("accept");
    assert_eq!(counts(&recheck(&net)), [0; 4], "a person decided");
    settle("reopen");
    assert_eq!(counts(&recheck(&net)), [1, 0, 0, 0]);
    assert_eq!(exported(&net, ACME, "status"), ["REVIEW (confirmed)"]);
    assert_audited(&net.place.at(".comail"));
    settle("accept");
    settle("reopen");
    assert_eq!(
        counts(&recheck(&net)),
        [0; 4],
        "it was judged again already"
    );
}

#[test]
fn reviews_on_other_rules_are_left_alone() {
    let net = EmailNet::with(&[ACME, "Bolt Toys", "Cape Tea"], &[]);
    // Silence is not all that stands in the way of the first.
    net.net.host("mail.gmail.com");
    net.net.dns.mx("gmail.com", 10, "mail.gmail.com");
    let submission = net.answers(Reply::Reset).email("acme.foods@gmail.com");
    let both = &["freemail", "source-unanswered"];
    net.expect(1, &submission, "REVIEW", both);
    // robots.txt has spoken.
    net.company("bolt.kr", "Bolt Toys");
    let ban = Reply::html("User-agent: *\nDisallow: /\n");
    net.net.web.reply("www.bolt.kr", "/robots.txt", ban);
    let banned = &["identity-unanswered", "source-robots"];
    net.expect(2, &net.right("bolt.kr"), "REVIEW", banned);
    // Nothing was silent.
    net.company("cape.kr", "Cape Tea");
    let doubt = page("Cape Tea", "info [at] cape [dot] kr");
    net.net.web.page("www.cape.kr", "/contact", &doubt);
    net.expect(3, &net.right("cape.kr"), "REVIEW", &["email-obfuscated"]);

    let (asked, before) = (net.net.web.connections(), net.place.ledger());
    let text = net.place.run(["recheck"]).ok();
    assert!(text.starts_with("nothing to judge again: "), "{text}");
    assert_eq!(net.net.web.connections(), asked);
    assert_eq!(net.place.ledger(), before);
}

#[test]
fn a_confirmation_takes_its_address() {
    let names = [ACME, "Acme Foods Inc.", "Acme Foods Ltd."];
    let net = silent_among(&names);
    let right = net.contact("info@acme.co.kr");
    assert_eq!(counts(&recheck(&net)), [1, 0, 0, 0]);
    net.expect(2, &right, "REVIEW", &["email-reused"]);
    let sales = net.presents("/sales", &page(ACME, "sales@acme.co.kr"));
    let sales = net.acme().email("sales@acme.co.kr").source(&sales);
    net.expect(3, &sales, "REVIEW", &["domain-reused"]);
}

#[test]
fn what_another_quest_took_meanwhile_is_not_confirmed() {
    let net = silent_among(&[ACME, "Acme Foods Inc."]);
    let right = net.contact("info@acme.co.kr");
    net.expect(2, &right, "PASS", &[]);
    let report = recheck(&net);
    assert_eq!(counts(&report), [0, 0, 1, 0], "{report:#}");
    assert_eq!(rules(&report["quests"][0]), ["email-reused"]);
}

#[test]
fn of_two_that_wait_for_one_address_one_is_confirmed() {
    let net = silent_among(&[ACME, "Acme Foods Inc."]);
    net.expect(2, &net.acme(), "REVIEW", &["source-unanswered"]);
    net.contact("info@acme.co.kr");
    let report = recheck(&net);
    assert_eq!(counts(&report), [1, 0, 1, 0], "{report:#}");
    assert_eq!(report["quests"][0]["became"], "confirmed");
    assert_eq!(rules(&report["quests"][1]), ["email-reused"]);
}

#[test]
fn an_earlier_answer_of_the_quest_is_not_the_one_that_is_judged() {
    let net = EmailNet::start();
    let made_up = net.acme().email("made.up@acme.co.kr");
    net.expect(1, &made_up, "FAIL", &["email-not-on-source"]);
    let submission = net.answers(Reply::Reset);
    net.expect(1, &submission, "REVIEW", &["source-unanswered"]);
    net.contact("info@acme.co.kr");
    assert_eq!(counts(&recheck(&net)), [1, 0, 0, 0]);
    let session = Session::open(&net.place.at(".comail")).expect("a session");
    assert_eq!(resolutions(&session)[0].attempt, 2);
}

#[test]
fn mail_hosts_with_private_addresses_alone_are_looked_up_again() {
    let net = EmailNet::start();
    let mail_host = |address: &str| {
        let dns = &net.net.dns;
        dns.says("mail.acme.co.kr", RecordKind::A, Answer::NoData);
        dns.host("mail.acme.co.kr", address);
    };
    mail_host("10.0.0.1");
    net.expect(1, &net.acme(), "REVIEW", &["mx-unanswered"]);
    assert_eq!(counts(&recheck(&net)), [0, 0, 0, 1]);
    mail_host("2606:2800:21f::1");
    assert_eq!(counts(&recheck(&net)), [1, 0, 0, 0]);
}

fn start(net: &EmailNet) -> Child {
    let mut command = net.place.command();
    let command = command.args(["recheck", "--json"]);
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("the program starts")
}

fn lines_of_resolutions(net: &EmailNet) -> usize {
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
    let net = EmailNet::with(
        &names,
        &["--set=network.timeout=20", "--set=scan.pause-after=0"],
    );
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
    assert_eq!(lines_of_resolutions(&net), 1);
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
    until("Acme is on disk", || lines_of_resolutions(&net) == 1);
    let held = || net.net.web.count("www.bolt.kr", "/contact") == 3;
    until("Bolt is being asked", held);
    press_ctrl_c(&child);
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let report: Value = serde_json::from_str(&run.exits(130)).expect("one document");
    assert_eq!(report["status"], "interrupted", "{report:#}");
    assert_eq!(report["left"], 2, "{report:#}");
    assert_eq!(report["quests"].as_array().expect("quests").len(), 1);
    assert_eq!(report["quests"][0]["became"], "confirmed");
    assert_eq!(lines_of_resolutions(&net), 1);
    // The site was held until now: nobody waited for it.
    barrier.wait();

    let (code, report) = net.place.json(["recheck"]);
    assert_eq!((code, &report["left"]), (0, &0.into()), "{report:#}");
    let became = |at: usize| report["quests"][at]["became"].as_str();
    assert_eq!((became(0), became(1)), (Some("confirmed"), Some("open")));
    assert_eq!(report["quests"][0]["id"], 2);
    assert_eq!(lines_of_resolutions(&net), 3);
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
            assert_eq!((said.as_str(), lines_of_resolutions(&net)), ("", 0));
        } else {
            let report: Value = serde_json::from_str(&said).expect("one document");
            assert_eq!(
                (&report["confirmed"], &report["left"]),
                (&1.into(), &2.into())
            );
            assert_eq!(lines_of_resolutions(&net), 1);
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
