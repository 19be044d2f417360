//! Evidence as JSON, and packed bodies.

use super::*;
use crate::world::{MockAccepted, Silence};

fn get(url: &str, answer: PageAnswer) -> Exchange {
    Exchange::Get(PageExchange {
        url: Url::parse(url).unwrap(),
        answer,
    })
}

fn asked(holder: Option<&str>) -> Exchange {
    Exchange::Session(SessionExchange {
        taken: serde_json::from_str(r#"{"domain":"acme.com"}"#).unwrap(),
        holder: holder.map(|key| Key::new(key).unwrap()),
    })
}

fn evidence(exchanges: Vec<Exchange>) -> Evidence {
    Evidence { exchanges }
}

#[test]
fn has_the_documented_form() {
    let response = Response {
        status: 200,
        content_type: Some("text/html".to_owned()),
        location: None,
        refresh: None,
        body: b"abc".to_vec(),
    };
    let (answer, body) = PageAnswer::of(Fetched::Response(response));
    assert_eq!(body.unwrap().1, b"abc");
    let evidence = evidence(vec![
        get("https://acme.com/contact", answer),
        get("https://gone.com/", PageAnswer::NoSuchHost),
        Exchange::Dns(DnsExchange {
            name: HostName::parse("acme.com").unwrap(),
            kind: RecordKind::Mx,
            answer: Looked::NoData,
        }),
        asked(None),
    ]);
    let json = serde_json::json!({"exchanges": [
        {"get": {"url": "https://acme.com/contact", "answer": {"response": {
            "status": 200, "content_type": "text/html",
            "body": {"sha256": Digest::of(b"abc"), "bytes": 3}}}}},
        {"get": {"url": "https://gone.com/", "answer": "no-such-host"}},
        {"dns": {"name": "acme.com", "kind": "MX", "answer": "no-data"}},
        {"session": {"taken": {"domain": "acme.com"}, "holder": null}},
    ]});
    assert_eq!(serde_json::to_value(&evidence).unwrap(), json);
    assert_eq!(serde_json::from_value::<Evidence>(json).unwrap(), evidence);
}

#[test]
fn silence_is_what_the_world_did_not_answer() {
    let unanswered = |status| PageAnswer::Unanswered(Unanswered::status(status));
    let rests = |exchange| evidence(vec![asked(None), exchange]).rests_on_silence();
    assert!(rests(get("https://acme.com/", unanswered(403))));
    assert!(rests(get("https://acme.com/robots.txt", unanswered(503))));
    assert!(!rests(get("https://acme.com/robots.txt", unanswered(403))));
    assert!(!rests(get("https://acme.com/", PageAnswer::NoSuchHost)));
    let dns = |answer| {
        Exchange::Dns(DnsExchange {
            name: HostName::parse("acme.com").unwrap(),
            kind: RecordKind::A,
            answer,
        })
    };
    assert!(rests(dns(Looked::Unanswered(Unanswered::new(
        Silence::Dns,
        "SERVFAIL"
    )))));
    assert!(!rests(dns(Looked::NoSuchName)));
}

#[test]
fn notices_that_the_session_learnt_something() {
    let mut accepted = MockAccepted::new();
    accepted
        .expect_holder()
        .returning(|_| Some(Key::new("Acme").unwrap()));
    assert!(evidence(vec![asked(None)]).session_differs(&accepted));
    assert!(evidence(vec![asked(Some("Other"))]).session_differs(&accepted));
    assert!(!evidence(vec![asked(Some("Acme"))]).session_differs(&accepted));
    assert!(!evidence(Vec::new()).session_differs(&accepted));
}
