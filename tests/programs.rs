//! JSON for programs: errors, and the remedy of each fact.

use std::fs;

use serde_json::{Value, json};

use crate::harness::email_net::{ACME, Submission};
use crate::harness::{EmailNet, Place, Run};
use crate::servers::http::Reply;

/// Runs a command that must end with an error, and returns its exit code and the kind.
#[track_caller]
fn fails(place: &Place, args: &[&str]) -> (i32, String) {
    let run = place.run([args, &["--json"]].concat());
    let reply: Value = serde_json::from_str(&run.stdout).expect("one document");
    let error = &reply["error"];
    let message = error["message"].as_str().expect("a message");
    // People see the same on stderr, where a long message of clap has several lines.
    let first = message.split(" [").next().unwrap_or_default();
    run.says(&format!("error: {first}"));
    let kind = error["kind"].as_str().expect("a word");
    (run.code, kind.to_owned())
}

#[test]
fn an_error_is_a_document_with_a_kind_and_the_same_exit_code() {
    let place = Place::new();
    place.scan(&[ACME], &[]);
    place.run(["export", "out.csv"]).ok();
    place.write("bad.json", "{");
    for (args, code, kind) in [
        (&["next", "--session=none"][..], 1, "no-session"),
        (&["scan", "companies.txt"], 1, "exists"),
        (&["export", "out.csv"], 1, "exists"),
        (&["demo", "--dir", "."], 1, "exists"),
        (&["submit", "--id=1", "--in=none.json"], 1, "io"),
        (&["submit", "--id=1", "--in=bad.json"], 2, "usage"),
        (&["submit", "--id=9", "--none=x"], 2, "usage"),
        (&["rules", "nope"], 2, "usage"),
        (&["next", "--leese=2h"], 2, "usage"),
        (&["frobnicate"], 2, "usage"),
        (&[], 2, "usage"),
    ] {
        assert_eq!(fails(&place, args), (code, kind.to_owned()), "{args:?}");
    }
    let hint = |args: &[&str]| place.json(args).1["error"]["hint"].clone();
    assert_eq!(hint(&["rules", "no-replay"]), "did you mean `no-reply`?");
    let tip = "a similar argument exists: '--lease'";
    assert_eq!(hint(&["next", "--leese=2h"]), tip);
    // What follows `--` belongs to the agent.
    let agents = ["run", "--nonesuch", "--", "agent", "--json"];
    assert_eq!(place.run(agents).exits(2), "");
    let ledger = place.at(".comail/ledger.jsonl");
    let whole = fs::read_to_string(&ledger).expect("a ledger");
    fs::write(&ledger, whole.replacen("quest", "guest", 1)).expect("written");
    assert_eq!(fails(&place, &["audit", "--head"]).1, "usage");
    assert_eq!(fails(&place, &["export", "new.csv"]).1, "damaged");
}

/// The remedy of each fact, by rule, as `rules` prints them.
fn remedy_of(place: &Place, rule: &Value) -> Value {
    let (_, catalogue) = place.json(["rules"]);
    let rules = catalogue["rules"].as_array().expect("rules");
    let rule = rules.iter().find(|one| one["id"] == *rule);
    rule.expect("a rule of the session")["remedy"].clone()
}

#[track_caller]
fn assert_remedies(place: &Place, facts: &Value) {
    let facts = facts.as_array().expect("facts");
    assert!(!facts.is_empty());
    for fact in facts {
        assert_eq!(fact["remedy"], remedy_of(place, &fact["rule"]), "{fact:#}");
    }
}

#[test]
fn each_printed_fact_has_the_remedy_of_its_rule_and_no_recorded_one_has() {
    let net = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let silent = net.answers(Reply::Reset);
    let (_, reviewed) = net.submit(1, &silent);
    assert_remedies(&net.place, &reviewed["facts"]);
    let (_, rechecked) = net.place.json(["recheck"]);
    assert_remedies(&net.place, &rechecked["quests"][0]["facts"]);
    let (_, item) = net.place.json(["review", "show", "1"]);
    assert_remedies(&net.place, &item["facts"]);
    net.company("bolt.co.kr", "Bolt Toys");
    let right = net.right("bolt.co.kr");
    let (_, failed) = net.submit(2, &right.clone().email("nobody@bolt.co.kr"));
    assert_remedies(&net.place, &failed["facts"]);
    let (_, next) = net.place.json(["next"]);
    assert_remedies(&net.place, &next["facts"]);
    net.expect(2, &right, "PASS", &[]);
    net.net
        .web
        .page("www.bolt.co.kr", "/contact", "<p>moved</p>");
    let (code, audited) = net.place.json(["audit", "--live"]);
    assert_eq!(code, 8, "{audited:#}");
    assert_remedies(&net.place, &audited["findings"][0]["facts"]);
    let (_, proof) = net.place.json(["prove"]);
    for control in proof["controls"].as_array().expect("controls") {
        for fact in control["judgement"]["facts"].as_array().expect("facts") {
            assert_ne!(fact["remedy"], json!(null), "{control:#}");
        }
    }
    for attempt in net.place.events("attempt") {
        for fact in attempt["judgement"]["facts"].as_array().expect("facts") {
            assert_eq!(fact.get("remedy"), None, "{attempt:#}");
        }
    }
}

/// Submits for quest `id` with this key.
fn keyed(net: &EmailNet, id: u32, submission: &Submission, key: &str) -> (i32, Value) {
    let key = format!("--idempotency-key={key}");
    let args = submission.args(id).into_iter().chain([key]);
    net.place.json(args)
}

#[test]
fn the_same_call_again_returns_what_was_recorded_and_uses_no_try() {
    let net = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let wrong = net.acme().email("nobody@acme.co.kr");
    let failed = keyed(&net, 1, &wrong, "first");
    assert_eq!((failed.0, &failed.1["tries"]), (5, &json!(1)));
    let (ledger, connections) = (net.place.ledger(), net.net.web.connections());
    assert_eq!(keyed(&net, 1, &wrong, "first"), failed);
    assert_eq!(net.net.web.connections(), connections, "nothing is judged");
    // A key serves for one answer to one quest by one worker.
    let refuses = |(code, reply): (i32, Value)| {
        assert_eq!((code, &reply["error"]["kind"]), (2, &json!("usage")));
    };
    refuses(keyed(&net, 1, &net.acme(), "first"));
    refuses(keyed(&net, 2, &wrong, "first"));
    let by_kim = ["--worker=kim", "--idempotency-key=first"].map(str::to_owned);
    refuses(net.place.json(wrong.args(1).into_iter().chain(by_kim)));
    for bad in ["", "a b", "é", &"x".repeat(256)] {
        refuses(keyed(&net, 1, &wrong, bad));
    }
    assert!(net.place.ledger() == ledger);
    // Without its key, the same answer is a repeat, which uses a try.
    let (code, repeated) = keyed(&net, 1, &wrong, "second");
    assert_eq!((code, &repeated["tries"]), (5, &json!(2)));
    assert_eq!(repeated["facts"][0]["rule"], "repeated-submission");

    let passed = keyed(&net, 1, &net.acme(), &"x".repeat(255));
    assert_eq!((passed.0, &passed.1["verdict"]), (0, &json!("PASS")));
    let ledger = net.place.ledger();
    assert_eq!(keyed(&net, 1, &net.acme(), &"x".repeat(255)), passed);
    assert_eq!(net.submit(1, &net.acme()).1["status"], "locked");
    // What was recorded first is returned, whatever happened since.
    let (code, mut again) = keyed(&net, 1, &wrong, "first");
    assert_eq!(again["tally"]["todo"], 1);
    again["tally"] = failed.1["tally"].clone();
    assert_eq!((code, again), failed);
    refuses(keyed(&net, 2, &net.acme(), "second"));
    assert!(net.place.ledger() == ledger);
    // The ledger has digests of the keys, so that no text of an agent is kept in them.
    let text = String::from_utf8(ledger).expect("UTF-8");
    assert!(!text.contains("\"first\"") && !text.contains("xxxx"));
    let keys = net.place.events("attempt").into_iter();
    let keys = keys.filter(|attempt| attempt["idempotency_key"].is_string());
    assert_eq!(keys.count(), 3);
}

#[test]
fn of_the_same_call_made_at_once_one_is_judged_and_all_get_its_judgement() {
    let net = EmailNet::with(&[ACME], &[]);
    let call = net.acme().email("nobody@acme.co.kr").args(1);
    let call = || {
        call.iter()
            .map(String::as_str)
            .chain(["--idempotency-key=k"])
    };
    let children: Vec<_> = (0..4).map(|_| net.place.start(call())).collect();
    let replies = children
        .into_iter()
        .map(|child| Run::of_child(child).json());
    let replies: Vec<_> = replies.collect();
    assert_eq!(replies[0].0, 5, "{:#}", replies[0].1);
    assert!(
        replies.iter().all(|reply| *reply == replies[0]),
        "{replies:#?}"
    );
    assert_eq!(net.place.attempts(), [(1, 1)]);
}
