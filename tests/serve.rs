//! `comail serve`: agents that can only talk to the judge.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::harness::Run;
use crate::harness::letters::{LETTERS, Letters};
use crate::harness::served::{Served, forged};

#[test]
fn a_client_without_the_session_works_as_with_it() {
    let served = Served::start(&[]);
    let (alone, token) = (
        Letters::scanned(LETTERS),
        served.token(&["--worker", "kim"]),
    );
    for args in [
        &["next"][..],
        &["submit", "--letter", "one", "--quote", "pay 11"],
        &["submit", "--letter", "one", "--none", " "],
        &["submit", "--letter", "one", "--quote", "pay 10"],
        &["submit", "--letter", "one", "--quote", "pay 10"],
        &["submit", "--letter", "nine", "--quote", "pay 10"],
        &["next"],
    ] {
        let mut there = alone.place.command();
        let there = Run::of(there.env("COMAIL_WORKER", "kim").args(args));
        let here = served.run(&token, args);
        assert_eq!(here.code, there.code, "{args:?}: {}", here.stderr);
        assert_eq!(here.stdout, there.stdout, "{args:?}");
        assert_eq!(here.stderr, there.stderr, "{args:?}");
    }
    assert_eq!(served.run(&token, &["status"]).code, 0);
    let (code, judged) = served.json(&token, &["submit", "--id=2", "--none", "looked"]);
    assert_eq!((code, &judged["verdict"]), (5, &json!("FAIL")));
    let attempts = served.place.events("attempt");
    assert!(
        attempts.iter().all(|it| it["worker"] == "kim"),
        "{attempts:?}"
    );
    // The client had nothing to work with but the server.
    assert_eq!(
        served
            .client
            .path()
            .read_dir()
            .expect("a directory")
            .count(),
        0
    );
}

#[test]
fn a_call_without_a_valid_token_learns_nothing() {
    let served = Served::start(&[]);
    let kim = served.token(&["--worker", "kim"]);
    let reader = served.token(&["--reader"]);
    let brief = served.token(&["--worker", "lee", "--expires", "1s"]);
    let (_, tokens) = served.place.json(["token", "list"]);
    let id = tokens["tokens"][0]["id"].as_str().expect("an id");
    served.place.run(["token", "revoke", id]).ok();
    let forged = forged(&reader);
    for token in [&kim, "comail_00000000_x", "nonsense", &forged] {
        let run = served.run(token, &["next"]);
        run.says("error: this server needs a valid token");
        assert_eq!(run.stdout, "");
        run.exits(1);
    }
    let run = served.run(&reader, &["next"]);
    run.says("error: this token may only read");
    run.exits(2);
    served.run(&reader, &["status"]).ok();
    while served.run(&brief, &["status"]).code == 0 {}
    assert_eq!(served.place.events("claim").len(), 0);
    served.server.interrupt();
    let ended = served.server.end();
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    let secret = kim.rsplit_once('_').expect("two parts").1;
    assert!(!ended.stderr.contains(secret));
}

/// What a server on TCP replies to these lines.
fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut reply = String::new();
    // A connection that is cut is a reply, too.
    let _ = stream.read_to_string(&mut reply);
    reply
}

#[test]
fn a_server_on_tcp_answers_its_own_host_and_origin_alone() {
    let served = Served::start(&["--listen=127.0.0.1:0"]);
    let token = served.token(&["--worker", "kim"]);
    let address = served.url.strip_prefix("http://").expect("HTTP").to_owned();
    let status = |headers: &str| {
        let request = format!(
            "GET /v1/status HTTP/1.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             {headers}\r\n\r\n"
        );
        let reply = exchange(&address, &request);
        reply.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let port = address.rsplit_once(':').expect("a port").1;
    assert_eq!(status(&format!("Host: {address}")), "200");
    assert_eq!(status(&format!("Host: localhost:{port}")), "200");
    assert_eq!(
        status(&format!("Host: {address}\r\nOrigin: http://{address}")),
        "200"
    );
    assert_eq!(status("Host: evil.test"), "403");
    assert_eq!(
        status(&format!("Host: {address}\r\nOrigin: http://evil.test")),
        "403"
    );
    let long = format!(
        "POST /v1/submit HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: 2000000\r\nConnection: close\r\n\r\n{}",
        " ".repeat(2_000_000)
    );
    let refused = exchange(&address, &long);
    assert!(refused.is_empty() || refused.contains(" 413 "), "{refused}");
    served.run(&token, &["next"]).ok();
    let run = Run::of(served.place.command().args(["serve", "--listen=0.0.0.0:0"]));
    run.says("is not loopback");
    run.exits(2);
}
