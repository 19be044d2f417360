//! Replays that answer as was recorded, and say what is missing.

use url::Url;

use super::*;
use crate::base::Digest;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::fetch::visit::visit;
use crate::world::sandbox::{ChatOrder, Chatted, MockSandbox, NoSandbox, Said, Usage};
use crate::world::{MockFetcher, MockResolver, MockUniquenessIndex, Response};

const WORLD: &str = r#"{
    "pages": {
        "https://acme.com/": {"status": 301, "location": "https://www.acme.com/"},
        "https://www.acme.com/": {"body": "<p>info@acme.com</p>"},
        "https://slow.com/": {"silence": "timeout"}
    },
    "dns": {"acme.com": {"MX": [[10, "mx.acme.com"]]}}
}"#;

fn judge(world: &World<'_>) -> String {
    let mut seen = Vec::new();
    for url in [
        "https://acme.com/",
        "https://acme.com/",
        "https://slow.com/",
        "https://no.com/",
    ] {
        let url = Url::parse(url).unwrap();
        let visit = visit(world.fetcher, &url, RobotsPolicy::Obey);
        seen.push(format!("{visit:?}"));
    }
    for name in ["acme.com", "no.com"] {
        let name = HostName::parse(name).unwrap();
        for kind in [RecordKind::Mx, RecordKind::A] {
            seen.push(format!("{:?}", world.resolver.lookup(&name, kind)));
        }
    }
    seen.push(format!("{:?}", world.accepted.holder(&mailbox_value())));
    seen.join("\n")
}

fn request(url: &str) -> Request {
    Request {
        url: Url::parse(url).unwrap(),
        crawl_delay: None,
    }
}

fn mailbox_value() -> UniqueValue {
    serde_json::from_str(r#"{"mailbox":"info@acme.com"}"#).unwrap()
}

fn holder(key: &'static str) -> MockUniquenessIndex {
    let mut accepted = MockUniquenessIndex::new();
    accepted
        .expect_holder()
        .returning(|_| Some(Key::new(key).unwrap()));
    accepted
}

#[test]
fn replays_what_was_recorded_byte_for_byte() {
    let written = RecordedWorld::from_json(WORLD).unwrap();
    let accepted = holder("Acme");
    let recorder = Recorder::new(written.world_with(&accepted));
    let first = judge(&recorder.world());
    let recording = recorder.finish();
    assert!(recording.evidence.rests_on_silence());

    let stored = serde_json::to_string(&recording.evidence).unwrap();
    let evidence: Evidence = serde_json::from_str(&stored).unwrap();
    let replay = Replay::new(&evidence, &recording.bodies);
    assert_eq!(judge(&replay.world()), first);
    assert_eq!(replay.missing(), [""; 0]);

    let again = Recorder::new(replay.world());
    assert_eq!(judge(&again.world()), first);
    assert_eq!(again.finish(), recording);
}

#[test]
fn judges_again_by_what_the_session_knows_now() {
    let written = RecordedWorld::from_json(WORLD).unwrap();
    let recorder = Recorder::new(written.world_with(&written));
    let first = judge(&recorder.world());
    let recording = recorder.finish();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let now = holder("Acme");
    let second = judge(&replay.world_with(&now));
    assert!(first.ends_with("None") && second.ends_with("Some(Key(\"Acme\"))"));
    assert_eq!(replay.missing(), [""; 0]);
}

#[test]
fn asks_each_question_once() {
    let mut fetcher = MockFetcher::new();
    let mut tries = 0;
    fetcher.expect_get().times(1).returning(move |_| {
        tries += 1;
        Fetched::Response(Response {
            status: 200,
            content_type: None,
            location: None,
            refresh: None,
            disposition: None,
            body: vec![tries],
        })
    });
    let mut resolver = MockResolver::new();
    resolver
        .expect_lookup()
        .times(2)
        .returning(|_, _| Looked::NoData);
    let mut accepted = MockUniquenessIndex::new();
    accepted.expect_holder().times(1).returning(|_| None);
    let recorder = Recorder::new(World {
        fetcher: &fetcher,
        resolver: &resolver,
        accepted: &accepted,
        sandbox: &NoSandbox,
    });
    let world = recorder.world();
    let mut request = request("https://acme.com/");
    let first = world.fetcher.get(&request);
    request.crawl_delay = Some(std::time::Duration::from_secs(1));
    assert_eq!(world.fetcher.get(&request), first);
    let name = HostName::parse("acme.com").unwrap();
    for kind in [RecordKind::A, RecordKind::Aaaa, RecordKind::A] {
        world.resolver.lookup(&name, kind);
    }
    for _ in 0..2 {
        world.accepted.holder(&mailbox_value());
    }
    assert_eq!(recorder.finish().evidence.exchanges.len(), 4);
}

#[test]
fn names_questions_that_were_not_recorded() {
    let empty = Evidence::default();
    let bodies = std::collections::BTreeMap::new();
    let replay = Replay::new(&empty, &bodies);
    let world = replay.world();
    let why = Unanswered::new(
        UnansweredKind::NotRecorded,
        "the evidence does not hold the page https://acme.com/",
    );
    let answer = world.fetcher.get(&request("https://acme.com/"));
    assert_eq!(answer, Fetched::Unanswered(why));
    let name = HostName::parse("acme.com").unwrap();
    assert!(matches!(
        world.resolver.lookup(&name, RecordKind::Mx),
        Looked::Unanswered(_)
    ));
    assert_eq!(world.accepted.holder(&mailbox_value()), None);
    let expected = [
        "the page https://acme.com/",
        "the Mx records of acme.com",
        "who holds info@acme.com",
    ];
    assert_eq!(replay.missing(), expected);
}

#[test]
fn refuses_a_body_that_was_changed() {
    let written = RecordedWorld::from_json(WORLD).unwrap();
    let recorder = Recorder::new(written.world_with(&written));
    let request = request("https://www.acme.com/");
    let _ = recorder.world().fetcher.get(&request);
    let mut recording = recorder.finish();
    let digest = Digest::of(b"<p>info@acme.com</p>");
    recording
        .bodies
        .insert(digest, b"<p>evil@acme.com</p>".to_vec());
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    assert!(matches!(
        replay.world().fetcher.get(&request),
        Fetched::Unanswered(_)
    ));
    assert_eq!(replay.missing(), [format!("the body {digest}")]);
}

#[test]
fn a_model_is_asked_once_and_never_by_a_replay() {
    let order = ChatOrder {
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        model: "small".to_owned(),
        key: None,
        system: String::new(),
        prompt: "Well?".to_owned(),
        timeout_ms: 1_000,
        retries: 0,
        most_bytes: 100,
    };
    let said = |text: &str| {
        Chatted::Said(Said {
            text: text.to_owned(),
            usage: Usage::default(),
            millis: 3,
            tries: 1,
        })
    };
    let mut sandbox = MockSandbox::new();
    let answer = said("No.");
    sandbox.expect_chat().times(1).return_once(move |_| answer);
    let written = RecordedWorld::from_json(WORLD).unwrap();
    let recorder = Recorder::new(World {
        sandbox: &sandbox,
        ..written.world_with(&written)
    });
    for _ in 0..2 {
        assert_eq!(recorder.world().sandbox.chat(&order), said("No."));
    }
    let recording = recorder.finish();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    assert_eq!(replay.world().sandbox.chat(&order), said("No."));
    assert_eq!(replay.missing(), [""; 0]);

    let other = ChatOrder {
        prompt: "And now?".to_owned(),
        ..order
    };
    let answer = replay.world().sandbox.chat(&other);
    assert!(matches!(answer, Chatted::Failed(_)), "{answer:?}");
    assert_eq!(replay.missing().len(), 1);
}
