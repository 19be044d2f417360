//! The limits of time, size and frequency, over real sockets.

use std::time::{Duration, Instant};

use comail::world::fetch::live::LiveWorld;
use comail::world::fetch::settings::NetworkSettings;
use comail::world::{Fetched, Request, UnansweredKind};
use url::Url;

use crate::servers::TestNet;
use crate::servers::http::Reply;

const HOST: &str = "www.acme.test";

fn net(reply: Reply) -> TestNet {
    let net = TestNet::start();
    net.host(HOST);
    net.web.reply(HOST, "/", reply);
    net
}

fn world(settings: &NetworkSettings) -> LiveWorld {
    LiveWorld::new(settings, None).expect("the settings can be used")
}

fn get(world: &LiveWorld, net: &TestNet) -> Fetched {
    get_after(world, net, None)
}

fn get_after(world: &LiveWorld, net: &TestNet, crawl_delay: Option<Duration>) -> Fetched {
    let url = Url::parse(&net.web.url(HOST, "/")).expect("the tests' URLs are well-formed");
    world.fetcher().get(&Request { url, crawl_delay })
}

#[track_caller]
fn assert_silent(fetched: &Fetched, silence: UnansweredKind) {
    match fetched {
        Fetched::Unanswered(why) => assert_eq!(why.silence, silence, "{why}"),
        other => panic!("{other:?} is an answer"),
    }
}

#[test]
fn a_body_of_the_limit_is_a_page_and_one_byte_more_is_too_large() {
    for (length, fits) in [(100_000, true), (100_001, false)] {
        for reply in [
            Reply::html("x".repeat(length)),
            Reply::html("x".repeat(length)).gzipped(),
            Reply::Huge(length as u64),
        ] {
            let net = net(reply);
            let fetched = get(&world(&net.settings()), &net);
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
        let net = net(reply);
        let fetched = get(&world(&net.settings()), &net);
        assert!(matches!(fetched, Fetched::TooLarge { .. }), "{fetched:?}");
        assert_eq!(net.web.count(HOST, "/"), 1);
    }
}

#[test]
fn an_exchange_ends_in_time_however_its_bytes_come() {
    let status_line_alone = b"HTTP/1.1 200 OK\r\n".to_vec();
    for reply in [Reply::Hang, Reply::Drip(Duration::from_millis(20))] {
        let net = net(reply);
        let mut settings = net.settings();
        settings.limits.request_ms = 150;
        let began = Instant::now();
        assert_silent(&get(&world(&settings), &net), UnansweredKind::Timeout);
        assert!(began.elapsed() < Duration::from_secs(2));
        assert_eq!(net.web.count(HOST, "/"), 2);
    }
    let net = net(Reply::Raw(status_line_alone));
    assert_silent(
        &get(&world(&net.settings()), &net),
        UnansweredKind::Connection,
    );
}

#[test]
fn all_lookups_of_a_submission_share_one_budget() {
    let net = net(Reply::Hang);
    let mut settings = net.settings();
    settings.limits.submission_ms = 300;
    let world = world(&settings);
    let began = Instant::now();
    assert_silent(&get(&world, &net), UnansweredKind::Budget);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_silent(&get(&world, &net), UnansweredKind::Budget);
    assert_eq!(net.web.count(HOST, "/"), 1);
    net.web.page(HOST, "/", "x");
    let fetched = get(&world.for_another(), &net);
    assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
}

#[test]
fn retry_after_is_waited_for_if_it_fits_and_else_not_at_all() {
    let busy = |wait: &str| Reply::status(503).with("Retry-After", wait);
    let patient = net(busy("1"));
    patient
        .web
        .replies(HOST, "/", vec![busy("1"), Reply::html("x")]);
    let fetched = get(&world(&patient.settings()), &patient);
    assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
    let times: Vec<Instant> = patient.web.seen().iter().map(|seen| seen.at).collect();
    assert!(times[1] - times[0] >= Duration::from_millis(950));

    for wait in ["3600", "Fri, 31 Dec 2999 23:59:59 GMT"] {
        let hopeless = net(busy(wait));
        let began = Instant::now();
        assert_silent(
            &get(&world(&hopeless.settings()), &hopeless),
            UnansweredKind::Status,
        );
        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(hopeless.web.count(HOST, "/"), 1);
    }
}

#[test]
fn requests_to_one_host_are_a_gap_apart_across_worlds_that_share_a_directory() {
    let net = net(Reply::html("x"));
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut settings = net.settings();
    settings.min_gap_ms = 200;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let dir = Some(dir.path().to_owned());
                let world = LiveWorld::new(&settings, dir).expect("the settings can be used");
                assert!(matches!(get(&world, &net), Fetched::Response(_)));
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
    let net = net(Reply::html("x"));
    let mut settings = net.settings();
    settings.limits.submission_ms = 900;
    let world = world(&settings);
    for delay in [None, Some(Duration::from_secs(60))] {
        let fetched = get_after(&world, &net, delay);
        assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
    }
    let times: Vec<Instant> = net.web.seen().iter().map(|seen| seen.at).collect();
    assert!(times[1] - times[0] >= Duration::from_millis(250));
}

#[test]
fn one_slow_host_does_not_hold_up_another() {
    let net = net(Reply::Hang);
    net.host("quick.test");
    net.web.page("quick.test", "/", "x");
    let mut settings = net.settings();
    settings.limits.tries = 1;
    settings.limits.request_ms = 1_500;
    let slow = world(&settings);
    let quick = slow.for_another();
    std::thread::scope(|scope| {
        let hanging = scope.spawn(|| get(&slow, &net));
        let url = Url::parse(&net.web.url("quick.test", "/")).expect("a URL");
        let crawl_delay = None;
        let fetched = quick.fetcher().get(&Request { url, crawl_delay });
        assert!(matches!(fetched, Fetched::Response(_)), "{fetched:?}");
        assert!(!hanging.is_finished());
        assert_silent(&hanging.join().expect("no panic"), UnansweredKind::Timeout);
    });
}
