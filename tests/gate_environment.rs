//! An agent that controls the environment: what it sets changes nothing.

use std::path::Path;
use std::process::Command;

use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::harness::{EmailNet, Run};
use crate::servers::http::WebServer;
use crate::servers::tls::Authority;

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
    let names = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
        "PROXY",
        "COMAIL_PROXY",
    ];
    names.iter().map(|name| (*name, url)).collect()
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
    let deceived = EmailNet::with(&[ACME], &["--proxy", &url]);
    assert_eq!(deceived.says(&made_up(&deceived)), "PASS");
}

#[test]
fn no_variable_makes_a_certificate_authority() {
    let authority = Authority::new();
    let liar = WebServer::start_tls(authority.server_config());
    liar.page(WWW, "/contact", &false_page());
    let made_up = |net: &EmailNet| {
        let source = liar.url(WWW, "/contact");
        net.acme().email("made.up@acme.co.kr").source(&source)
    };

    let net = EmailNet::start();
    let file = net.place.write("agents.pem", authority.pem());
    let dir = net.place.at("certs");
    std::fs::create_dir(&dir).expect("a directory");
    std::fs::write(dir.join("agents.pem"), authority.pem()).expect("a file");
    let mut variables = Vec::new();
    for name in [
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "COMAIL_CA_CERT",
    ] {
        variables.push((name, text(&file)));
    }
    for name in ["SSL_CERT_DIR", "CAPATH"] {
        variables.push((name, text(&dir)));
    }
    let said = says(&net, &made_up(&net), &variables);
    assert_eq!(said, "REVIEW source-unanswered");
    assert!(liar.seen().is_empty());

    // It would have been believed.
    let deceived = EmailNet::with(&[ACME], &["--ca-cert", text(&file)]);
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
    let variables = [
        ("LOCALDOMAIN", "liar.kr"),
        ("RES_OPTIONS", "ndots:15 attempts:5"),
        ("HOSTALIASES", text(&aliases)),
        ("RESOLV_HOST_CONF", text(&hosts)),
        ("RESOLV_CONF", text(&resolv)),
        ("HOSTS_FILE", text(&hosts)),
    ];
    let submission = net
        .acme()
        .source(&net.net.web.url("gone.acme.co.kr", "/contact"));
    assert_eq!(says(&net, &submission, &variables), "FAIL source-missing");
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
fn files_where_the_agent_works_change_nothing() {
    let liar = WebServer::start();
    liar.page(WWW, "/contact", &false_page());
    let url = liar.url("127.0.0.1", "/");
    let net = EmailNet::start();
    let settings = format!(
        "proxy = \"{url}\"\nhttp_proxy = \"{url}\"\n[network]\nproxy = \"{url}\"\n\
         [gate.levels]\nemail-not-on-source = \"REVIEW\"\n"
    );
    for name in [
        "comail.toml",
        ".comailrc",
        ".curlrc",
        ".netrc",
        ".env",
        "resolv.conf",
        "hosts",
    ] {
        net.place.write(name, &settings);
    }
    let home = text(net.place.path());
    let variables = [
        ("HOME", home),
        ("XDG_CONFIG_HOME", home),
        ("COMAIL_CONFIG", home),
    ];
    let made_up = net.acme().email("made.up@acme.co.kr");
    assert_eq!(says(&net, &made_up, &variables), "FAIL email-not-on-source");
    assert_eq!(liar.connections(), 0);
}

#[test]
fn an_edited_setting_is_noticed_before_it_is_used() {
    let net = EmailNet::start();
    net.spoils();
    let path = net.place.at(".comail/session.json");
    let frozen = std::fs::read_to_string(&path).expect("session.json");
    let edited = frozen.replace(
        "\"levels\": {}",
        "\"levels\": {\"email-not-on-source\": \"REVIEW\"}",
    );
    assert_ne!(edited, frozen);
    std::fs::write(&path, edited).expect("session.json");
    let before = net.place.ledger();
    let run = net
        .place
        .run(net.acme().email("made.up@acme.co.kr").args(1));
    assert_eq!(run.code, 1, "{run:?}");
    run.says("session.json");
    assert_eq!(net.place.ledger(), before);
    assert_eq!(net.net.web.connections(), 0);
}
