//! What `scan` freezes of the gate and the network: nothing changes it later, neither flags nor the
//! environment that an agent controls.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::harness::{EmailNet, Run};
use crate::servers::closed_port;
use crate::servers::dns::DnsServer;
use crate::servers::http::{Reply, WebServer};
use crate::servers::tls::Authority;

pub const CASES: [&[Case]; 1] = [LEVELS];

const SPELLED: &str = "info [at] acme [dot] co [dot] kr";

const LEVELS: &[Case] = cases![
    "REVIEW by default" => "REVIEW email-obfuscated", |net| net.contact(SPELLED);
    "made a FAIL" => "FAIL email-obfuscated",
        |net| net.contact(SPELLED), with(&["--set=gate.level=email-obfuscated=fail"]);
    "FAIL by default" => "FAIL email-not-on-source", |net| net.acme().email("x@acme.co.kr");
    "made a REVIEW" => "REVIEW email-not-on-source",
        |net| net.acme().email("x@acme.co.kr"), with(&["--set=gate.level=email-not-on-source=review"]);
    "of two, the other still fails" => "FAIL domain-mismatch no-reply",
        |net| net.acme().email("no-reply@bolt.kr"), with(&["--set=gate.level=domain-mismatch=review","--set=gate.level=no-reply=fail",]);
    "a local FAIL made a REVIEW lets the page be read" => "FAIL domain-mismatch email-not-on-source",
        |net| net.acme().email("sales@bolt.kr"), with(&["--set=gate.level=domain-mismatch=review"]);
];

#[test]
fn levels_are_the_operators() {
    run(LEVELS);
}

#[test]
fn no_level_switches_a_rule_off() {
    let net = EmailNet::unscanned();
    net.place.write("companies.txt", ACME);
    for level in "mx-null=off mx-null=pass mx-null mx-nul=fail no-result=review".split_whitespace()
    {
        let scan = [
            "scan",
            "companies.txt",
            &format!("--set=gate.level={level}"),
        ];
        assert_eq!(net.place.run(scan).code, 2, "{level}");
        assert!(!net.place.at(".comail").exists());
    }
}

#[test]
fn the_levels_in_force_are_printed() {
    let net = EmailNet::with(&[ACME], &["--set=gate.level=mx-null=review"]);
    let (_, rules) = net.place.json(["rules"]);
    let rules = rules["rules"].as_array().expect("rules");
    let level = |id: &str| {
        let rule = rules.iter().find(|rule| rule["id"] == id);
        rule.map(|rule| rule["level"].clone()).expect(id)
    };
    assert_eq!(level("mx-null"), "REVIEW");
    assert_eq!(level("mx-missing"), "FAIL");
}

#[test]
fn robots_txt_is_not_asked_for_where_the_operator_says_so() {
    let net = EmailNet::with(&[ACME], &["--set=network.robots=ignore"]);
    assert_eq!(net.says(&net.acme()), "PASS");
    assert_eq!(net.net.web.count(WWW, "/robots.txt"), 0);
    assert_eq!(net.net.web.count(WWW, "/contact"), 1);
}

#[test]
fn the_frozen_user_agent_is_sent_and_robots_txt_still_knows_the_program() {
    let agent = "AcmeCheck/1.0 comail/0.1 (+mailto:ops@check.kr)";
    let net = EmailNet::with(&[ACME], &[&format!("--set=network.user-agent={agent}")]);
    let rules = Reply::html("User-agent: comail\nDisallow: /contact\n");
    net.net.web.reply(WWW, "/robots.txt", rules);
    assert_eq!(net.says(&net.acme()), "REVIEW source-robots");
    let seen = net.net.web.seen();
    assert!(!seen.is_empty());
    for seen in seen {
        assert_eq!(seen.header("user-agent"), Some(agent), "{seen:?}");
    }
}

#[test]
fn the_program_names_itself_and_nothing_of_its_user() {
    let net = EmailNet::start();
    assert_eq!(net.says(&net.acme()), "PASS");
    for seen in net.net.web.seen() {
        let agent = seen.header("user-agent").unwrap_or_default();
        assert!(
            agent.starts_with("comail/") && agent.contains("contact"),
            "{agent}"
        );
        for name in ["cookie", "referer", "authorization"] {
            assert_eq!(seen.header(name), None, "{name}");
        }
    }
}

#[test]
fn requests_to_one_host_are_a_gap_apart_across_submissions() {
    // Half a second; the server may note a request late, but no later than the next.
    let net = EmailNet::with(&[ACME], &["--set=network.rate=2"]);
    net.net.web.reply(WWW, "/contact", Reply::status(404));
    assert_eq!(net.says(&net.acme()), "FAIL source-missing");
    let again = net.acme().source(&net.url("/gone"));
    assert_eq!(net.says(&again), "FAIL source-missing");
    let seen = net.net.web.seen();
    let paths: Vec<_> = seen.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!(paths, ["/robots.txt", "/contact", "/robots.txt", "/gone"]);
    for pair in seen.windows(2) {
        assert!(
            pair[1].at - pair[0].at >= Duration::from_millis(350),
            "{pair:?}"
        );
    }
}

#[test]
fn a_frozen_proxy_fetches_every_page() {
    let proxy = WebServer::start();
    for path in ["/", "/contact"] {
        proxy.page("far.kr", path, &page(ACME, "info@far.kr"));
    }
    let url = proxy.url("127.0.0.1", "/");
    let net = EmailNet::with(&[ACME], &[&format!("--set=network.proxy={url}")]);
    net.net.dns.mx("far.kr", 10, "mail.acme.co.kr");
    let submission = net
        .acme()
        .site("http://far.kr/")
        .email("info@far.kr")
        .source("http://far.kr/contact");
    assert_eq!(net.says(&submission), "PASS");
    let lines: Vec<_> = proxy.seen().into_iter().map(|seen| seen.line).collect();
    let expected = ["robots.txt", "contact", ""].map(|path| format!("http://far.kr/{path}"));
    let expected = expected.map(|url| format!("GET {url} HTTP/1.1"));
    assert_eq!(lines, expected);
    let asked: Vec<_> = net
        .net
        .dns
        .questions()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert!(!asked.contains(&"www.far.kr".to_owned()), "{asked:?}");
    assert_eq!(net.net.web.connections(), 0);
}

/// A page that would make the submission right.
fn false_page() -> String {
    page(ACME, "Write to made.up@acme.co.kr")
}

/// The program under an environment that the agent has set, run in the agent's directory.
fn under(net: &EmailNet, variables: &[(&str, &str)]) -> Command {
    let mut command = net.place.command();
    command.envs(variables.iter().copied());
    command
}

/// Submits for quest 1 under these variables; verdict and rules as one text.
fn says(net: &EmailNet, submission: &Submission, variables: &[(&str, &str)]) -> String {
    let run = Run::of(under(net, variables).args(submission.args(1)).arg("--json"));
    let answer: serde_json::Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("no JSON document ({error}): {run:?}"));
    let rules = crate::harness::email_net::rules(&answer).join(" ");
    format!("{} {rules}", answer["verdict"].as_str().expect("a verdict"))
}

/// Every variable that names a proxy, with this value.
fn proxies(url: &str) -> Vec<(&'static str, &str)> {
    let names = "HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy FTP_PROXY \
        SOCKS_PROXY CGI_HTTP_PROXY PROXY COMAIL_PROXY";
    names.split_whitespace().map(|name| (name, url)).collect()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

#[test]
fn no_variable_puts_a_proxy_between() {
    let liar = WebServer::start();
    liar.page(WWW, "/", &false_page());
    liar.page(WWW, "/contact", &false_page());
    let url = liar.url("127.0.0.1", "/");
    let made_up = |net: &EmailNet| net.acme().email("made.up@acme.co.kr");

    let net = EmailNet::start();
    let said = says(&net, &made_up(&net), &proxies(&url));
    assert_eq!(said, "FAIL email-not-on-source");
    assert_eq!(liar.connections(), 0);
    Run::of(under(&net, &proxies(&url)).arg("next")).ok();
    assert_eq!(liar.connections(), 0);

    // It would have lied well enough.
    let deceived = EmailNet::with(&[ACME], &[&format!("--set=network.proxy={url}")]);
    assert_eq!(deceived.says(&made_up(&deceived)), "PASS");
}

#[test]
fn no_variable_makes_a_certificate_authority() {
    let authority = Authority::new();
    let liar = WebServer::start_tls(authority.server_config());
    liar.page(WWW, "/contact", &false_page());
    let made_up = |net: &EmailNet| {
        let source = liar.url(WWW, "/contact");
        net.put("/", &page(ACME, &format!("<a href='{source}'>Contact</a>")));
        net.acme().email("made.up@acme.co.kr").source(&source)
    };

    let net = EmailNet::start();
    let file = net.place.write("agents.pem", authority.pem());
    let dir = net.place.at("certs");
    fs::create_dir(&dir).expect("a directory");
    fs::write(dir.join("agents.pem"), authority.pem()).expect("a file");
    let mut variables = Vec::new();
    for name in
        "SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS RUSTLS_EXTRA_CERTS
            AWS_CA_BUNDLE COMAIL_CA_CERT"
            .split_whitespace()
    {
        variables.push((name, text(&file)));
    }
    for name in ["SSL_CERT_DIR", "CAPATH"] {
        variables.push((name, text(&dir)));
    }
    let said = says(&net, &made_up(&net), &variables);
    assert_eq!(said, "REVIEW source-unanswered");
    assert!(liar.seen().is_empty());

    // It would have been believed.
    let deceived = EmailNet::with(
        &[ACME],
        &[&format!("--set=network.ca-cert={}", text(&file))],
    );
    assert_eq!(deceived.says(&made_up(&deceived)), "PASS");
}

#[test]
fn no_variable_changes_how_names_are_resolved() {
    let net = EmailNet::start();
    // Names that exist only when the agent's suffix is appended, or its alias taken.
    net.company("gone.acme.co.kr.liar.kr", ACME);
    net.company("liar.kr", ACME);
    for host in ["gone.acme.co.kr.liar.kr", "gone.acme.co.kr"] {
        net.net
            .web
            .page(host, "/contact", &page(ACME, "Write to info@acme.co.kr"));
    }
    let aliases = net
        .place
        .write("aliases", "gone.acme.co.kr liar.kr\ngone liar.kr\n");
    let hosts = net.place.write("hosts", "127.0.0.1 gone.acme.co.kr\n");
    let resolv = net
        .place
        .write("resolv.conf", "search liar.kr\noptions ndots:15\n");
    let own = DnsServer::start();
    let nameserver = own.address().to_string();
    let variables = [
        ("NAMESERVER", nameserver.as_str()),
        ("LOCALDOMAIN", "liar.kr"),
        ("RES_OPTIONS", "ndots:15 attempts:5 use-vc"),
        ("HOSTALIASES", text(&aliases)),
        ("RESOLV_HOST_CONF", text(&hosts)),
        ("RESOLV_CONF", text(&resolv)),
        ("HOSTS_FILE", text(&hosts)),
    ];
    let submission = net
        .acme()
        .source(&net.net.web.url("gone.acme.co.kr", "/contact"));
    assert_eq!(says(&net, &submission, &variables), "FAIL source-missing");
    assert_eq!(own.questions(), []);
    let asked = net.net.dns.questions();
    assert!(
        asked.iter().any(|(name, _)| name == "gone.acme.co.kr"),
        "{asked:?}"
    );
    assert!(
        !asked.iter().any(|(name, _)| name.ends_with("liar.kr")),
        "{asked:?}"
    );
    assert_eq!(net.net.web.connections(), 0);
}

#[test]
fn files_and_variables_of_the_agent_change_nothing() {
    let liar = WebServer::start();
    liar.page(WWW, "/contact", &false_page());
    let url = liar.url("127.0.0.1", "/");
    let net = EmailNet::start();
    let settings = format!(
        "proxy = \"{url}\"\nhttp_proxy = \"{url}\"\n[network]\nproxy = \"{url}\"\n\
         [gate.levels]\nemail-not-on-source = \"REVIEW\"\n"
    );
    for name in "comail.toml .comailrc .curlrc .netrc .env resolv.conf hosts".split_whitespace() {
        net.place.write(name, &settings);
    }
    let home = text(net.place.path());
    let mut variables: Vec<_> = ["HOME", "XDG_CONFIG_HOME", "COMAIL_CONFIG", "TMPDIR", "TMP"]
        .map(|name| (name, home))
        .to_vec();
    for name in "COMAIL_MAX_TRIES COMAIL_DNS_SERVER COMAIL_ALLOW_NET COMAIL_CA_CERT COMAIL_PROXY
            COMAIL_LEVEL COMAIL_NOW COMAIL_TEST SOURCE_DATE_EPOCH RUST_LOG"
        .split_whitespace()
    {
        variables.push((name, "99"));
    }
    let lies = fs::read_dir(home).expect("a directory").count();
    let made_up = net.acme().email("made.up@acme.co.kr");
    let run = Run::of(under(&net, &variables).args(made_up.args(1)));
    let said = run.exits(5);
    assert!(said.contains("email-not-on-source") && said.contains("2 of 3 tries left"));
    assert_eq!(fs::read_dir(home).expect("a directory").count(), lies);
    assert_eq!(liar.connections(), 0);
}

#[test]
fn what_scan_froze_no_flag_of_the_agent_changes() {
    let net = EmailNet::start();
    let before = net.place.ledger();
    let right = net.acme();
    for flag in "--set=network.robots=ignore --set=gate.level=domain-mismatch=review --set=lease=1h
            --dns-server=127.0.0.1:1 --allow-net=0.0.0.0/0 --proxy=http://127.0.0.1:1/ --rate=1000
            --level=domain-mismatch=review --max-tries=99 --pause-after=0 --role-only --force
            --verdict=PASS --yes --skip"
        .split_whitespace()
    {
        for command in ["next", "resume", "status"] {
            net.place.run([command, flag]).exits(2);
        }
        let mut args = right.args(1);
        args.push(flag.to_owned());
        net.place.run(args).exits(2);
    }
    assert_eq!(net.place.ledger(), before);
    assert_eq!(net.net.web.connections(), 0);
}

#[test]
fn a_session_is_not_scanned_anew_with_kinder_settings() {
    let net = EmailNet::start();
    let before = net.place.ledger();
    let again = [
        "scan",
        "companies.txt",
        "--set=gate.level=email-not-on-source=review",
    ];
    let run = net.place.run(again);
    run.says("never replaces");
    run.exits(1);
    let kinder = ["scan", "companies.txt", "--update", "--max-tries=99"];
    net.place.run(kinder).exits(2);
    // A rule can be made milder by the operator, and never be switched off.
    for level in ["email-not-on-source=off", "email-not-on-source=pass"] {
        let level = format!("--set=gate.level={level}");
        let args = ["scan", "companies.txt", "--session=other", &level];
        net.place.run(args).exits(2);
    }
    assert_eq!(net.place.ledger(), before);
}

#[test]
fn an_update_takes_nothing_back() {
    let net = EmailNet::start();
    let wrong = net.acme().email("ceo@acme.co.kr");
    assert_eq!(net.submit(1, &wrong).0, 5);
    let list = format!("{ACME}\nＡｃｍｅ　Foods\nBolt Toys\n");
    let list = net.place.write("mine.txt", list);
    let args = ["scan", list.to_str().unwrap(), "--update", "--json"];
    let scanned = net.place.run(args).ok();
    assert!(scanned.contains("\"added\":1"), "{scanned}");
    let (_, answer) = net.place.json(["next"]);
    assert_eq!(
        (&answer["quest"]["id"], &answer["try"]),
        (&1.into(), &2.into()),
        "{answer}"
    );
}

#[test]
fn a_session_of_ones_own_says_nothing_about_the_operators() {
    let net = EmailNet::start();
    let before = net.place.ledger();
    let own = format!("--session={}", net.place.at("own").display());
    let mut flags = net.flags();
    flags.push(own.clone());
    net.place.scan(&[ACME], &flags);
    let mut args = net.acme().args(1);
    args.push(own);
    net.place.run(args).ok();
    assert_eq!(net.place.ledger(), before);
    let (_, status) = net.place.json(["status"]);
    assert_eq!(status["tally"]["pass"], 0, "{status}");
}

#[test]
fn a_dead_proxy_in_the_environment_does_not_silence_the_net() {
    let net = EmailNet::start();
    let nowhere = format!("http://{}", closed_port());
    assert_eq!(says(&net, &net.acme(), &proxies(&nowhere)), "PASS ");
}
