//! `comail serve` for readers and programs: the page, the log, and the description of the interface.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::letters::{LETTERS, Letters};
use crate::harness::schemas::Described;
use crate::harness::served::{Served, bearer, forged};
use crate::servers::chat::{ChatServer, Say};

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";

fn log_in(served: &Served, token: &str) -> crate::harness::served::Exchange {
    served.asked("POST /login", &[BROWSER], &format!("token={token}"))
}

#[test]
fn a_browser_gives_a_readers_token_once_and_gets_the_page() {
    let served = Served::start(&["--listen=127.0.0.1:0"]);
    let (reader, kim) = (served.token(&["--reader"]), served.token(&["--worker=kim"]));
    let stranger = served.asked("GET /", &[BROWSER], "");
    assert_eq!(stranger.status, 401);
    assert!(
        stranger
            .body
            .contains("<form method=\"post\" action=\"/login\">")
    );
    // Under `no-referrer`, a browser sends the form from the origin `null`, which is refused.
    assert!(
        stranger
            .head
            .contains("\r\nreferrer-policy: same-origin\r\n")
    );
    let forged = forged(&reader);
    for token in [kim.as_str(), &forged, "", "comail_00000000_x"] {
        let refused = log_in(&served, token);
        assert_eq!((refused.status, &refused.body), (401, &stranger.body));
        assert!(!refused.head.contains("set-cookie"), "{refused:?}");
    }
    let elsewhere = |origin: &str| {
        let headers = [BROWSER, &format!("Origin: {origin}")];
        served
            .asked("POST /login", &headers, &format!("token={reader}"))
            .status
    };
    assert_eq!(elsewhere(&served.url), 303);
    assert_eq!(elsewhere("http://evil.test"), 403);
    assert_eq!(elsewhere("null"), 403);
    let long = log_in(&served, &"x".repeat(5000));
    assert_eq!(long.status, 413);

    let welcome = log_in(&served, &reader);
    assert_eq!(welcome.status, 303);
    assert!(welcome.head.contains("\r\nlocation: /\r\n"), "{welcome:?}");
    let cookie = format!("comail_token={reader}");
    let set = format!("\r\nset-cookie: {cookie}; path=/; httponly; samesite=strict\r\n");
    assert!(
        welcome.head.contains(&set.to_ascii_lowercase()),
        "{welcome:?}"
    );
    let cookie = format!("Cookie: other=1; {cookie}");
    let page = served.asked("GET /", &[BROWSER, &cookie], "");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("list.jsonl"), "{}", page.body);
    assert!(
        page.body.contains("connect-src &#x27;self&#x27;"),
        "{}",
        page.body
    );
    assert!(!page.body.contains(&reader) && page.head.contains("nosniff"));
    let events = served.place.run(["log"]).ok().lines().count();
    let next = format!("<body data-next=\"{events}\">");
    assert!(page.body.contains(&next), "{next}");

    // A cookie only reads, and a worker's token is none of a browser.
    let acts = served.asked("POST /v1/next", &[&cookie], "{}");
    assert_eq!(acts.status, 401);
    let worker = format!("Cookie: comail_token={kim}");
    assert_eq!(served.asked("GET /", &[&worker], "").status, 401);
    assert_eq!(served.asked("GET /", &[&bearer(&kim)], "").status, 403);
    assert_eq!(
        served
            .asked("GET /", &[&cookie, "Origin: http://evil.test"], "")
            .status,
        403
    );
    let id = reader.split('_').nth(1).expect("an id");
    served.place.run(["token", "revoke", id]).ok();
    assert_eq!(
        served.asked("GET /", &[BROWSER, &cookie], "").body,
        stranger.body
    );
}

#[test]
fn where_a_proxy_adds_https_a_cookie_goes_over_https_alone() {
    let served = Served::start(&["--listen=127.0.0.1:0", "--behind-proxy"]);
    let welcome = log_in(&served, &served.token(&["--reader"]));
    assert!(
        welcome.head.contains("; samesite=strict; secure\r\n"),
        "{welcome:?}"
    );
}

/// The events of a stream: their numbers, and their data.
fn events(stream: TcpStream) -> impl Iterator<Item = (u64, String)> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut id = None;
    lines.filter_map(move |line| {
        if let Some(number) = line.strip_prefix("id: ") {
            id = number.parse().ok();
        }
        let data = line.strip_prefix("data: ")?;
        Some((id?, data.to_owned()))
    })
}

#[test]
fn a_reader_follows_the_log_from_any_event_on() {
    let served = Served::start(&["--listen=127.0.0.1:0"]);
    let (reader, kim) = (served.token(&["--reader"]), served.token(&["--worker=kim"]));
    let authority = bearer(&reader);
    let follow = |path: &str, headers: &[&str]| {
        let headers = [&[authority.as_str()], headers].concat();
        events(served.sent(&format!("GET {path}"), &headers, ""))
    };
    let log = || -> Vec<(u64, String)> {
        let text = served.place.run(["log", "--json"]).ok();
        (0..).zip(text.lines().map(str::to_owned)).collect()
    };
    let before = log();
    let mut all = follow("/v1/log", &[]);
    let first: Vec<_> = all.by_ref().take(before.len()).collect();
    assert_eq!(first, before);
    let mut later = follow("/v1/log?from=0", &["Last-Event-ID: 1"]);
    assert_eq!(later.next(), before.get(2).cloned());
    // An event that is appended now comes to whoever follows.
    served
        .run(&kim, &["submit", "--id=1", "--none", "looked"])
        .exits(5);
    let new = log();
    assert!(new.len() > before.len());
    let seen: Vec<_> = all.by_ref().take(new.len() - before.len()).collect();
    assert_eq!(seen, new[before.len()..]);
    let others: Vec<_> = later.by_ref().take(new.len() - 3).collect();
    assert_eq!(others, new[3..]);

    // One token has a bounded number of followers; others are not held up.
    let _more: Vec<_> = [(); 2]
        .map(|()| {
            let mut more = follow("/v1/log", &[]);
            assert!(more.next().is_some());
            more
        })
        .into();
    let fifth = served.asked("GET /v1/log", &[&authority], "");
    assert_eq!(
        (fifth.status, &fifth.json()["error"]["kind"]),
        (429, &json!("busy"))
    );
    let another = bearer(&served.token(&["--reader"]));
    let mut another = events(served.sent("GET /v1/log", &[&another], ""));
    assert_eq!(another.next(), new.first().cloned());
    assert_eq!(
        served.asked("GET /v1/log", &[&bearer(&kim)], "").status,
        403
    );
    let wrong = served.asked("GET /v1/log", &[&authority, "Last-Event-ID: x"], "");
    assert_eq!(wrong.status, 400);
    // With the token, the stream ends.
    let id = reader.split('_').nth(1).expect("an id");
    served.place.run(["token", "revoke", id]).ok();
    assert_eq!(all.next(), None);
}

#[test]
fn what_the_server_answers_is_as_it_describes() {
    let served = Served::start(&["--listen=127.0.0.1:0"]);
    let authorities = [
        bearer(&served.token(&["--worker=kim"])),
        bearer(&served.token(&["--reader"])),
    ];
    let document = served.asked("GET /v1/openapi.json", &[&authorities[0]], "");
    let document = document.json();
    assert_eq!(document["openapi"], "3.1.0");
    let described = Described::new(&document);
    let bodies = [
        ("/v1/submit", json!({"id": 1, "none": "looked"})),
        (
            "/v1/submit",
            json!({"id": 1, "fields": {"quote": "please"}}),
        ),
        ("/v1/submit", json!({"id": 1, "fields": {"nosuch": "it"}})),
        ("/v1/submit", json!({"id": 99, "none": "looked"})),
        ("/v1/next", json!({})),
        ("/v1/next", json!({"lease": 60})),
        ("/v1/next", json!({"lease": "long"})),
    ];
    let mut statuses = Vec::new();
    let mut check = |method: &str, path: &str, authority: &str, body: &str| {
        let reply = served.asked(&format!("{method} {path}"), &[authority], body);
        let operation = &document["paths"][path][method.to_ascii_lowercase()];
        let says = if reply.status == 200 {
            "200"
        } else {
            "default"
        };
        let schema = &operation["responses"][says]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {path} {says}");
        assert_eq!(
            described.errors(schema, &reply.json()),
            [""; 0],
            "{path} {body}"
        );
        statuses.push(reply.status);
    };
    for (path, body) in &bodies {
        let schema = &document["paths"][path]["post"]["requestBody"]["content"];
        let schema = &schema["application/json"]["schema"];
        let is_described = described.errors(schema, body).is_empty();
        let is_wrong = body.to_string().contains("nosuch") || body["lease"] == "long";
        assert_eq!(is_described, !is_wrong, "{body}");
        for authority in &authorities {
            check("POST", path, authority, &body.to_string());
        }
    }
    let paths = document["paths"].as_object().expect("paths");
    let read = paths
        .iter()
        .filter(|(path, item)| item["get"].is_object() && *path != "/v1/log");
    for (path, _) in read {
        for authority in authorities
            .iter()
            .map(String::as_str)
            .chain(["X-No: token"])
        {
            check("GET", path, authority, "");
        }
    }
    for status in [200, 400, 401] {
        assert!(statuses.contains(&status), "{status}: {statuses:?}");
    }
    let event = &document["paths"]["/v1/log"]["get"]["responses"]["200"]["content"];
    let event = &event["text/event-stream"]["schema"];
    for line in served.place.run(["log", "--json"]).ok().lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(described.errors(event, &value), [""; 0]);
        let broken = json!({"seq": "first"});
        assert_ne!(described.errors(event, &broken), [""; 0]);
    }
}

#[test]
fn a_worker_sees_its_own_claims_and_a_reader_all() {
    let served = Served::start(&[]);
    let [kim, lee] = ["kim", "lee"].map(|name| served.token(&["--worker", name]));
    for token in [&kim, &lee] {
        served.run(token, &["next"]).ok();
    }
    let workers = |token: &str| {
        let (code, listed) = served.json(token, &["claims"]);
        assert_eq!(code, 0, "{listed}");
        let claims = listed["claims"].as_array().expect("claims").clone();
        claims
            .iter()
            .map(|it| it["worker"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(workers(&kim), ["kim"]);
    assert_eq!(workers(&lee), ["lee"]);
    assert_eq!(workers(&served.token(&["--reader"])), ["kim", "lee"]);
}

#[test]
fn calls_are_traced_where_a_collector_is_named() {
    let collector = ChatServer::start(|_| Say::body(""));
    let url = collector.base_url().replace("/v1", "");
    let place = Letters::scanned(LETTERS).place;
    let served = Served::with(place, &[], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]);
    let token = served.token(&["--worker=kim"]);
    served.run(&token, &["next"]).ok();
    served.server.interrupt();
    // What ended last is sent before the server ends.
    let ended = served.server.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    let sent = collector.asked();
    assert!(
        sent.iter()
            .all(|it| it.line.starts_with("POST /v1/traces ")),
        "{sent:?}"
    );
    let sent = sent
        .iter()
        .flat_map(|it| it.bytes.clone())
        .collect::<Vec<_>>();
    let sent = String::from_utf8_lossy(&sent);
    for words in ["comail", "next"] {
        assert!(sent.contains(words), "{words} in {sent}");
    }
    assert!(!sent.contains(&token), "{sent}");
}
