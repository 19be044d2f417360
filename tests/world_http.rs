//! Pages as they are fetched over real sockets: answers, silences and addresses.

use std::env;
use std::process::Command;

use comail::world::fetch::live::LiveWorld;
use comail::world::fetch::settings::NetworkSettings;
use comail::world::{Fetched, RecordKind, Request, Response, UnansweredKind};
use url::Url;

use crate::servers::dns::Answer;
use crate::servers::http::{Reply, WebServer};
use crate::servers::tls::Authority;
use crate::servers::{TestNet, closed_port};

const HOST: &str = "www.acme.test";

fn net() -> TestNet {
    let net = TestNet::start();
    net.host(HOST);
    net
}

fn get(settings: &NetworkSettings, url: &str) -> Fetched {
    let world = LiveWorld::new(settings, None).expect("the settings can be used");
    let url = Url::parse(url).expect("the tests' URLs are well-formed");
    let crawl_delay = None;
    world.fetcher().get(&Request { url, crawl_delay })
}

/// What becomes of a page that is answered so.
fn answered(reply: Reply) -> Fetched {
    let net = net();
    net.web.reply(HOST, "/", reply);
    get(&net.settings(), &net.web.url(HOST, "/"))
}

#[track_caller]
fn response(fetched: Fetched) -> Response {
    match fetched {
        Fetched::Response(response) => response,
        other => panic!("{other:?} is no response"),
    }
}

#[track_caller]
fn assert_silent(fetched: &Fetched, silence: UnansweredKind) {
    match fetched {
        Fetched::Unanswered(why) => assert_eq!(why.silence, silence, "{why}"),
        other => panic!("{other:?} is an answer"),
    }
}

#[test]
fn a_page_comes_with_its_headers_and_body() {
    let reply = Reply::html("<p>info@acme.test</p>").with("Refresh", "3; url=/next");
    let page = response(answered(reply));
    assert_eq!(page.status, 200);
    assert_eq!(
        page.content_type.as_deref(),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(page.refresh.as_deref(), Some("3; url=/next"));
    assert_eq!(page.location, None);
    assert_eq!(page.body, b"<p>info@acme.test</p>");
}

#[test]
fn a_compressed_page_comes_unpacked_and_an_unknown_coding_is_no_page() {
    let page = Reply::html("<p>info@acme.test</p>");
    assert_eq!(
        response(answered(page.clone().gzipped())).body,
        b"<p>info@acme.test</p>"
    );
    let unknown = page.clone().with("Content-Encoding", "compress");
    assert_silent(&answered(unknown), UnansweredKind::Protocol);
    let broken = page.with("Content-Encoding", "gzip");
    assert_silent(&answered(broken), UnansweredKind::Protocol);
}

#[test]
fn the_request_names_comail_and_nothing_of_the_user() {
    let net = net();
    net.web.page(HOST, "/a?b=c", "x");
    let settings = net.settings();
    let url = net
        .web
        .url(HOST, "/a?b=c#d")
        .replace("http://", "http://user:pass@");
    assert_eq!(response(get(&settings, &url)).status, 200);
    let [seen] = &net.web.seen()[..] else {
        panic!("one request")
    };
    assert_eq!(seen.line, "GET /a?b=c HTTP/1.1");
    assert_eq!(
        seen.header("user-agent"),
        Some(settings.user_agent.as_str())
    );
    for name in ["cookie", "referer", "authorization"] {
        assert_eq!(seen.header(name), None, "{name}");
    }
}

#[test]
fn redirects_are_answers_and_not_followed() {
    let net = net();
    net.web.reply(HOST, "/", Reply::redirect(302, "/next"));
    let answer = response(get(&net.settings(), &net.web.url(HOST, "/")));
    assert_eq!(
        (answer.status, answer.location.as_deref()),
        (302, Some("/next"))
    );
    assert_eq!(net.web.count(HOST, "/next"), 0);
    assert_silent(&answered(Reply::status(302)), UnansweredKind::Status);
}

#[test]
fn not_found_and_gone_are_answers_and_asked_for_once() {
    for status in [404, 410] {
        let net = net();
        net.web.reply(HOST, "/", Reply::status(status));
        let answer = response(get(&net.settings(), &net.web.url(HOST, "/")));
        assert_eq!(answer.status, status);
        assert_eq!(net.web.count(HOST, "/"), 1);
    }
}

#[test]
fn every_other_status_is_tried_again_and_then_silence() {
    for status in [304, 400, 401, 403, 405, 429, 451, 500, 502, 503, 599] {
        let net = net();
        net.web.reply(HOST, "/", Reply::status(status));
        assert_silent(
            &get(&net.settings(), &net.web.url(HOST, "/")),
            UnansweredKind::Status,
        );
        assert_eq!(net.web.count(HOST, "/"), 2, "{status}");
    }
}

#[test]
fn a_second_try_that_answers_is_the_answer() {
    for first in [
        Reply::status(503),
        Reply::Reset,
        Reply::Raw(b"no HTTP\r\n\r\n".to_vec()),
    ] {
        let net = net();
        net.web.replies(HOST, "/", vec![first, Reply::html("x")]);
        assert_eq!(
            response(get(&net.settings(), &net.web.url(HOST, "/"))).body,
            b"x"
        );
        assert_eq!(net.web.count(HOST, "/"), 2);
    }
}

#[test]
fn broken_connections_are_told_from_broken_answers() {
    assert_silent(&answered(Reply::Reset), UnansweredKind::Connection);
    assert_silent(
        &answered(Reply::Raw(Vec::new())),
        UnansweredKind::Connection,
    );
    let cut_off = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    assert_silent(
        &answered(Reply::Raw(cut_off.to_vec())),
        UnansweredKind::Connection,
    );
    assert_silent(
        &answered(Reply::Raw(b"SSH-2.0-x\r\n\r\n".to_vec())),
        UnansweredKind::Protocol,
    );

    let net = net();
    let url = format!("http://{HOST}:{}/", closed_port().port());
    assert_silent(&get(&net.settings(), &url), UnansweredKind::Connection);
}

#[test]
fn a_host_that_does_not_exist_is_said_so_and_an_unanswered_one_is_not() {
    let net = net();
    let settings = net.settings();
    assert_eq!(get(&settings, "http://none.test/"), Fetched::NoSuchHost);
    net.dns.mx("mail-only.test", 10, "mx.test");
    assert_eq!(
        get(&settings, "http://mail-only.test/"),
        Fetched::NoSuchHost
    );
    net.dns.says(HOST, RecordKind::Aaaa, Answer::Referral);
    assert_silent(
        &get(&settings, &net.web.url(HOST, "/")),
        UnansweredKind::Dns,
    );
    assert_eq!(net.web.connections(), 0);
}

#[test]
fn tls_holds_with_the_frozen_authority_alone() {
    let net = net();
    net.tls.page(HOST, "/", "x");
    let url = net.tls.url(HOST, "/");
    let mut settings = net.settings();
    assert_eq!(response(get(&settings, &url)).body, b"x");
    settings.ca_certs_pem = vec![Authority::new().pem()];
    assert_silent(&get(&settings, &url), UnansweredKind::Tls);
    settings.ca_certs_pem.clear();
    assert_silent(&get(&settings, &url), UnansweredKind::Tls);
    assert_eq!(net.tls.seen().len(), 1);
}

#[test]
fn a_certificate_of_another_host_is_not_taken() {
    let net = net();
    let other = WebServer::start_tls(net.authority.server_config_of("www.other.test"));
    other.page(HOST, "/", "x");
    assert_silent(
        &get(&net.settings(), &other.url(HOST, "/")),
        UnansweredKind::Tls,
    );
}

#[test]
fn no_spelling_of_a_private_host_is_connected_to() {
    let net = net();
    net.dns.host("inside.test", "127.0.0.1");
    net.dns.host("mapped.test", "::ffff:127.0.0.1");
    let mut settings = net.settings();
    settings.allow_net.clear();
    let port = net.web.address().port();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "inside.test",
        "inside.test.",
        "mapped.test",
    ] {
        let fetched = get(&settings, &format!("http://{host}:{port}/"));
        assert_silent(&fetched, UnansweredKind::PrivateAddress);
    }
    assert_eq!(net.web.connections(), 0);
}

#[test]
fn an_allowed_network_can_be_reached_by_name_and_by_address() {
    let net = net();
    let port = net.web.address().port();
    for host in ["127.0.0.1", HOST, "www.acme.test."] {
        net.web.page(host, "/", "x");
        let page = get(&net.settings(), &format!("http://{host}:{port}/"));
        assert_eq!(response(page).body, b"x", "{host}");
    }
}

#[test]
fn permitted_addresses_are_used_and_the_others_of_the_name_are_not() {
    let net = net();
    let both = vec![[10, 0, 0, 1].into(), [127, 0, 0, 1].into()];
    net.dns.says(HOST, RecordKind::A, Answer::Addresses(both));
    net.web.page(HOST, "/", "x");
    assert_eq!(
        response(get(&net.settings(), &net.web.url(HOST, "/"))).body,
        b"x"
    );
}

#[test]
fn the_addresses_that_were_checked_are_those_connected_to() {
    let addresses = |last| Answer::Addresses(vec![[127, 0, 0, last].into()]);
    let net = net();
    net.dns
        .says_in_turn(HOST, RecordKind::A, vec![addresses(1), addresses(2)]);
    net.web.page(HOST, "/", "x");
    let url = net.web.url(HOST, "/");
    // The name is asked for once: nothing between the check and the connection asks again.
    assert_eq!(response(get(&net.settings(), &url)).body, b"x");
    assert_eq!(net.dns.asked(HOST, RecordKind::A), 1);
    // What it leads to next is checked like the first.
    assert_silent(&get(&net.settings(), &url), UnansweredKind::PrivateAddress);
    assert_eq!(net.web.connections(), 1);
}

#[test]
fn every_try_resolves_and_checks_anew() {
    let addresses = |last| Answer::Addresses(vec![[127, 0, 0, last].into()]);
    let net = net();
    net.dns
        .says_in_turn(HOST, RecordKind::A, vec![addresses(1), addresses(2)]);
    net.web.reply(HOST, "/", Reply::status(503));
    let fetched = get(&net.settings(), &net.web.url(HOST, "/"));
    assert_silent(&fetched, UnansweredKind::PrivateAddress);
    assert_eq!(net.web.connections(), 1);
}

#[test]
fn a_proxy_resolves_names_and_is_never_asked_for_private_addresses() {
    let net = net();
    net.web.page("www.far.test", "/", "x");
    let mut settings = net.settings();
    settings.allow_net.clear();
    settings.proxy = Url::parse(&net.web.url("127.0.0.1", "/")).ok();
    assert_eq!(response(get(&settings, "http://www.far.test/")).body, b"x");
    assert_eq!(net.dns.questions(), []);
    let [seen] = &net.web.seen()[..] else {
        panic!("one request")
    };
    assert_eq!(seen.line, "GET http://www.far.test/ HTTP/1.1");
    assert_silent(
        &get(&settings, "http://10.0.0.1/"),
        UnansweredKind::PrivateAddress,
    );
    assert_eq!(net.web.connections(), 1);
}

#[test]
fn the_environment_changes_nothing() {
    let nowhere = format!("http://{}/", closed_port());
    let mut again = Command::new(env::current_exe().expect("this very binary"));
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        again.env(name, &nowhere);
    }
    let child = again
        .env("SSL_CERT_FILE", "/nonexistent")
        .env("SSL_CERT_DIR", "/nonexistent")
        .env("RES_OPTIONS", "ndots:15 use-vc")
        .env("LOCALDOMAIN", "evil.test")
        .args([
            "--exact",
            "world_http::a_page_comes_with_its_headers_and_body",
        ])
        .args(["world_http::tls_holds_with_the_frozen_authority_alone"])
        .args(["world_dns::names_are_absolute_whatever_the_search_list_would_add"])
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("3 passed"),
        "{said}"
    );
}
