//! A recorded world, read from JSON.

use super::*;

fn world() -> RecordedWorld {
    RecordedWorld::from_json(
        r#"{
            "pages": {
                "https://acme.com": {"body": "hello"},
                "https://acme.com/away": {"status": 302, "location": "/"},
                "https://acme.com/broken": {"status": 503},
                "https://slow.com/": {"silence": "timeout"}
            },
            "dns": {
                "Acme.com": {"MX": [[20, "b.acme.com"], [10, "A.acme.com."]], "AAAA": "unanswered"},
                "null.com": {"MX": [[0, "."]], "A": []},
                "mail.com": {"A": ["192.0.2.1"]}
            }
        }"#,
    )
    .unwrap()
}

fn get(url: &str) -> Fetched {
    let url = Url::parse(url).unwrap();
    world().get(&Request {
        url,
        crawl_delay: None,
    })
}

fn lookup(name: &str, kind: RecordKind) -> Looked {
    world().lookup(&HostName::parse(name).unwrap(), kind)
}

fn status(fetched: Fetched) -> u16 {
    match fetched {
        Fetched::Response(response) => response.status,
        other => panic!("no response: {other:?}"),
    }
}

#[test]
fn answers_from_the_document() {
    let Fetched::Response(home) = get("https://acme.com/") else {
        panic!("no home page");
    };
    assert_eq!(
        (home.status, home.body.as_slice()),
        (200, b"hello".as_slice())
    );
    assert_eq!(status(get("https://acme.com/away")), 302);
    let broken = Fetched::Unanswered(Unanswered::status(503));
    assert_eq!(get("https://acme.com/broken"), broken);
    assert!(matches!(
        get("https://slow.com/"),
        Fetched::Unanswered(why) if why.silence == UnansweredKind::Timeout
    ));
}

#[test]
fn unlisted_hosts_and_paths_do_not_exist() {
    assert_eq!(status(get("https://acme.com/robots.txt")), 404);
    assert_eq!(status(get("https://mail.com/")), 404);
    assert_eq!(get("https://null.com/"), Fetched::NoSuchHost);
    assert_eq!(get("https://other.com/"), Fetched::NoSuchHost);
    assert_eq!(lookup("other.com", RecordKind::A), Looked::NoSuchName);
    assert_eq!(lookup("slow.com", RecordKind::A), Looked::NoData);
    assert_eq!(lookup("null.com", RecordKind::A), Looked::NoData);
}

#[test]
fn answers_dns_in_order_of_preference() {
    let hosts = |looked| match looked {
        Looked::Found(Records::Mx(hosts)) => hosts
            .into_iter()
            .map(|mx| (mx.preference, mx.host.map(String::from)))
            .collect::<Vec<_>>(),
        other => panic!("no MX: {other:?}"),
    };
    let [a, b] = ["a.acme.com", "b.acme.com"].map(|host| Some(host.to_owned()));
    assert_eq!(
        hosts(lookup("acme.com", RecordKind::Mx)),
        [(10, a), (20, b)]
    );
    assert_eq!(hosts(lookup("null.com", RecordKind::Mx)), [(0, None)]);
    assert!(matches!(
        lookup("acme.com", RecordKind::Aaaa),
        Looked::Unanswered(_)
    ));
}

#[test]
fn rejects_unknown_members() {
    for text in [
        "",
        "{}",
        r#"{"pages": {"no url": {}}}"#,
        r#"{"pages": {"https://a.com/": {"headers": {}}}}"#,
        r#"{"pages": {}, "dns": {"a b": {}}}"#,
        r#"{"pages": {}, "dns": {"a.com": {"MX": [[1, "a b"]]}}}"#,
        r#"{"pages": {}, "dns": {"a.com": {"A": "later"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "denied"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "status"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "not-asked"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "not-recorded"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "timeout", "body": "a"}}}"#,
        r#"{"pages": {"https://a.com/": {"silence": "timeout", "status": 503}}}"#,
        r#"{"pages": {"https://a.com/": {}, "https://a.com": {}}}"#,
        r#"{"pages": {"https://a.com/": {}, "https://a.com/": {}}}"#,
        r#"{"pages": {"https://a.com/": {"body": "a", "body": "b"}}}"#,
        r#"{"pages": {}, "dns": {"a.com": {}, "A.com": {}}}"#,
    ] {
        assert!(RecordedWorld::from_json(text).is_err(), "{text}");
    }
    for silence in [
        "timeout",
        "connection",
        "tls",
        "dns",
        "private-address",
        "protocol",
        "budget",
    ] {
        let text = format!(r#"{{"pages": {{"https://a.com/": {{"silence": "{silence}"}}}}}}"#);
        assert!(RecordedWorld::from_json(&text).is_ok(), "{text}");
    }
}
