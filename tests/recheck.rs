//! `recheck`: what becomes of REVIEWs that only an unanswered lookup stood in the way of.

use comail::session::Session;
use comail::world::RecordKind;
use hickory_resolver::proto::op::ResponseCode;
use serde_json::Value;

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, WWW, page, rules};
use crate::harness::replayed::resolutions;
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
        .run(["export", "out.csv", "--force", &columns])
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
        status["resolutions"],
        serde_json::json!({"confirmed": 1, "refuted": 0, "open": 0})
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
    let cells = exported(&net, ACME, "email,status,rule");
    let expected = ["info@acme.co.kr", "REVIEW (open)", "email-obfuscated"];
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
    let sales = net.at("/sales").email("sales@acme.co.kr");
    net.put("/sales", &page(ACME, "sales@acme.co.kr"));
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
