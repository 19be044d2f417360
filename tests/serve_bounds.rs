//! What `comail serve` allows a client that has no token, and one that has a token and floods.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use crate::harness::Place;
use crate::harness::poll::until;
use crate::harness::served::{Exchange, Served, bearer, forged, lines, secret_of, sent};

const TCP: &str = "--listen=127.0.0.1:0";

#[test]
fn without_a_good_token_every_path_has_the_same_reply() {
    let served = Served::start(&[TCP]);
    let revoked = served.token(&["--worker=kim"]);
    let id = revoked.split('_').nth(1).expect("an id");
    let brief = served.token(&["--reader", "--expires=1s"]);
    let good = served.token(&["--reader"]);
    until("a token expires", || {
        served.run(&brief, &["status"]).code == 1
    });
    served.place.run(["token", "revoke", id]).ok();
    let forged = forged(&good);
    let tokens = [
        revoked.as_str(),
        &brief,
        &forged,
        "comail_00000000_x",
        "",
        "\u{e9}",
    ];
    let mut headers: Vec<String> = tokens.iter().map(|token| bearer(token)).collect();
    headers.extend(
        tokens[..3]
            .iter()
            .map(|token| format!("Cookie: comail_token={token}")),
    );
    headers.push(format!("Authorization: Basic {good}"));
    headers.push(format!("X-Token: {good}"));
    let paths = [
        "GET /",
        "GET /v1/status",
        "GET /v1/claims",
        "GET /v1/kind",
        "GET /v1/log",
        "GET /v1/log?from=x",
        "GET /v1/openapi.json",
        "POST /v1/next",
        "POST /v1/submit",
        "DELETE /v1/next",
        "POST /mcp",
        "GET /mcp",
        "GET /nonsense",
        "POST /v1/nonsense",
        "GET /login",
        "POST /login",
    ];
    // The order of headers says nothing.
    let plain = |exchange: &Exchange| {
        let lines = exchange.head.lines().map(str::to_owned);
        let lines = lines.filter(|line| !line.starts_with("date: "));
        (lines.collect::<BTreeSet<_>>(), exchange.body.clone())
    };
    let first = served.asked(paths[0], &[], "");
    assert_eq!(first.status, 401);
    let head = &first.head;
    assert!(head.contains("\r\nwww-authenticate: bearer\r\n"), "{head}");
    assert_eq!(
        first.body,
        r#"{"error":{"kind":"token","message":"this server needs a valid token"}}"#
    );
    for path in paths {
        for header in &headers {
            let reply = served.asked(path, &[header], "");
            assert_eq!(plain(&reply), plain(&first), "{path} {header}");
        }
    }
    // Negative control: with a token, paths differ.
    let status = |path| served.asked(path, &[&bearer(&good)], "").status;
    assert_eq!(
        (status("GET /v1/status"), status("GET /nonsense")),
        (200, 404)
    );
    let lower_case = bearer(&good).replace("Bearer", "bearer");
    let reply = served.asked("GET /v1/status", &[&lower_case], "");
    assert_eq!(reply.status, 200);
}

#[test]
fn a_new_token_names_the_server_that_runs() {
    let named = |place: &Place| {
        let (_, made) = place.json(["token", "new", "--reader"]);
        made["server"].as_str().expect("a URL").to_owned()
    };
    let served = Served::start(&[TCP]);
    assert_eq!(named(&served.place), served.url);
    served.server.interrupt();
    drop(served.server.end());
    let socket = named(&served.place);
    assert!(
        socket.starts_with("unix:") && socket.ends_with("/serve.sock"),
        "{socket}"
    );
}

#[test]
fn no_token_is_in_a_log() {
    let served = Served::start(&[TCP, "-vvv"]);
    let (reader, kim) = (served.token(&["--reader"]), served.token(&["--worker=kim"]));
    let cookie = format!("Cookie: comail_token={reader}");
    for (line, headers, body) in [
        ("GET /v1/status", bearer(&kim), ""),
        ("POST /v1/submit", bearer(&kim), "{no JSON"),
        (
            "POST /v1/submit",
            bearer(&kim),
            r#"{"id":1,"none":"looked"}"#,
        ),
        ("POST /mcp", bearer(&kim), "{}"),
        ("GET /", cookie.clone(), ""),
        ("GET /", format!("{cookie}x"), ""),
        ("POST /v1/next", cookie, "{}"),
        ("GET /v1/status", bearer(&format!("{kim}x")), ""),
    ] {
        served.asked(line, &[&headers], body);
    }
    for token in [&reader, &kim] {
        let welcome = served.asked("POST /login", &[], &format!("token={token}"));
        assert!(!welcome.body.contains(token.as_str()));
    }
    served.asked(&format!("GET /?token={kim}"), &[], "");
    // A file of a token that cannot be read is an error of the log.
    let id = reader.split('_').nth(1).expect("an id");
    served
        .place
        .write(&format!(".comail/tokens/{id}.json"), "damaged");
    assert_eq!(
        served
            .asked("GET /v1/status", &[&bearer(&reader)], "")
            .status,
        401
    );
    served.server.interrupt();
    let said = served.server.end().stderr;
    assert!(said.contains("opened the session") && said.contains("is not the file of a token"));
    for token in [&reader, &kim] {
        assert!(!said.contains(secret_of(token)), "{said}");
    }
}

/// What is left to read of a connection, once the server closes it.
fn rest(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    // A connection that is reset has ended, too.
    let _ = stream.read_to_end(&mut rest);
    String::from_utf8_lossy(&rest).into_owned()
}

fn connected(served: &Served, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.address()).expect("a connection");
    stream.write_all(text.as_bytes()).expect("it is sent");
    stream
}

/// What is replied on a connection that stays open.
fn asked_on(stream: &mut TcpStream, authority: &str) -> (u16, String) {
    let host = stream.peer_addr().expect("an address");
    let request = format!("GET /v1/status HTTP/1.1\r\nHost: {host}\r\n{authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut reply = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        assert_ne!(reply.read_line(&mut head).expect("a line"), 0, "{head}");
        let line = head[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reply.read_exact(&mut body).expect("a body");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let body = String::from_utf8(body).expect("UTF-8");
    (status.expect("a status"), body)
}

#[test]
fn a_slow_client_is_cut_and_holds_up_nobody_else() {
    let served = Served::start(&[TCP]);
    let (kim, lee) = (
        served.token(&["--worker=kim"]),
        served.token(&["--worker=lee"]),
    );
    let host = served.address().to_owned();
    let half = |token: &str| {
        let authority = bearer(token);
        connected(
            &served,
            &format!(
                "POST /v1/submit HTTP/1.1\r\nHost: {host}\r\n{authority}\r\n\
                 Content-Length: 99\r\n\r\n{{\"id\":"
            ),
        )
    };
    let mut silent = connected(&served, "");
    let mut head = connected(&served, "GET /v1/status HTTP/1.1\r\nHost: loc");
    let mut idle = connected(&served, "");
    assert_eq!(asked_on(&mut idle, &bearer(&lee)).0, 200);
    let mut bodies = Vec::new();
    // Both calls of the token are taken, whatever else it asks; another token has its own. A body that
    // comes while a third call is answered is refused, too.
    until("a third call is refused", || {
        bodies.push(half(&kim));
        let third = served.asked("POST /v1/next", &[&bearer(&kim)], "{}");
        third.body.contains("too many calls in progress")
    });
    served.run(&lee, &["next"]).ok();
    for slow in [&mut silent, &mut head, &mut idle] {
        assert!(!rest(slow).contains(" 200 "));
    }
    let ends: Vec<_> = bodies.iter_mut().map(rest).collect();
    let (cut, refused): (Vec<_>, Vec<_>) = ends
        .iter()
        .partition(|end| end.starts_with("HTTP/1.1 408 "));
    assert_eq!(cut.len(), 2, "{ends:?}");
    assert!(
        refused.iter().all(|end| end.starts_with("HTTP/1.1 429 ")),
        "{ends:?}"
    );
    served.run(&kim, &["next"]).ok();
}

#[test]
fn large_heads_are_refused() {
    let served = Served::start(&[TCP]);
    let kim = bearer(&served.token(&["--worker=kim"]));
    let asks = |headers: &[&str]| {
        let headers = lines(headers);
        let host = served.address();
        let text = format!(
            "GET /v1/status HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        );
        let mut stream = TcpStream::connect(host).expect("a connection");
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(text.as_bytes());
        let rest = rest(&mut stream);
        rest.split(' ').nth(1).unwrap_or("cut").to_owned()
    };
    assert_eq!(asks(&[&kim]), "200");
    let many: Vec<String> = (0..200).map(|n| format!("X-{n}: it")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(["431", "cut"].contains(&asks(&[&many[..], &[&kim]].concat()).as_str()));
    let long = format!("X-Long: {}", "x".repeat(200_000));
    assert!(["431", "cut"].contains(&asks(&[&long, &kim]).as_str()));
}

#[test]
fn an_agent_that_floods_stops_no_other_worker() {
    const NO: &str = r#"{"id":1,"none":"no"}"#;
    let served = Served::start(&[TCP]);
    let host = served.address().to_owned();
    let (kim, lee) = (
        bearer(&served.token(&["--worker=kim"])),
        served.token(&["--worker=lee"]),
    );
    let (over, answered, refused) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let reply = Exchange::of(sent(&host, "POST /v1/submit", &[&kim], NO));
                    match reply.status {
                        429 => refused.fetch_add(1, Ordering::Relaxed),
                        _ => answered.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
        until("the flood is refused", || {
            refused.load(Ordering::Relaxed) > 20
        });
        let next = served.run(&lee, &["next"]);
        let judged = served.run(&lee, &["submit", "--id=2", "--none", "looked"]);
        over.store(true, Ordering::Relaxed);
        next.ok();
        judged.exits(5);
    });
    assert!(answered.load(Ordering::Relaxed) > 0);
}

/// Whether the server has closed it.
fn is_cut(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    match { stream }.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

const ROOM: usize = 512;

#[test]
fn one_token_cannot_take_the_connections_of_others() {
    const OF_TOKEN: usize = 16;
    let served = Served::start(&[TCP]);
    let (kim, lee) = (
        bearer(&served.token(&["--worker=kim"])),
        bearer(&served.token(&["--worker=lee"])),
    );
    let another = || connected(&served, "");
    let mut kept: Vec<_> = (0..OF_TOKEN).map(|_| another()).collect();
    for stream in &mut kept {
        assert_eq!(asked_on(stream, &kim).0, 200);
    }
    let mut more = another();
    let (status, body) = asked_on(&mut more, &kim);
    assert!(status == 429 && body.contains("too many connections"));
    assert_eq!(rest(&mut more), "");
    // Negative controls: another token has its own, and those of this one still serve it.
    assert_eq!(asked_on(&mut another(), &lee).0, 200);
    assert_eq!(asked_on(&mut kept[0], &kim).0, 200);
    drop(kept.pop());
    until("a connection that ended makes room", || {
        asked_on(&mut another(), &kim).0 == 200
    });
    // Half of them are strangers after their next call, and the oldest ones.
    let (strangers, known) = kept.split_at_mut(OF_TOKEN / 2);
    for stream in &mut *strangers {
        assert_eq!(asked_on(stream, &bearer("none")).0, 401);
    }
    let crowd: Vec<_> = (0..ROOM).map(|_| another()).collect();
    let reply = served.asked("GET /v1/status", &[&lee], "");
    assert_eq!(reply.status, 200);
    until("the strangers are cut", || strangers.iter().all(is_cut));
    assert!(!known.iter().any(is_cut) && !is_cut(&crowd[ROOM - 1]));
}

#[test]
fn connections_without_a_token_make_room_for_one_that_has_one() {
    let served = Served::start(&[TCP]);
    let lee = served.token(&["--worker=lee"]);
    let strangers: Vec<_> = (0..ROOM + 50).map(|_| connected(&served, "")).collect();
    let reply = served.asked("GET /v1/status", &[&bearer(&lee)], "");
    assert_eq!(reply.status, 200);
    // The oldest made room, and the others are still connected: nobody had to wait for them.
    until("the oldest are cut", || is_cut(&strangers[0]));
    assert!(!is_cut(&strangers[ROOM + 49]) && !is_cut(&strangers[ROOM - 100]));
}
