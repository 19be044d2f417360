//! Evidence as JSON, and packed bodies.

use super::sandbox::Kept as _;
use super::*;
use crate::world::sandbox::{ChatOrder, Chatted, Said, Usage};
use crate::world::{MockUniquenessIndex, Response, UnansweredKind};

fn get(url: &str, answer: PageAnswer) -> Exchange {
    Exchange::Get {
        url: Url::parse(url).unwrap(),
        answer,
    }
}

fn asked(holder: Option<&str>) -> Exchange {
    Exchange::Session {
        taken: serde_json::from_str(r#"{"domain":"acme.com"}"#).unwrap(),
        holder: holder.map(|key| Key::new(key).unwrap()),
    }
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
        Exchange::Dns {
            name: HostName::parse("acme.com").unwrap(),
            kind: RecordKind::Mx,
            answer: Looked::NoData,
        },
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
    let dns = |answer| Exchange::Dns {
        name: HostName::parse("acme.com").unwrap(),
        kind: RecordKind::A,
        answer,
    };
    assert!(rests(dns(Looked::Unanswered(Unanswered::new(
        UnansweredKind::Dns,
        "SERVFAIL"
    )))));
    assert!(!rests(dns(Looked::NoSuchName)));
}

#[test]
fn notices_that_the_session_learnt_something() {
    let mut accepted = MockUniquenessIndex::new();
    accepted
        .expect_holder()
        .returning(|_| Some(Key::new("Acme").unwrap()));
    assert!(evidence(vec![asked(None)]).session_differs(&accepted));
    assert!(evidence(vec![asked(Some("Other"))]).session_differs(&accepted));
    assert!(!evidence(vec![asked(Some("Acme"))]).session_differs(&accepted));
    assert!(!evidence(Vec::new()).session_differs(&accepted));
}

#[test]
fn what_a_model_said_is_kept_with_its_words_apart() {
    let order = ChatOrder {
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        model: "small".to_owned(),
        key: Some("A_KEY".to_owned()),
        system: "Doubt.".to_owned(),
        prompt: "Well?".to_owned(),
        timeout_ms: 1_000,
        retries: 2,
        most_bytes: 100,
    };
    let said = Chatted::Said(Said {
        text: "No.".to_owned(),
        usage: Usage {
            input_tokens: Some(7),
            output_tokens: None,
            cost: None,
        },
        millis: 12,
        tries: 1,
    });
    let mut bodies = BTreeMap::new();
    let answer = said.clone().stored(&mut |bytes| {
        let body = BodyRef::of(&bytes);
        bodies.insert(body.sha256, bytes);
        body
    });
    let asked = Asked::Chat(Box::new(order));
    let exchange = Exchange::Sandbox { asked, answer };
    let json = serde_json::json!({"sandbox": {
        "asked": {"chat": {
            "base_url": "http://127.0.0.1:1/v1", "model": "small", "key": "A_KEY",
            "system": "Doubt.", "prompt": "Well?",
            "timeout_ms": 1_000, "retries": 2, "most_bytes": 100}},
        "answer": {"chat": {"said": {
            "text": {"sha256": Digest::of(b"No."), "bytes": 3},
            "usage": {"input_tokens": 7}, "millis": 12, "tries": 1}}}}});
    assert_eq!(serde_json::to_value(&exchange).unwrap(), json);
    let Exchange::Sandbox { answer, .. } = serde_json::from_value(json).unwrap() else {
        panic!("a question to the sandbox");
    };
    assert_eq!(Chatted::read(&answer, &bodies), Some(said));
    assert_eq!(answer.bodies().len(), 1);
}
