//! `comail serve` with TLS: who trusts it, and what is refused.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::harness::letters::{LETTERS, Letters};
use crate::harness::served::Served;
use crate::harness::{Place, Run};
use crate::servers::tls::Authority;

/// A server whose certificate names this host, and the file of its authority.
fn served(host: &str) -> (Served, String) {
    let authority = Authority::new();
    let place = Letters::scanned(LETTERS).place;
    let (certificate, key) = authority.pem_of(host);
    let certificate = place.write("chain.pem", certificate);
    let key = place.write("key.pem", key);
    let authority = place.write("authority.pem", authority.pem());
    let flags = [
        "--listen=127.0.0.1:0".to_owned(),
        format!("--tls-cert={}", certificate.display()),
        format!("--tls-key={}", key.display()),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let served = Served::of(place, &flags);
    (served, authority.display().to_string())
}

/// A call of the client that trusts this authority.
fn next(served: &Served, token: &str, url: &str, authority: Option<&str>) -> Run {
    let mut command = served.command(token, &["next"]);
    command.env("COMAIL_SERVER", url);
    command.envs(authority.map(|path| ("COMAIL_SERVER_CA", path)));
    Run::of(&mut command)
}

#[test]
fn a_client_trusts_the_authority_that_it_was_given() {
    let (served, authority) = served("127.0.0.1");
    let token = served.token(&["--worker=kim", "--expires=1d"]);
    assert!(
        served.url.starts_with("https://127.0.0.1:"),
        "{}",
        served.url
    );
    let text = next(&served, &token, &served.url, Some(&authority)).ok();
    assert!(text.contains("claimed by kim"), "{text}");

    // Neither the public authorities nor another one have signed it.
    let other = served.place.write("other.pem", Authority::new().pem());
    let other = other.display().to_string();
    for trusted in [None, Some(other.as_str())] {
        let run = next(&served, &token, &served.url, trusted);
        run.says("error: cannot reach the server");
        assert_eq!(run.stdout, "");
        run.exits(1);
    }
    let run = next(&served, &token, &served.url, Some("missing.pem"));
    run.says("COMAIL_SERVER_CA: cannot read missing.pem");
    run.exits(1);
}

#[test]
fn a_certificate_of_another_host_is_refused() {
    let (served, authority) = served("judge.test");
    let token = served.token(&["--worker=kim"]);
    let run = next(&served, &token, &served.url, Some(&authority));
    run.says("error: cannot reach the server");
    run.exits(1);
    assert_eq!(served.place.events("claim").len(), 0);
}

#[test]
fn plain_http_gets_nothing_from_a_port_with_tls() {
    let (served, authority) = served("127.0.0.1");
    let token = served.token(&["--worker=kim"]);
    let plain = served.url.replace("https://", "http://");
    next(&served, &token, &plain, Some(&authority)).exits(1);
    let address = served.url.trim_start_matches("https://");
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request = format!(
        "GET /v1/status HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut reply = Vec::new();
    // The server may reset the connection.
    let _ = stream.read_to_end(&mut reply);
    assert!(
        !String::from_utf8_lossy(&reply).contains("HTTP/"),
        "{reply:?}"
    );
    assert_eq!(served.place.events("claim").len(), 0);
    // The same call with TLS is answered.
    next(&served, &token, &served.url, Some(&authority)).ok();
}

#[test]
fn another_address_than_loopback_needs_tls_and_files_that_can_be_used() {
    let place = Letters::scanned(LETTERS).place;
    let serve = |place: &Place, flags: &[&str]| {
        Run::of(
            place
                .command()
                .args(["serve", "--listen=0.0.0.0:0"])
                .args(flags),
        )
    };
    let run = serve(&place, &[]);
    run.says("is not loopback");
    run.exits(2);
    let (certificate, key) = Authority::new().pem_of("127.0.0.1");
    let (_, other) = Authority::new().pem_of("127.0.0.1");
    place.write("chain.pem", certificate);
    place.write("key.pem", key);
    place.write("other.pem", other);
    serve(&place, &["--tls-cert=chain.pem"]).exits(2);
    for (key, words) in [
        (
            "--tls-key=missing.pem",
            "cannot read the private key missing.pem",
        ),
        (
            "--tls-key=chain.pem",
            "cannot read the private key chain.pem",
        ),
        (
            "--tls-key=other.pem",
            "cannot use the certificate chain.pem",
        ),
    ] {
        let run = serve(&place, &["--tls-cert=chain.pem", key]);
        run.says(words);
        run.exits(1);
    }
    // The client sends no token to another machine without TLS.
    let mut client = place.command();
    client
        .env("COMAIL_SERVER", "http://192.0.2.1:8017")
        .env("COMAIL_TOKEN", "x");
    let run = Run::of(client.arg("status"));
    run.says("plain HTTP would send the token");
    run.exits(2);
}

#[test]
fn a_server_on_every_address_answers_for_the_name_in_its_certificate() {
    let authority = Authority::new();
    let place = Letters::scanned(LETTERS).place;
    let (certificate, key) = authority.pem_of("localhost");
    place.write("chain.pem", certificate);
    place.write("key.pem", key);
    let trusted = place.write("authority.pem", authority.pem());
    let flags = [
        "--listen=0.0.0.0:0",
        "--tls-cert=chain.pem",
        "--tls-key=key.pem",
    ];
    let nameless = Run::of(place.command().arg("serve").args(flags));
    nameless.says("no request names it");
    nameless.exits(2);
    let served = Served::of(place, &[&flags[..], &["--host=LocalHost"]].concat());
    let port = served.url.rsplit_once(':').expect("a port").1;
    assert_eq!(served.url, format!("https://LocalHost:{port}"));
    let token = served.token(&["--worker=kim"]);
    let trusted = trusted.display().to_string();
    let url = format!("https://localhost:{port}");
    let text = next(&served, &token, &url, Some(&trusted)).ok();
    assert!(text.contains("claimed by kim"), "{text}");
    // Another name of the machine is none of the server's.
    let other = format!("https://127.0.0.1:{port}");
    next(&served, &token, &other, Some(&trusted)).exits(1);
}
