//! Cheating by what surrounds the program: environment, flags, directories, own servers.

use crate::harness::email_net::{ACME, page};
use crate::harness::{EmailNet, Run};
use crate::servers::http::WebServer;
use crate::servers::tls::Authority;
use crate::servers::{TestNet, closed_port};

/// Every variable with which some program lets its proxy be chosen.
const PROXIES: &[&str] = &[
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "FTP_PROXY",
    "SOCKS_PROXY",
    "CGI_HTTP_PROXY",
];

#[test]
fn a_proxy_of_ones_own_is_not_asked() {
    let world = EmailNet::start();
    let own = WebServer::start();
    let lie = world.right("acme.co.kr").clone().email("ceo@acme.co.kr");
    own.page("www.acme.co.kr", "/contact", &page(ACME, &lie.email));
    let mut command = world.place.command();
    for name in PROXIES {
        command.env(name, format!("http://{}", own.address()));
    }
    let run = Run::of(command.args(lie.args(1)));
    assert!(run.exits(5).contains("email-not-on-source"));
    assert_eq!(own.connections(), 0);
    assert_eq!(world.net.web.count("www.acme.co.kr", "/contact"), 1);
}

#[test]
fn a_certificate_authority_of_ones_own_is_not_trusted() {
    let world = EmailNet::unscanned();
    // The session trusts another authority than the one that signs what the agent serves.
    let flags: Vec<String> = world.flags();
    world.place.write("ca.pem", Authority::new().pem());
    world.place.scan(&[ACME], &flags);
    let own = world.place.write("own.pem", world.net.authority.pem());
    let tls = &world.net.tls;
    tls.page("www.acme.co.kr", "/contact", &page(ACME, "info@acme.co.kr"));
    let lie = world
        .right("acme.co.kr")
        .clone()
        .source(&tls.url("www.acme.co.kr", "/contact"));
    let mut command = world.place.command();
    for name in [
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "RUSTLS_EXTRA_CERTS",
        "AWS_CA_BUNDLE",
    ] {
        command.env(name, &own);
    }
    let run = Run::of(command.args(lie.args(1)));
    assert!(run.ok().contains("source-unanswered"));
    assert_eq!(tls.count("www.acme.co.kr", "/contact"), 0);
}

#[test]
fn a_resolver_of_ones_own_is_not_asked() {
    let world = EmailNet::start();
    let own = TestNet::start();
    own.host("www.acme.co.kr");
    own.dns.host("acme.co.kr.evil.kr", "127.0.0.1");
    let aliases = world.place.write("aliases", "www.acme.co.kr evil.kr\n");
    let hosts = world.place.write("hosts", "127.0.0.9 www.acme.co.kr\n");
    let lie = world.right("acme.co.kr").clone().email("ceo@acme.co.kr");
    let run = Run::of(
        world
            .place
            .command()
            .env("LOCALDOMAIN", "evil.kr")
            .env("RES_OPTIONS", "ndots:15 attempts:9 use-vc")
            .env("HOSTALIASES", aliases)
            .env("HOSTS_FILE", hosts)
            .env("RESOLV_CONF", world.place.path())
            .env("NAMESERVER", own.dns.address().to_string())
            .args(lie.args(1)),
    );
    assert!(run.exits(5).contains("email-not-on-source"));
    assert_eq!(own.dns.questions(), []);
    let asked = world.net.dns.questions();
    assert!(
        asked.iter().all(|(name, _)| !name.contains("evil")),
        "{asked:?}"
    );
}

#[test]
fn variables_that_look_like_settings_are_none() {
    let world = EmailNet::start();
    let own = world.place.at("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("comail.toml"), "max_tries = 99\n").unwrap();
    let mut command = world.place.command();
    for name in [
        "COMAIL_MAX_TRIES",
        "COMAIL_DNS_SERVER",
        "COMAIL_ALLOW_NET",
        "COMAIL_CA_CERT",
        "COMAIL_PROXY",
        "COMAIL_LEVEL",
        "COMAIL_NOW",
        "COMAIL_TEST",
        "SOURCE_DATE_EPOCH",
        "RUST_LOG",
    ] {
        command.env(name, "99");
    }
    for name in ["HOME", "XDG_CONFIG_HOME", "TMPDIR", "TMP"] {
        command.env(name, &own);
    }
    let lie = world.right("acme.co.kr").clone().email("ceo@acme.co.kr");
    let run = Run::of(command.args(lie.args(1)));
    assert!(run.exits(5).contains("2 of 3 tries left"));
    let left: Vec<_> = std::fs::read_dir(&own).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_scan_froze_no_flag_of_the_agent_changes() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let right = world.right("acme.co.kr");
    for flag in [
        "--dns-server=127.0.0.1:1",
        "--allow-net=0.0.0.0/0",
        "--ca-cert=ca.pem",
        "--proxy=http://127.0.0.1:1/",
        "--robots=ignore",
        "--user-agent=x",
        "--rate=1000",
        "--timeout=1",
        "--level=domain-mismatch=review",
        "--max-tries=99",
        "--pause-after=0",
        "--role-only",
        "--force",
        "--verdict=PASS",
        "--yes",
        "--skip",
    ] {
        for command in ["next", "resume", "status"] {
            world.place.run([command, flag]).exits(2);
        }
        let mut args = right.args(1);
        args.push(flag.to_owned());
        world.place.run(args).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
    assert_eq!(world.net.web.connections(), 0);
}

#[test]
fn a_session_is_not_scanned_anew_with_kinder_settings() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let again = [
        "scan",
        "companies.txt",
        "--level=email-not-on-source=review",
    ];
    let run = world.place.run(again);
    run.says("never replaced");
    run.exits(1);
    let kinder = ["scan", "companies.txt", "--update", "--max-tries=99"];
    world.place.run(kinder).exits(2);
    // A rule can be made milder by the operator, and never be switched off.
    for level in ["email-not-on-source=off", "email-not-on-source=pass"] {
        let args = ["scan", "companies.txt", "--session=other", "--level", level];
        world.place.run(args).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn an_update_takes_nothing_back() {
    let world = EmailNet::start();
    let wrong = world.right("acme.co.kr").clone().email("ceo@acme.co.kr");
    assert_eq!(world.submit(1, &wrong).0, 5);
    let list = format!("{ACME}\nＡｃｍｅ　Foods\nBolt Toys\n");
    let list = world.place.write("mine.txt", list);
    let args = ["scan", list.to_str().unwrap(), "--update", "--json"];
    let scanned = world.place.run(args).ok();
    assert!(scanned.contains("\"added\":1"), "{scanned}");
    let (_, next) = world.place.json(["next"]);
    assert_eq!(
        (&next["quest"]["id"], &next["try"]),
        (&1.into(), &2.into()),
        "{next}"
    );
}

#[test]
fn a_session_of_ones_own_says_nothing_about_the_operators() {
    let world = EmailNet::start();
    let before = world.place.ledger();
    let own = format!("--session={}", world.place.at("own").display());
    let mut flags = world.flags();
    flags.push(own.clone());
    world.place.scan(&[ACME], &flags);
    let mut args = world.right("acme.co.kr").args(1);
    args.push(own);
    world.place.run(args).ok();
    assert_eq!(world.place.ledger(), before);
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["tally"]["pass"], 0, "{status}");
}

#[test]
fn a_dead_proxy_in_the_environment_does_not_silence_the_world() {
    let world = EmailNet::start();
    let nowhere = format!("http://{}", closed_port());
    let mut command = world.place.command();
    for name in PROXIES {
        command.env(name, &nowhere);
    }
    Run::of(command.args(world.right("acme.co.kr").args(1))).ok();
}
