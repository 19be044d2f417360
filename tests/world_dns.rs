//! DNS as it is asked over real sockets.

use std::time::{Duration, Instant};

use comail::world::domain::HostName;
use comail::world::fetch::live::LiveWorld;
use comail::world::fetch::settings::NetworkSettings;
use comail::world::{Looked, RecordKind, Records, UnansweredKind};
use hickory_resolver::proto::op::ResponseCode;

use crate::servers::dns::{Answer, DnsServer};
use crate::servers::{TestNet, closed_port};

const NAME: &str = "acme.test";

fn name(text: &str) -> HostName {
    HostName::parse(text).expect("the tests' names are well-formed")
}

fn ask(settings: &NetworkSettings, kind: RecordKind) -> Looked {
    let world = LiveWorld::new(settings, None).expect("the settings can be used");
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
    let world = LiveWorld::new(&settings, None).expect("the settings can be used");
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
    let world = LiveWorld::new(&settings, None).expect("the settings can be used");
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
