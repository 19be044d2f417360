//! README.md is true: every command in it is run, and what it prints is what it shows.

use std::fs;

use crate::harness::{Place, Run, email_net::page};
use crate::servers::TestNet;
use crate::servers::proxy::Proxy;

const README: &str = include_str!("../README.md");
const CI: &str = include_str!("../.ci/run");

/// How the README says `comail` before it is built.
const BUILD_AND_RUN: &str = "cargo run --release -- ";

/// A list of companies that [`net`] knows.
pub const LIST: &str = "\
Company,Website
\"Hanbit Foods Co., Ltd.\",www.hanbit-foods.co.kr
Northwind Tools GmbH,www.northwind-tools.de
Bluefin Freight Inc.,
";

/// A list of letters.
pub const LETTERS: &str = r#"{"letter":"kim-17","text":"Dear Ms Kim,\nthank you for your order. In all, that makes 420 EUR."}
{"letter":"lee-18","text":"Dear Mr Lee,\nplease pay 96 EUR by Friday."}
"#;

/// An answer for quest 2 of the list of companies.
pub const ANSWER: &str = r#"{"site": "https://www.northwind-tools.de",
 "email": "kontakt@northwind-tools.de",
 "source": "https://www.northwind-tools.de/impressum"}
"#;

const AGENT: &str = r#"prompt=$(cat); quote=$(echo "$prompt" | grep -m 1 EUR | sed 's/^ *//')
case $prompt in *quote-in-letter*) ;; *) quote=$(echo "$quote" | tr -d ,) ;; esac
total=$(echo "$quote" | grep -o '[0-9]*' | head -n 1)
echo "All done! {\"total\": \"$total\", \"quote\": \"$quote\"}"
"#;

const ANSWERS: &str = "\
1|https://www.hanbit-foods.co.kr|info@hanbit-foods.co.kr|https://www.hanbit-foods.co.kr/contact
2|https://www.northwind-tools.de|info@northwind-tools.de|https://www.northwind-tools.de/impressum
2|https://www.northwind-tools.de|kontakt@northwind-tools.de|https://www.northwind-tools.de/impressum
3|https://bluefin-freight.com|bluefin.freight@gmail.com|https://bluefin-freight.com/
";

#[test]
fn every_command_prints_what_the_readme_shows() {
    let net = net();
    let proxy = Proxy::start(net.tls.address());
    let place = Place::new();
    place.write("companies.csv", LIST);
    place.write("answers.txt", ANSWERS);
    place.write("letters.jsonl", LETTERS);
    place.write("agent.sh", AGENT);
    let network = flags(&net, &proxy, &place);
    let commands: Vec<Command> = commands(README);
    assert!(commands.len() >= 9, "{commands:#?}");
    for command in commands {
        let script = match command.script.strip_prefix(BUILD_AND_RUN) {
            Some(args) => format!("comail {args}"),
            None if command.script.starts_with("cargo ") => {
                assert!(
                    ci_runs(&command.script),
                    "{} is not run by .ci/run",
                    command.script
                );
                continue;
            }
            None => command.script.clone(),
        };
        let run = Run::of(place.shell(&script).env("NETWORK", &network));
        assert_eq!(
            (run.code, run.stderr.as_str()),
            (0, ""),
            "{script}: {run:?}"
        );
        assert!(
            matches(&command.shown, &run.stdout),
            "`{script}` printed\n{}\nand the README shows\n{}",
            run.stdout,
            command.shown
        );
    }
}

#[test]
fn names_every_command() {
    let help = Place::new().run(["--help"]).ok();
    let list = help.lines().skip_while(|line| !line.starts_with("Usage:"));
    let list = list.take_while(|line| *line != "Options:");
    let commands: Vec<&str> = list
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 8, "{commands:?}");
    for name in commands {
        let named = [
            format!("comail {name}"),
            format!("-- {name}"),
            format!("`{name}`"),
        ];
        assert!(named.iter().any(|text| README.contains(text)), "{name}");
    }
}

/// Whether CI runs this very command; what it does with its output does not matter.
fn ci_runs(script: &str) -> bool {
    CI.lines()
        .filter_map(|line| line.strip_prefix(script))
        .any(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The companies of the README, on loopback.
pub fn net() -> TestNet {
    let net = TestNet::start();
    let show = |host: &str, path: &str, name: &str, text: &str| {
        net.tls.page(host, path, &page(name, text));
    };
    let hanbit = "www.hanbit-foods.co.kr";
    show(hanbit, "/", "Hanbit Foods", "Noodles and sauces");
    show(
        hanbit,
        "/contact",
        "Hanbit Foods",
        "Write to info@hanbit-foods.co.kr",
    );
    let northwind = "www.northwind-tools.de";
    show(northwind, "/", "Northwind Tools", "Spanners");
    show(
        northwind,
        "/impressum",
        "Northwind Tools",
        "E-Mail: kontakt@northwind-tools.de",
    );
    show(
        "bluefin-freight.com",
        "/",
        "Bluefin Freight",
        "Quotes: bluefin.freight@gmail.com",
    );
    for domain in ["hanbit-foods.co.kr", "northwind-tools.de", "gmail.com"] {
        let mx = format!("mail.{domain}");
        net.host(&mx);
        net.dns.mx(domain, 10, &mx);
    }
    net
}

/// The flags with which `scan` takes `net` for the network.
pub fn flags(net: &TestNet, proxy: &Proxy, place: &Place) -> String {
    fs::write(place.at("ca.pem"), net.authority.pem()).expect("a file in a temporary directory");
    format!(
        "--dns-server {} --proxy {} --ca-cert ca.pem --allow-net 127.0.0.1/32 --rate 1000",
        net.dns.address(),
        proxy.url()
    )
}

/// A command line and what is shown below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// What stands behind `$ `, and behind `> ` in the lines that go on.
    pub script: String,
    /// The lines below it.
    pub shown: String,
}

/// Every command of every `console` block, in order.
pub fn commands(markdown: &str) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(script) = line.strip_prefix("$ ") {
            found.push(Command {
                script: script.to_owned(),
                shown: String::new(),
            });
            continue;
        }
        let command = found.last_mut().expect("a block begins with a command");
        match line.strip_prefix("> ") {
            Some(more) if command.shown.is_empty() => {
                command.script.push('\n');
                command.script.push_str(more);
            }
            _ => {
                command.shown.push_str(line);
                command.shown.push('\n');
            }
        }
    }
    found
}

#[test]
fn reads_commands_and_what_they_show() {
    let text =
        "```console\n$ a \\\n>   b\nout\n> quoted\n$ c\n```\n$ not this\n```sh\n$ nor\n```\n";
    let command = |script: &str, shown: &str| Command {
        script: script.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(
        commands(text),
        [command("a \\\n  b", "out\n> quoted\n"), command("c", "")]
    );
}

/// Whether `text` is what `shown` shows: `[..]` stands for any characters of a line, a line `[...]`
/// for any lines.
pub fn matches(shown: &str, text: &str) -> bool {
    let shown: Vec<&str> = shown.lines().collect();
    let text: Vec<&str> = text.lines().collect();
    lines_match(&shown, &text)
}

fn lines_match(shown: &[&str], text: &[&str]) -> bool {
    match shown.split_first() {
        None => text.is_empty(),
        Some((&"[...]", rest)) => (0..=text.len()).any(|skip| lines_match(rest, &text[skip..])),
        Some((line, rest)) => text
            .split_first()
            .is_some_and(|(first, text)| line_matches(line, first) && lines_match(rest, text)),
    }
}

fn line_matches(shown: &str, text: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn gaps_match_what_they_stand_for_and_nothing_else() {
    assert!(matches("a\n[...]\nd", "a\nb\nc\nd\n"));
    assert!(matches("a\n[...]\nd", "a\nd\n"));
    assert!(!matches("a\n[...]\nd", "a\nb\n"));
    assert!(matches("in [..]/x of [..]", "in /tmp/ü/x of 3"));
    assert!(!matches("in [..]/x", "in /tmp/y"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
}
