//! Evidence leads to the same judgement again, and the check that says so would notice.
//!
//! That every other judgement of these tests replays is checked where each [`EmailNet`] ends.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use comail::judge::ReplayError;
use comail::session::{Attempt, Session};
use comail::world::evidence::{Evidence, pack, unpack};
use serde_json::value::to_raw_value;

use crate::harness::EmailNet;
use crate::harness::audited::bodies;
use crate::harness::email_net::ACME;
use crate::harness::replayed::{again, assert_replays, attempts};
use crate::servers::http::Reply;

const MOST: u64 = 10_000_000;

fn session(net: &EmailNet) -> Session {
    Session::open(&net.place.at(".comail")).expect("a session")
}

fn passed() -> (EmailNet, Session, Attempt) {
    let net = EmailNet::start();
    assert_eq!(net.says(&net.acme()), "PASS");
    let session = session(&net);
    let attempt = attempts(&session).remove(0);
    (net, session, attempt)
}

#[test]
fn attempts_of_every_ground_are_judged_the_same_again() {
    let net = EmailNet::with(&[ACME, "Acme Foods Inc."], &["--max-tries", "9"]);
    net.place
        .run(["submit", "--id=1", "--none=nobody answers"])
        .exits(5);
    let wrong = net.acme().email("made.up@acme.co.kr");
    let local = net.acme().email("info@bolt.kr");
    for submission in [&wrong, &wrong, &local, &net.acme()] {
        net.submit(1, submission);
    }
    // What the session knows is evidence too.
    net.submit(2, &net.acme());
    let mut grounds: Vec<_> = attempts(&session(&net))
        .iter()
        .map(|attempt| format!("{:?}", attempt.grounds))
        .collect();
    grounds.dedup();
    assert_eq!(
        grounds,
        [
            "NoResult",
            "World",
            "Repeat",
            "Submission",
            "Confirmed",
            "World"
        ]
    );
    assert_eq!(assert_replays(&net.place.at(".comail")), 6);
}

#[test]
fn a_silent_world_is_silent_again() {
    let net = EmailNet::start();
    let submission = net.answers(Reply::Reset);
    assert_eq!(net.says(&submission), "REVIEW source-unanswered");
    // The world has recovered meanwhile, and nobody asks it.
    net.contact("info@acme.co.kr");
    let before = net.net.web.connections();
    assert_eq!(assert_replays(&net.place.at(".comail")), 1);
    assert_eq!(net.net.web.connections(), before);
}

#[test]
fn an_altered_body_is_noticed() {
    let (net, session, attempt) = passed();
    net.spoils();
    let mut shows_it = 0;
    for path in bodies(&net) {
        let good = fs::read(&path).expect("a body");
        let body = unpack(&good, MOST).expect("a packed body");
        let mut other = body.clone();
        let Some(at) = other.iter().position(|byte| *byte == b'@') else {
            continue;
        };
        shows_it += 1;
        other[at + 1] ^= 1;
        let said = |edit: &dyn Fn() -> std::io::Result<()>| {
            edit().expect("a body");
            again(&session, &attempt).expect_err("it is not whole")
        };
        let changed = said(&|| fs::write(&path, pack(&other)));
        assert!(matches!(changed, ReplayError::BodyChanged { .. }));
        let damaged = said(&|| fs::write(&path, &good[..good.len() / 2]));
        assert!(matches!(damaged, ReplayError::BodyDamaged { .. }));
        let missing = said(&|| fs::remove_file(&path));
        assert!(matches!(missing, ReplayError::BodyMissing { .. }));
        fs::write(&path, good).expect("a body");
    }
    assert_eq!(shows_it, 1);
    assert_eq!(
        again(&session, &attempt).expect("whole again"),
        attempt.judgement.get()
    );
}

#[test]
fn altered_evidence_or_judgements_differ() {
    let (_net, session, attempt) = passed();
    let judge_raw = |evidence| {
        let other = Attempt {
            evidence,
            ..attempt.clone()
        };
        again(&session, &other)
    };
    let judge = |evidence: &str| {
        let evidence: Evidence = serde_json::from_str(evidence).expect("evidence");
        judge_raw(to_raw_value(&evidence).expect("evidence"))
    };
    let whole = attempt.evidence.get();
    assert_eq!(judge(whole).expect("whole"), attempt.judgement.get());
    for (said, said_instead, rule) in [
        ("\"holder\":null", "\"holder\":\"Bolt\"", "email-reused"),
        ("\"status\":200", "\"status\":404", "source-missing"),
        ("\"host\":\"mail.acme.co.kr\"", "\"host\":null", "mx-null"),
    ] {
        assert!(whole.contains(said), "{whole}");
        let other = judge(&whole.replace(said, said_instead)).expect("evidence enough");
        assert_ne!(other, attempt.judgement.get());
        assert!(other.contains(rule), "{other}");
    }
    let elsewhere = judge(&whole.replace("/contact", "/kontakt"));
    assert!(
        matches!(elsewhere, Err(ReplayError::Unanswered)),
        "{elsewhere:?}"
    );
    // Every answer is needed, and what is no evidence is no answer.
    let exchanges = serde_json::from_str::<Evidence>(whole).expect("evidence");
    for left_out in 0..exchanges.exchanges.len() {
        let mut less = exchanges.clone();
        less.exchanges.remove(left_out);
        let less = judge(&serde_json::to_string(&less).expect("JSON"));
        assert!(
            matches!(less, Err(ReplayError::Unanswered)),
            "{left_out}: {less:?}"
        );
    }
    let none = judge_raw(to_raw_value("no evidence").expect("JSON"));
    assert!(matches!(none, Err(ReplayError::Evidence(_))), "{none:?}");
}

#[test]
fn another_submission_is_not_judged_by_this_evidence() {
    let (net, session, attempt) = passed();
    let text = serde_json::to_string(&attempt.submission).expect("a submission");
    let made_up = text.replace("info@", "made.up@");
    let submission = serde_json::from_str(&made_up).expect("a submission");
    let other = again(
        &session,
        &Attempt {
            submission,
            ..attempt.clone()
        },
    );
    assert!(
        other
            .expect("the page is there")
            .contains("email-not-on-source")
    );
    drop(net);
}

#[test]
fn the_check_at_the_end_of_every_test_would_notice() {
    let (net, ..) = passed();
    for body in bodies(&net) {
        fs::remove_file(body).expect("a body");
    }
    let ended = catch_unwind(AssertUnwindSafe(move || drop(net)));
    let said = ended.expect_err("the check notices");
    let said = said.downcast_ref::<String>().expect("a message");
    assert!(said.contains("attempt 1 of quest 1"), "{said}");
}
