//! `comail serve`: agents that can only talk to the judge.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::harness::follower::Follower;
use crate::harness::letters::{LETTERS, Letters};
use crate::harness::served::{Served, forged, secret_of};
use crate::harness::{Place, Run};

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
    assert!(!ended.stderr.contains(secret_of(&kim)));
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
    assert_eq!(
        status(&format!("Host: {address}\r\nOrigin: https://{address}")),
        "403"
    );
    assert_eq!(status(&format!("Host: LOCALHOST:{port}")), "200");
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

#[test]
fn a_command_that_needs_a_session_uses_none_that_is_there_by_chance() {
    let served = Served::start(&[]);
    let token = served.token(&["--worker", "kim"]);
    // The client works where another session is.
    let other = Letters::scanned(LETTERS).place;
    let call = |args: &[&str]| {
        let mut command = other.command();
        command
            .env("COMAIL_SERVER", &served.url)
            .env("COMAIL_TOKEN", &token);
        Run::of(command.args(args))
    };
    for args in [
        &["list"][..],
        &["show", "1"],
        &["export"],
        &["audit"],
        &["status", "--watch"],
        &["review"],
        &["token", "new", "--worker=lee"],
        &["run", "--", "true"],
        &["prompt"],
    ] {
        let run = call(args);
        run.says("error: COMAIL_SERVER is set, and this command does not work through a server");
        run.says("hint: ");
        assert_eq!(run.stdout, "", "{args:?}");
        run.exits(2);
    }
    call(&["claims"]).ok();
    call(&["list", "--session=.comail"]).ok();
    call(&["help", "server"]).ok();
}

#[test]
fn a_wrong_token_ends_mcp_at_its_start() {
    let served = Served::start(&[]);
    let token = served.token(&["--worker", "kim"]);
    let run = served.run(&forged(&token), &["mcp"]);
    run.says("error: this server needs a valid token");
    run.exits(1);
    // With a good one it waits for a client, and this one has left.
    let run = served.run(&token, &["mcp"]);
    assert!(!run.stderr.contains("token"), "{run:?}");
}

#[test]
fn a_worker_chooses_the_lease_of_its_claim() {
    let served = Served::start(&[]);
    let token = served.token(&["--worker", "kim"]);
    let text = served
        .run(&token, &["next", "--worker=kim", "--lease=1h"])
        .ok();
    assert!(text.contains("claimed by kim for 1h, "), "{text}");
    let claims = served.place.events("claim");
    assert_eq!(claims.last().expect("a claim")["lease"], 3600);
    // Of the name that it gives itself, the server takes no notice.
    assert!(claims.iter().all(|claim| claim["worker"] == "kim"));
}

#[test]
fn colours_are_for_a_client_on_a_terminal() {
    let served = Served::start(&[]);
    let token = served.token(&["--worker", "kim"]);
    let submit = ["submit", "--id=1", "--none", "looked"];
    let coloured = served.run(&token, &[&submit[..], &["--color=always"]].concat());
    assert!(coloured.stdout.contains("\u{1b}["), "{coloured:?}");
    let plain = served.run(&token, &["submit", "--id=1", "--none", "looked twice"]);
    assert!(!plain.stdout.contains('\u{1b}'), "{plain:?}");
}

#[test]
fn an_error_looks_the_same_with_and_without_a_server() {
    let served = Served::start(&[]);
    let token = served.token(&["--worker=kim"]);
    for args in [
        &["submit", "--id=99", "--none=x"][..],
        &["submit", "--id=99", "--none=x", "--json"],
        &["submit", "--bogus", "--json"],
    ] {
        let through = served.run(&token, args);
        let local = served.place.run(args);
        let said = |run: &Run| (run.code, run.stdout.clone(), run.stderr.clone());
        assert_eq!(said(&through), said(&local), "{args:?}");
        assert_ne!(through.stderr, "");
    }
}

#[test]
fn a_token_names_the_server_that_lives() {
    let place = Letters::scanned(LETTERS).place;
    let named = |place: &Place| {
        let (_, made) = place.json(["token", "new", "--worker=kim"]);
        made["server"].as_str().expect("a server").to_owned()
    };
    let socket = named(&place);
    assert!(socket.starts_with("unix:"), "{socket}");
    let serve = ["serve", "--json", "--listen=127.0.0.1:0"];
    let url_of = |server: &Follower| {
        let serving = server.document();
        serving["server"].as_str().expect("a URL").to_owned()
    };
    let first = Follower::start(&place, &serve);
    let first_url = url_of(&first);
    assert_eq!(named(&place), first_url);
    let second = Follower::start(&place, &serve);
    let second_url = url_of(&second);
    assert_eq!(named(&place), second_url);
    // The end of the first says nothing about the second.
    first.interrupt();
    first.end().exits(130);
    assert_eq!(named(&place), second_url);
    // A server that was killed leaves its file behind.
    drop(second);
    assert!(place.at(".comail/serve.url").exists());
    assert_eq!(named(&place), socket);
}
