//! A model over HTTP: what is asked, what is taken for an answer, and what is tried again.

use comail::world::sandbox::{
    ChatOrder, Chatted, Launcher, LiveSandbox, Sandbox, SandboxConfig, Usage,
};

use serde_json::json;

use super::servers::chat::{ChatServer, Say, said};
use super::servers::closed_port;

/// A variable of every test's environment that is long enough to be looked for.
const KEY: &str = "CARGO_PKG_DESCRIPTION";

fn order(base_url: &str) -> ChatOrder {
    ChatOrder {
        base_url: base_url.to_owned(),
        model: "small".to_owned(),
        key: None,
        system: "Doubt.".to_owned(),
        prompt: "Well?".to_owned(),
        timeout_ms: 20_000,
        retries: 2,
        most_bytes: 10_000,
    }
}

/// What comes of an order, and what kept it from being carried out.
fn chat(order: &ChatOrder) -> (Chatted, Option<String>) {
    let launcher = Launcher::new("/nonexistent".into());
    let config = SandboxConfig::without_tree("/nonexistent".into(), launcher);
    let sandbox = LiveSandbox::new(&config);
    let chatted = sandbox.chat(order);
    (chatted, sandbox.failure())
}

/// The words and the tries of an answer that must come.
#[track_caller]
fn words(order: &ChatOrder) -> (String, u32) {
    match chat(order) {
        (Chatted::Said(said), None) => (said.text, said.tries),
        other => panic!("{other:?}"),
    }
}

/// Why no answer comes, by no fault of ours.
#[track_caller]
fn failure(order: &ChatOrder) -> String {
    match chat(order) {
        (Chatted::Failed(why), None) => why,
        other => panic!("{other:?}"),
    }
}

fn always(say: Say) -> ChatServer {
    ChatServer::start(move |_| say.clone())
}

/// A server that does this first, and then says something.
fn first(say: Say) -> ChatServer {
    ChatServer::start(move |asked| match asked.before {
        0 => say.clone(),
        _ => Say::words("Yes."),
    })
}

fn key() -> String {
    std::env::var(KEY).expect("cargo sets it")
}

#[test]
fn a_model_is_asked_as_the_protocol_says() {
    let server = always(Say::words("No."));
    let (chatted, failure) = chat(&order(&server.base_url()));
    let Chatted::Said(said) = chatted else {
        panic!("{chatted:?}");
    };
    assert_eq!((said.text.as_str(), said.tries, failure), ("No.", 1, None));
    let usage = Usage {
        input_tokens: Some(120),
        output_tokens: Some(30),
        cost: None,
    };
    assert_eq!(said.usage, usage);
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("authorization"), None);
    // One whole answer, without chance.
    let body = json!({
        "model": "small", "temperature": 0, "stream": false,
        "messages": [
            {"role": "system", "content": "Doubt."},
            {"role": "user", "content": "Well?"}]});
    assert_eq!(asked.body, body);
}

#[test]
fn the_key_goes_to_the_server_and_nowhere_else() {
    let server = ChatServer::start(|asked| {
        let bearer = asked.header("authorization").unwrap_or_default();
        Say::words(match asked.prompt() {
            "Who am I?" => format!("You are {bearer}."),
            _ => String::from("No."),
        })
    });
    let order = ChatOrder {
        key: Some(KEY.to_owned()),
        ..order(&server.base_url())
    };
    assert_eq!(words(&order).0, "No.");
    let echoed = ChatOrder {
        prompt: String::from("Who am I?"),
        ..order
    };
    let (chatted, failure) = chat(&echoed);
    assert_eq!(failure, None);
    match chatted {
        Chatted::Failed(why) => assert!(why.contains(KEY) && !why.contains(&key()), "{why}"),
        Chatted::Said(said) => panic!("{said:?}"),
    }
    let bearer = format!("Bearer {}", key());
    assert_eq!(server.asked()[0].header("authorization"), Some(&*bearer));
}

#[test]
fn a_key_that_is_missing_or_not_taken_is_our_own_failure() {
    let server = always(Say::words("No."));
    let unset = ChatOrder {
        key: Some("COMAIL_TEST_NO_SUCH_KEY".to_owned()),
        ..order(&server.base_url())
    };
    let (chatted, why) = chat(&unset);
    assert!(matches!(chatted, Chatted::Failed(_)), "{chatted:?}");
    assert!(why.is_some_and(|why| why.contains("COMAIL_TEST_NO_SUCH_KEY")));
    assert_eq!(server.asked().len(), 0);
    for status in [401, 403] {
        let server = always(Say::status(status));
        let order = ChatOrder {
            key: Some(KEY.to_owned()),
            ..order(&server.base_url())
        };
        let (_, why) = chat(&order);
        let why = why.expect("a failure of our own");
        assert!(why.contains(&status.to_string()), "{why}");
        assert!(!why.contains(&key()), "{why}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn no_more_patience_is_had_than_there_is_time() {
    let server = first(Say::status(429).with("Retry-After", "3600"));
    let why = failure(&order(&server.base_url()));
    assert!(why.contains("429") && why.contains("too late"), "{why}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_server_in_trouble_or_that_asks_for_patience_is_asked_again() {
    for say in [
        Say::status(429).with("Retry-After", "0"),
        Say::status(503).with("Retry-After", "0"),
        Say::status(500),
        Say::Nothing,
        Say::Half,
    ] {
        let server = first(say.clone());
        let said = words(&order(&server.base_url()));
        assert_eq!(said, ("Yes.".to_owned(), 2), "{say:?}");
        assert_eq!(server.count("small"), 2, "{say:?}");
    }
}

#[test]
fn what_stays_in_trouble_gives_no_answer() {
    let server = always(Say::status(502).with("Retry-After", "0"));
    let why = failure(&order(&server.base_url()));
    assert_eq!(why, "it answers 502 Bad Gateway, after 3 tries");
    assert_eq!(server.asked().len(), 3);
    let dead = ChatOrder {
        retries: 0,
        ..order(&format!("http://{}/v1", closed_port()))
    };
    assert!(failure(&dead).starts_with("it does not answer"));
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let server = always(Say::Hang);
    let order = ChatOrder {
        timeout_ms: 200,
        ..order(&server.base_url())
    };
    assert_eq!(failure(&order), "no complete answer in time");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_is_no_answer_is_not_asked_for_again() {
    let elsewhere = always(Say::words("From elsewhere."));
    let to = format!("{}/chat/completions", elsewhere.base_url());
    for say in [
        Say::status(307).with("Location", to),
        Say::status(404),
        Say::status(400),
        Say::body("<html>"),
        Say::body(""),
        Say::words(""),
        Say::body(said(&"x".repeat(10_000))),
    ] {
        let server = always(say.clone());
        failure(&order(&server.base_url()));
        assert_eq!(server.asked().len(), 1, "{say:?}");
    }
    assert_eq!(elsewhere.asked().len(), 0);
}

#[test]
fn an_answer_of_just_the_bytes_allowed_is_taken() {
    let server = always(Say::words("No."));
    let length = u64::try_from(said("No.").len()).expect("a length");
    let fits = ChatOrder {
        most_bytes: length,
        ..order(&server.base_url())
    };
    assert_eq!(words(&fits).0, "No.");
    let more = ChatOrder {
        most_bytes: length - 1,
        ..fits
    };
    assert!(failure(&more).contains("more than"));
}
