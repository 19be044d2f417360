//! Evidence as JSON, and packed bodies.

use std::convert::Infallible;

use proptest::prelude::*;

use super::sandbox::Kept as _;
use super::*;
use crate::world::sandbox::{Chatted, CommandResult, CommandSpec, Said, Usage};
use crate::world::{MockUniquenessIndex, Response, UnansweredKind};

fn get(url: &str, answer: PageAnswer) -> Exchange {
    Exchange::Get {
        url: Url::parse(url).unwrap(),
        answer,
    }
}

fn asked(holder: Option<&str>) -> Exchange {
    Exchange::Session {
        value: serde_json::from_str(r#"{"domain":"acme.com"}"#).unwrap(),
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
        disposition: None,
        body: BodyRef::of(b"abc"),
    };
    let answer = PageAnswer::Response(response);
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
        {"session": {"value": {"domain": "acme.com"}, "holder": null}},
    ]});
    assert_eq!(serde_json::to_value(&evidence).unwrap(), json);
    assert_eq!(serde_json::from_value::<Evidence>(json).unwrap(), evidence);
}

#[test]
fn lists_the_unanswered_lookups() {
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
fn notices_new_answers_of_the_session() {
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
fn the_text_of_a_model_is_stored_separately() {
    let said = Chatted::Said(Said {
        text: "No.".to_owned(),
        usage: Usage {
            input_tokens: Some(7),
            ..Usage::default()
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
    let json = serde_json::json!({"sandbox": {
        "asked": {"chat": {
            "base_url": "http://127.0.0.1:1/v1", "model": "small", "key": "A_KEY",
            "system": "Doubt.", "prompt": "Well?",
            "timeout_ms": 1_000, "retries": 2, "most_bytes": 100}},
        "answer": {"chat": {"said": {
            "text": {"sha256": Digest::of(b"No."), "bytes": 3},
            "usage": {"input_tokens": 7}, "millis": 12, "tries": 1}}}}});
    let asked = serde_json::from_value(json["sandbox"]["asked"].clone()).unwrap();
    let exchange = Exchange::Sandbox { asked, answer };
    assert_eq!(serde_json::to_value(&exchange).unwrap(), json);
    let Exchange::Sandbox { answer, .. } = serde_json::from_value(json).unwrap() else {
        panic!("a question to the sandbox");
    };
    assert_eq!(Chatted::read(&answer, &bodies), Some(said));
    assert_eq!(answer.bodies().len(), 1);
}

#[test]
fn rejects_damaged_and_oversized_packs() {
    let bomb = pack(&vec![0; 1 << 20]);
    assert!(bomb.len() < 1 << 12);
    let refused = unpack(&bomb, 1000);
    assert!(matches!(
        refused,
        Err(BadPack::TooLarge { limit_bytes: 1000 })
    ));
    assert_eq!(unpack(&bomb, 1 << 20).unwrap().len(), 1 << 20);
    let packed = pack(b"hello, hello, hello");
    let cut_off = &packed[..packed.len() - 1];
    let mut changed = packed.clone();
    let crc = packed.len() - 8;
    changed[crc] ^= 1;
    for damaged in [cut_off, &changed, b""] {
        assert!(matches!(unpack(damaged, 100), Err(BadPack::Damaged(_))));
    }
}

#[test]
fn a_pack_contains_no_time_and_no_system() {
    let packed = pack(b"x");
    assert_eq!(&packed[4..8], &[0; 4], "MTIME");
    assert_eq!(packed[9], OS_UNKNOWN);
}

proptest! {
    #[test]
    fn unpacks_what_it_packed(body in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let packed = pack(&body);
        prop_assert_eq!(&packed, &pack(&body));
        prop_assert_eq!(unpack(&packed, body.len() as u64).unwrap(), body);
    }
}

fn gets(exchanges: &[(&str, &str)]) -> Evidence {
    let exchanges: Vec<String> = exchanges
        .iter()
        .map(|(url, answer)| format!(r#"{{"get":{{"url":"{url}","answer":{answer}}}}}"#))
        .collect();
    let text = format!(r#"{{"exchanges":[{}]}}"#, exchanges.join(","));
    serde_json::from_str(&text).unwrap()
}

fn silent(status: u16) -> String {
    format!(
        r#"{{"unanswered":{{"silence":"status","detail":"HTTP status {status}","status":{status}}}}}"#
    )
}

fn response(status: u16, location: &str) -> String {
    let body = format!(r#"{{"sha256":"{}","bytes":0}}"#, "0".repeat(64));
    format!(r#"{{"response":{{"status":{status}{location},"body":{body}}}}}"#)
}

fn said(exchanges: &[(&str, &str)]) -> bool {
    let page = Url::parse("https://acme.com/contact?x=1").unwrap();
    gets(exchanges).robots_unanswered(&page)
}

const ROBOTS: &str = "https://acme.com/robots.txt";

#[test]
fn a_server_in_trouble_has_not_answered() {
    for (url, answer, expected) in [
        (ROBOTS, silent(503), true),
        (ROBOTS, silent(429), true),
        (ROBOTS, silent(403), false),
        (ROBOTS, response(200, ""), false),
        ("https://www.acme.com/robots.txt", silent(503), false),
    ] {
        assert_eq!(said(&[(url, &answer)]), expected, "{url} {answer}");
    }
    assert!(!said(&[]));
}

#[test]
fn follows_redirects_to_the_unanswered_robots_txt() {
    let elsewhere = response(301, r#","location":"https://www.acme.com/r.txt#x""#);
    let www = "https://www.acme.com/r.txt";
    assert!(said(&[(ROBOTS, &elsewhere), (www, &silent(500))]));
    assert!(!said(&[(ROBOTS, &elsewhere), (www, &response(200, ""))]));
    let circle = response(301, r#","location":"/robots.txt""#);
    assert!(!said(&[(ROBOTS, &circle)]));
}

#[test]
fn what_rests_on_this_machine_can_be_asked_again_without_the_network() {
    let run = |name: &str, network| {
        let order = CommandSpec {
            name: name.to_owned(),
            network,
            ..CommandSpec::default()
        };
        Exchange::Sandbox {
            answer: SandboxAnswer::Run(Box::new(ended())),
            asked: Question::Run(Box::new(order)),
        }
    };
    let page = || get("https://acme.com/", PageAnswer::NoSuchHost);
    let local = || run("tests", Network::None);
    let far = || run("asks", Network::Any);
    let reviewer = run(&CommandSpec::name_of_reviewer("reader"), Network::None);
    for (exchanges, with_tree, without) in [
        (vec![], false, false),
        (vec![page()], false, false),
        (vec![page(), reviewer], false, false),
        (vec![page(), local()], true, true),
        (vec![far()], true, false),
        (vec![local(), far()], true, false),
    ] {
        let evidence = evidence(exchanges);
        assert_eq!(evidence.rests_on_machine(true), with_tree, "{evidence:?}");
        assert_eq!(evidence.rests_on_machine(false), without, "{evidence:?}");
        let network = evidence.of_network();
        assert!(!network.rests_on_machine(true), "{network:?}");
    }
}

fn ended() -> CommandResult<BodyRef> {
    let empty = BodyRef::of(b"");
    let ran = CommandResult::not_started(&CommandSpec::default(), "");
    let Ok(ran) = ran.with_body(|_| Ok::<_, Infallible>(empty));
    ran
}
