//! Who does not answer, and who answers what cannot be read.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use super::*;

const ASKED: &[u8] = b"\r\n\r\n";

fn asked(timeout_ms: u64) -> Call {
    Call {
        service: "api".to_owned(),
        method: "GET".to_owned(),
        path: "/a".to_owned(),
        headers: Vec::new(),
        body: None,
        timeout_ms,
    }
}

/// What comes of asking whoever reads the request, says this, and closes.
fn of(answer: &[u8]) -> Called {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut read, mut chunk) = (Vec::new(), [0; 1024]);
            while !read.ends_with(ASKED) {
                let more = stream.read(&mut chunk).unwrap();
                assert_ne!(more, 0, "a whole request");
                read.extend_from_slice(&chunk[..more]);
            }
            // Whoever asks may have heard enough before all is said.
            let _ = stream.write_all(answer);
        });
        call(&asked(60_000), port)
    })
}

#[test]
fn whoever_closes_or_says_no_http_has_refused() {
    for answer in [
        &b""[..],
        b"what?\r\n\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ] {
        let called = of(answer);
        assert!(matches!(called, Called::Refused(_)), "{called:?}");
    }
    let mut large = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    large.resize(large.len() + MOST_BODY_BYTES + 1, b'x');
    let called = of(&large);
    let Called::Refused(why) = called else {
        panic!("{called:?}");
    };
    assert!(why.contains("larger"), "{why}");
}

#[test]
fn any_answer_that_can_be_read_is_one() {
    for answer in [
        &b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"[..],
        b"HTTP/1.1 302 Elsewhere\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nto the end",
    ] {
        let called = of(answer);
        assert!(matches!(called, Called::Answered(_)), "{called:?}");
    }
}

#[test]
fn whoever_is_not_there_or_is_slow_has_not_refused() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let slow = call(&asked(50), port);
    assert!(matches!(slow, Called::Unanswered(_)), "{slow:?}");
    drop(listener);
    let gone = call(&asked(60_000), port);
    assert!(matches!(gone, Called::Unanswered(_)), "{gone:?}");
}
