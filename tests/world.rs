//! DNS and pages as they are asked for over real sockets.

use std::env;
use std::process::Command;
use std::time::{Duration, Instant};

use comail::world::domain::HostName;
use comail::world::fetch::live::LiveWorld;
use comail::world::fetch::politeness::TurnPlace;
use comail::world::fetch::settings::NetworkSettings;
use comail::world::{Fetched, Looked, RecordKind, Records, Request, Response, UnansweredKind};
use hickory_resolver::proto::op::ResponseCode;
use url::Url;

use crate::servers::dns::{Answer, DnsServer};
use crate::servers::http::{Reply, WebServer};
use crate::servers::proxy::Proxy;
use crate::servers::tls::Authority;
use crate::servers::{TestNet, closed_port};

const NAME: &str = "acme.test";

fn name(text: &str) -> HostName {
    HostName::parse(text).expect("the tests' names are well-formed")
}

fn ask(settings: &NetworkSettings, kind: RecordKind) -> Looked {
    let world = LiveWorld::new(settings, TurnPlace::Process).expect("the settings can be used");
    world.resolver().lookup(&name(NAME), kind)
}

/// What becomes of an A question that the server answers so.
fn answered(answer: Answer) -> Looked {
    let net = TestNet::start();
    net.dns.says(NAME, RecordKind::A, answer);
    let mut settings = net.settings();
    settings.limits.dns_ms = 150;
    ask(&settings, RecordKind::A)
}

fn address() -> Answer {
    Answer::Addresses(vec![[127, 0, 0, 1].into()])
}

fn found() -> Looked {
    Looked::Found(Records::Addresses(vec![[127, 0, 0, 1].into()]))
}

#[track_caller]
fn assert_silent(looked: &Looked, silence: UnansweredKind) {
    match looked {
        Looked::Unanswered(why) => assert_eq!(why.silence, silence, "{why}"),
        definite => panic!("{definite:?} is definite"),
    }
}

#[test]
fn records_nodata_and_nxdomain_are_told_apart() {
    let net = TestNet::start();
    net.dns.host(NAME, "127.0.0.1");
    let settings = net.settings();
    assert_eq!(ask(&settings, RecordKind::A), found());
    assert_eq!(ask(&settings, RecordKind::Aaaa), Looked::NoData);
    let world = LiveWorld::new(&settings, TurnPlace::Process).expect("the settings can be used");
    let looked = world
        .resolver()
        .lookup(&name("none.acme.test"), RecordKind::A);
    assert_eq!(looked, Looked::NoSuchName);
}

#[test]
fn only_a_definite_answer_counts() {
    let many: Vec<_> = (1..=60).map(|n| [127, 0, 0, n].into()).collect();
    let truncated = |whole| Answer::Truncated(Box::new(whole));
    let whole = truncated(Answer::Addresses(many.clone()));
    let gone = || "gone.test".to_owned();
    for (answer, expected) in [
        (Answer::NoData, Looked::NoData),
        (Answer::NoSuchName, Looked::NoSuchName),
        (Answer::Alias(gone()), Looked::NoSuchName),
        (Answer::AliasAlone(gone()), Looked::NoSuchName),
        // A truncated answer is asked for again over TCP.
        (whole, Looked::Found(Records::Addresses(many))),
        (truncated(Answer::NoSuchName), Looked::NoSuchName),
    ] {
        let text = format!("{answer:?}");
        assert_eq!(answered(answer), expected, "{text}");
    }
    for answer in [
        Answer::Referral,
        Answer::Alias(NAME.to_owned()),
        Answer::Code(ResponseCode::ServFail),
        Answer::Lame,
        Answer::Silence,
        Answer::Garbage,
        Answer::WrongId,
        Answer::WrongQuestion,
        Answer::TruncatedForEver,
    ] {
        assert_silent(&answered(answer), UnansweredKind::Dns);
    }
}

#[test]
fn silence_is_asked_again_and_a_definite_answer_is_not() {
    let net = TestNet::start();
    let broken = Answer::Code(ResponseCode::ServFail);
    net.dns
        .says_in_turn(NAME, RecordKind::A, vec![broken.clone(), address()]);
    net.dns.says(NAME, RecordKind::Mx, broken);
    let settings = net.settings();
    assert_eq!(ask(&settings, RecordKind::A), found());
    assert_eq!(net.dns.asked(NAME, RecordKind::A), 2);
    assert_silent(&ask(&settings, RecordKind::Mx), UnansweredKind::Dns);
    assert_eq!(net.dns.asked(NAME, RecordKind::Mx), 2);
    assert_eq!(ask(&settings, RecordKind::Aaaa), Looked::NoData);
    assert_eq!(net.dns.asked(NAME, RecordKind::Aaaa), 1);
}

#[test]
fn aliases_are_followed_whoever_tells_their_targets() {
    for tell in [Answer::Alias as fn(String) -> Answer, Answer::AliasAlone] {
        let net = TestNet::start();
        net.dns
            .says(NAME, RecordKind::A, tell("cdn.test".to_owned()));
        net.dns
            .says("cdn.test", RecordKind::A, tell("end.test".to_owned()));
        net.dns.host("end.test", "127.0.0.1");
        assert_eq!(ask(&net.settings(), RecordKind::A), found());
    }
}

#[test]
fn loops_and_endless_chains_of_aliases_are_given_up() {
    let looped = TestNet::start();
    for (from, to) in [(NAME, "b.test"), ("b.test", NAME)] {
        let onward = Answer::AliasAlone(to.to_owned());
        looped.dns.says(from, RecordKind::A, onward);
    }
    assert_silent(&ask(&looped.settings(), RecordKind::A), UnansweredKind::Dns);
    // Once round for each of the two tries.
    assert_eq!(looped.dns.questions().len(), 4);

    let endless = TestNet::start();
    let alias = |from: &str, n: usize| {
        let onward = Answer::AliasAlone(format!("n{n}.test"));
        endless.dns.says(from, RecordKind::A, onward);
    };
    alias(NAME, 0);
    for n in 0..40 {
        alias(&format!("n{n}.test"), n + 1);
    }
    let mut settings = endless.settings();
    settings.limits.tries = 1;
    assert_silent(&ask(&settings, RecordKind::A), UnansweredKind::Dns);
    assert!(endless.dns.questions().len() < 12);
}

#[test]
fn the_next_server_is_asked_when_one_is_silent_and_not_when_it_denies() {
    let [first, second] = [DnsServer::start(), DnsServer::start()];
    second.host(NAME, "127.0.0.1");
    let net = TestNet::start();
    let mut settings = net.settings();
    settings.dns_servers = vec![closed_port(), second.address()];
    assert_eq!(ask(&settings, RecordKind::A), found());
    settings.dns_servers = vec![first.address(), second.address()];
    assert_eq!(ask(&settings, RecordKind::A), Looked::NoSuchName);
}

#[test]
fn names_are_absolute_whatever_the_search_list_would_add() {
    let net = TestNet::start();
    assert_eq!(ask(&net.settings(), RecordKind::A), Looked::NoSuchName);
    assert_eq!(net.dns.questions(), [(NAME.to_owned(), RecordKind::A)]);
}

#[test]
fn the_submissions_time_bounds_every_question() {
    let net = TestNet::start();
    net.dns.says(NAME, RecordKind::A, Answer::Silence);
    net.dns.host("other.test", "127.0.0.1");
    let mut settings = net.settings();
    settings.limits.submission_ms = 200;
    let world = LiveWorld::new(&settings, TurnPlace::Process).expect("the settings can be used");
    let began = Instant::now();
    assert_silent(
        &world.resolver().lookup(&name(NAME), RecordKind::A),
        UnansweredKind::Budget,
    );
    assert!(began.elapsed() < Duration::from_millis(1_500));
    let late = world.resolver().lookup(&name("other.test"), RecordKind::A);
    assert_silent(&late, UnansweredKind::Budget);
    assert_eq!(net.dns.asked("other.test", RecordKind::A), 0);
    let fresh = world.for_another();
    assert_eq!(
        fresh.resolver().lookup(&name("other.test"), RecordKind::A),
        found()
    );
}

const HOST: &str = "www.acme.test";

fn net() -> TestNet {
    let net = TestNet::start();
    net.host(HOST);
    net
}

fn world(settings: &NetworkSettings) -> LiveWorld {
    LiveWorld::new(settings, TurnPlace::Process).expect("the settings can be used")
}

fn get(settings: &NetworkSettings, url: &str) -> Fetched {
    get_from(&world(settings), url, None)
}

fn get_from(world: &LiveWorld, url: &str, crawl_delay: Option<Duration>) -> Fetched {
    let url = Url::parse(url).expect("the tests' URLs are well-formed");
    world.fetcher().get(&Request { url, crawl_delay })
}

/// What becomes of a page that is answered so.
fn page_answered(reply: Reply) -> Fetched {
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
fn assert_page_silent(fetched: &Fetched, silence: UnansweredKind) {
    match fetched {
        Fetched::Unanswered(why) => assert_eq!(why.silence, silence, "{why}"),
        other => panic!("{other:?} is an answer"),
    }
}

#[test]
fn a_page_comes_with_its_headers_and_body() {
    let reply = Reply::html("<p>info@acme.test</p>").with("Refresh", "3; url=/next");
    for reply in [reply.clone(), reply.gzipped()] {
        let page = response(page_answered(reply));
        assert_eq!(page.status, 200);
        let content_type = page.content_type.as_deref();
        assert_eq!(content_type, Some("text/html; charset=utf-8"));
        assert_eq!(page.refresh.as_deref(), Some("3; url=/next"));
        assert_eq!(page.location, None);
        assert_eq!(page.body, b"<p>info@acme.test</p>");
    }
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
}

#[test]
fn not_found_and_gone_are_answers_and_every_other_status_is_tried_again() {
    for status in [
        404, 410, 304, 400, 401, 403, 405, 429, 451, 500, 502, 503, 599,
    ] {
        let net = net();
        net.web.reply(HOST, "/", Reply::status(status));
        let fetched = get(&net.settings(), &net.web.url(HOST, "/"));
        let is_answer = matches!(status, 404 | 410);
        if is_answer {
            assert_eq!(response(fetched).status, status);
        } else {
            assert_page_silent(&fetched, UnansweredKind::Status);
        }
        let asked = if is_answer { 1 } else { 2 };
        assert_eq!(net.web.count(HOST, "/"), asked, "{status}");
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
fn what_is_no_answer_is_told_apart() {
    let page = Reply::html("<p>info@acme.test</p>");
    let cut_off = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    let unknown = page.clone().with("Content-Encoding", "compress");
    let broken = page.with("Content-Encoding", "gzip");
    for (reply, silence) in [
        (unknown, UnansweredKind::Protocol),
        (broken, UnansweredKind::Protocol),
        (Reply::status(302), UnansweredKind::Status),
        (Reply::Reset, UnansweredKind::Connection),
        (Reply::Raw(Vec::new()), UnansweredKind::Connection),
        (Reply::Raw(cut_off.to_vec()), UnansweredKind::Connection),
        (
            Reply::Raw(b"HTTP/1.1 200 OK\r\n".to_vec()),
            UnansweredKind::Connection,
        ),
        (
            Reply::Raw(b"SSH-2.0-x\r\n\r\n".to_vec()),
            UnansweredKind::Protocol,
        ),
    ] {
        assert_page_silent(&page_answered(reply), silence);
    }
    let url = format!("http://{HOST}:{}/", closed_port().port());
    assert_page_silent(&get(&net().settings(), &url), UnansweredKind::Connection);
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
    assert_page_silent(
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
    assert_page_silent(&get(&settings, &url), UnansweredKind::Tls);
    settings.ca_certs_pem.clear();
    assert_page_silent(&get(&settings, &url), UnansweredKind::Tls);
    assert_eq!(net.tls.seen().len(), 1);
    // A certificate of another host is not taken.
    let other = WebServer::start_tls(net.authority.server_config_of("www.other.test"));
    other.page(HOST, "/", "x");
    let fetched = get(&net.settings(), &other.url(HOST, "/"));
    assert_page_silent(&fetched, UnansweredKind::Tls);
}

#[test]
fn no_spelling_of_a_private_host_is_connected_to() {
    let net = net();
    net.dns.host("inside.test", "127.0.0.1");
    net.dns.host("mapped.test", "::ffff:127.0.0.1");
    let mut settings = net.settings();
    settings.allow_net.clear();
    let port = net.web.address().port();
    for host in "127.0.0.1 [::1] inside.test inside.test. mapped.test".split(' ') {
        let fetched = get(&settings, &format!("http://{host}:{port}/"));
        assert_page_silent(&fetched, UnansweredKind::PrivateAddress);
    }
    assert_eq!(net.web.connections(), 0);
}

#[test]
fn permitted_addresses_are_reached_by_name_and_by_address() {
    let net = net();
    // The others of a name are not used.
    let both = vec![[10, 0, 0, 1].into(), [127, 0, 0, 1].into()];
    net.dns.says(HOST, RecordKind::A, Answer::Addresses(both));
    let port = net.web.address().port();
    for host in ["127.0.0.1", HOST, "www.acme.test."] {
        net.web.page(host, "/", "x");
        let page = get(&net.settings(), &format!("http://{host}:{port}/"));
        assert_eq!(response(page).body, b"x", "{host}");
    }
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
    assert_page_silent(&get(&net.settings(), &url), UnansweredKind::PrivateAddress);
    assert_eq!(net.web.connections(), 1);
    // So is every further try.
    net.web.reply(HOST, "/", Reply::status(503));
    net.dns
        .says_in_turn(HOST, RecordKind::A, vec![addresses(1), addresses(2)]);
    assert_page_silent(&get(&net.settings(), &url), UnansweredKind::PrivateAddress);
    assert_eq!(net.web.connections(), 2);
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
    assert_page_silent(
        &get(&settings, "http://10.0.0.1/"),
        UnansweredKind::PrivateAddress,
    );
    assert_eq!(net.web.connections(), 1);
}

#[test]
fn a_proxy_is_asked_to_connect_to_https_sites() {
    let net = net();
    net.tls.page(HOST, "/", "x");
    let proxy = Proxy::start(net.tls.address());
    let mut settings = net.settings();
    settings.proxy = Url::parse(&proxy.url()).ok();
    let url = format!("https://{HOST}/");
    assert_eq!(response(get(&settings, &url)).body, b"x");
    // The negative control: nobody vouches for the site.
    settings.ca_certs_pem.clear();
    assert_page_silent(&get(&settings, &url), UnansweredKind::Tls);
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
        .args(["--exact", "world::a_page_comes_with_its_headers_and_body"])
        .args(["world::tls_holds_with_the_frozen_authority_alone"])
        .args(["world::names_are_absolute_whatever_the_search_list_would_add"])
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("3 passed"),
        "{said}"
    );
}

// The limits of time, size and frequency.

fn net_with(reply: Reply) -> TestNet {
    let net = net();
    net.web.reply(HOST, "/", reply);
    net
}

fn get_root(world: &LiveWorld, net: &TestNet) -> Fetched {
    get_from(world, &net.web.url(HOST, "/"), None)
}

#[test]
fn a_body_of_the_limit_is_a_page_and_one_byte_more_is_too_large() {
    for (length, fits) in [(100_000, true), (100_001, false)] {
        for reply in [
            Reply::html("x".repeat(length)),
            Reply::html("x".repeat(length)).gzipped(),
            Reply::Huge(length as u64),
        ] {
            let net = net_with(reply);
            let fetched = get_root(&world(&net.settings()), &net);
            match fetched {
                Fetched::Response(page) if fits => assert_eq!(page.body.len(), length),
                Fetched::TooLarge { limit_bytes } if !fits => assert_eq!(limit_bytes, 100_000),
                other => panic!("{length}: {other:?}"),
            }
        }
    }
}

#[test]
fn bombs_and_floods_end_at_the_limit() {
    for reply in [
        Reply::GzipBomb(1 << 30),
        Reply::Huge(u64::MAX),
        Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n".to_vec()),
    ] {
        let net = net_with(reply);
        let fetched = get_root(&world(&net.settings()), &net);
        assert!(matches!(fetched, Fetched::TooLarge { .. }), "{fetched:?}");
        assert_eq!(net.web.count(HOST, "/"), 1);
    }
}

#[test]
fn an_exchange_ends_in_time_however_its_bytes_come() {
    for reply in [Reply::Hang, Reply::Drip(Duration::from_millis(20))] {
        let net = net_with(reply);
        let mut settings = net.settings();
        settings.limits.request_ms = 150;
        let began = Instant::now();
        assert_page_silent(&get_root(&world(&settings), &net), UnansweredKind::Timeout);
        assert!(began.elapsed() < Duration::from_secs(2));
        assert_eq!(net.web.count(HOST, "/"), 2);
    }
}

#[test]
fn all_lookups_of_a_submission_share_one_budget() {
    let net = net_with(Reply::Hang);
    let mut settings = net.settings();
    settings.limits.submission_ms = 300;
    let world = world(&settings);
    let began = Instant::now();
    assert_page_silent(&get_root(&world, &net), UnansweredKind::Budget);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_page_silent(&get_root(&world, &net), UnansweredKind::Budget);
    assert_eq!(net.web.count(HOST, "/"), 1);
    net.web.page(HOST, "/", "x");
    let fetched = get_root(&world.for_another(), &net);
    assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
}

#[test]
fn retry_after_is_waited_for_if_it_fits_and_else_not_at_all() {
    let busy = |wait: &str| Reply::status(503).with("Retry-After", wait);
    let patient = net_with(busy("1"));
    patient
        .web
        .replies(HOST, "/", vec![busy("1"), Reply::html("x")]);
    let fetched = get_root(&world(&patient.settings()), &patient);
    assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
    let times: Vec<Instant> = patient.web.seen().iter().map(|seen| seen.at).collect();
    assert!(times[1] - times[0] >= Duration::from_millis(950));

    for wait in ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"] {
        let hopeless = net_with(busy(wait));
        let began = Instant::now();
        assert_page_silent(
            &get_root(&world(&hopeless.settings()), &hopeless),
            UnansweredKind::Status,
        );
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(hopeless.web.count(HOST, "/"), 1);
    }
}

#[test]
fn requests_to_one_host_are_a_gap_apart_across_worlds_that_share_a_directory() {
    let net = net_with(Reply::html("x"));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut settings = net.settings();
    settings.min_gap_ms = 200;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let place = TurnPlace::Directory(dir.path().to_owned());
                let world = LiveWorld::new(&settings, place).expect("the settings can be used");
                assert!(matches!(get_root(&world, &net), Fetched::Response(_)));
            });
        }
    });
    let mut times: Vec<Instant> = net.web.seen().iter().map(|seen| seen.at).collect();
    times.sort_unstable();
    assert_eq!(times.len(), 3);
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= Duration::from_millis(150), "{pair:?}");
    }
}

#[test]
fn a_crawl_delay_is_obeyed_up_to_a_third_of_the_submissions_time() {
    let net = net_with(Reply::html("x"));
    let mut settings = net.settings();
    settings.limits.submission_ms = 900;
    let world = world(&settings);
    for delay in [None, Some(Duration::from_mins(1))] {
        let fetched = get_from(&world, &net.web.url(HOST, "/"), delay);
        assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
    }
    let times: Vec<Instant> = net.web.seen().iter().map(|seen| seen.at).collect();
    assert!(times[1] - times[0] >= Duration::from_millis(250));
}

#[test]
fn one_slow_host_does_not_hold_up_another() {
    let net = net_with(Reply::Hang);
    net.host("quick.test");
    net.web.page("quick.test", "/", "x");
    let mut settings = net.settings();
    settings.limits.tries = 1;
    settings.limits.request_ms = 1_500;
    let slow = world(&settings);
    let quick = slow.for_another();
    std::thread::scope(|scope| {
        let hanging = scope.spawn(|| get_root(&slow, &net));
        let fetched = get_from(&quick, &net.web.url("quick.test", "/"), None);
        assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
        assert!(!hanging.is_finished());
        assert_page_silent(&hanging.join().expect("no panic"), UnansweredKind::Timeout);
    });
}
