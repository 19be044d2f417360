//! JSON for programs: errors, the remedy of each fact, calls that are repeated, and what the
//! validators of other languages say.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use comail::cli::schema::{DOCUMENTS, Way};
use comail::quest::email;
use serde_json::{Value, json};

use crate::harness::email_net::{ACME, Submission};
use crate::harness::schemas::document;
use crate::harness::tools::made;
use crate::harness::{EmailNet, Place, Run};
use crate::servers::http::Reply;

/// Runs a command that must end with an error, and returns its exit code and the kind.
#[track_caller]
fn fails(place: &Place, args: &[&str]) -> (i32, String) {
    let run = place.run([args, &["--json"]].concat());
    let reply: Value = serde_json::from_str(&run.stdout).expect("one document");
    let error = &reply["error"];
    let message = error["message"].as_str().expect("a message");
    // People see the same on stderr, where a long message of clap has several lines.
    let first = message.split(" [").next().unwrap_or_default();
    run.says(&format!("error: {first}"));
    let kind = error["kind"].as_str().expect("a word");
    (run.code, kind.to_owned())
}

#[test]
fn an_error_is_a_document_with_a_kind_and_the_same_exit_code() {
    let place = Place::new();
    place.scan(&[ACME], &[]);
    place.run(["export", "--out=out.csv"]).ok();
    place.write("bad.json", "{");
    for (args, code, kind) in [
        (&["next", "--session=none"][..], 1, "no-session"),
        (&["scan", "companies.txt"], 1, "exists"),
        (&["export", "--out=out.csv"], 1, "exists"),
        (&["demo", "--out", "."], 1, "exists"),
        (&["submit", "--id=1", "--in=none.json"], 1, "not-found"),
        (&["scan", "--update", "none.csv"], 1, "not-found"),
        (&["scan", "--update", "."], 1, "not-found"),
        (&["run", "--json", "--", "no-such-agent"], 1, "not-found"),
        (
            &["scan", "--world=none", "--session=new", "companies.txt"],
            1,
            "not-found",
        ),
        (
            &["scan", "--session=none/new", "companies.txt"],
            1,
            "not-found",
        ),
        (
            &["scan", "--session=bad.json", "companies.txt"],
            1,
            "no-session",
        ),
        (&["status", "--session=bad.json"], 1, "no-session"),
        (&["export", "--out=none/out.csv"], 1, "not-found"),
        (
            &["export", "--out=companies.txt", "--format=csv"],
            1,
            "exists",
        ),
        (
            &["scan", "--update", "companies.txt", "--col=nope"],
            2,
            "usage",
        ),
        (&["submit", "--id=1", "--in=bad.json"], 2, "usage"),
        (&["submit", "--id=9", "--none=x"], 2, "usage"),
        (&["rules", "nope"], 2, "usage"),
        (&["next", "--leese=2h"], 2, "usage"),
        (&["frobnicate"], 2, "usage"),
        (&[], 2, "usage"),
    ] {
        assert_eq!(fails(&place, args), (code, kind.to_owned()), "{args:?}");
    }
    let hint = |args: &[&str]| place.json(args).1["error"]["hint"].clone();
    assert_eq!(hint(&["rules", "no-replay"]), "did you mean `no-reply`?");
    let tip = "a similar argument exists: '--lease'";
    assert_eq!(hint(&["next", "--leese=2h"]), tip);
    let hint_says = |args: &[&str], words: &str| {
        let hint = hint(args);
        assert!(hint.as_str().is_some_and(|it| it.contains(words)), "{hint}");
    };
    hint_says(&["submit", "--id=1", "--in=none.json"], "check the path");
    hint_says(&["submit", "--id=1", "--in=."], "this is a directory");
    hint_says(
        &["run", "--json", "--", "no-such-agent"],
        "install the agent",
    );
    hint_says(
        &["scan", "--world=none", "--session=new", "companies.txt"],
        "demo --world",
    );
    // What follows `--` belongs to the agent.
    let agents = ["run", "--nonesuch", "--", "agent", "--json"];
    assert_eq!(place.run(agents).exits(2), "");
    let ledger = place.at(".comail/ledger.jsonl");
    let whole = fs::read_to_string(&ledger).expect("a ledger");
    fs::write(&ledger, whole.replacen("quest", "guest", 1)).expect("written");
    assert_eq!(fails(&place, &["audit", "--head"]).1, "usage");
    assert_eq!(fails(&place, &["export", "--out=new.csv"]).1, "damaged");
}

/// The remedy of each fact, by rule, as `rules` prints them.
fn remedy_of(place: &Place, rule: &Value) -> Value {
    let (_, catalogue) = place.json(["rules"]);
    let rules = catalogue["rules"].as_array().expect("rules");
    let rule = rules.iter().find(|one| one["id"] == *rule);
    rule.expect("a rule of the session")["remedy"].clone()
}

#[track_caller]
fn assert_remedies(place: &Place, facts: &Value) {
    let facts = facts.as_array().expect("facts");
    assert!(!facts.is_empty());
    for fact in facts {
        assert_eq!(fact["remedy"], remedy_of(place, &fact["rule"]), "{fact:#}");
    }
}

#[test]
fn each_printed_fact_has_the_remedy_of_its_rule_and_no_recorded_one_has() {
    let net = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let silent = net.answers(Reply::Reset);
    let (_, reviewed) = net.submit(1, &silent);
    assert_remedies(&net.place, &reviewed["facts"]);
    let (_, rechecked) = net.place.json(["recheck"]);
    assert_remedies(&net.place, &rechecked["quests"][0]["facts"]);
    let (_, item) = net.place.json(["show", "1"]);
    assert_remedies(&net.place, &item["facts"]);
    net.company("bolt.co.kr", "Bolt Toys");
    let right = net.right("bolt.co.kr");
    let (_, failed) = net.submit(2, &right.clone().email("nobody@bolt.co.kr"));
    assert_remedies(&net.place, &failed["facts"]);
    let (_, handed) = net.place.json(["next"]);
    assert_remedies(&net.place, &handed["facts"]);
    net.expect(2, &right, "PASS", &[]);
    net.net
        .web
        .page("www.bolt.co.kr", "/contact", "<p>moved</p>");
    let (code, audited) = net.place.json(["audit", "--live"]);
    assert_eq!(code, 8, "{audited:#}");
    assert_remedies(&net.place, &audited["findings"][0]["facts"]);
    let (_, proof) = net.place.json(["quest", "prove"]);
    for control in proof["controls"].as_array().expect("controls") {
        for fact in control["judgement"]["facts"].as_array().expect("facts") {
            assert_ne!(fact["remedy"], json!(null), "{control:#}");
        }
    }
    for attempt in net.place.events("attempt") {
        for fact in attempt["judgement"]["facts"].as_array().expect("facts") {
            assert_eq!(fact.get("remedy"), None, "{attempt:#}");
        }
    }
}

/// Submits for quest `id` with this key.
fn keyed(net: &EmailNet, id: u32, submission: &Submission, key: &str) -> (i32, Value) {
    let key = format!("--idempotency-key={key}");
    let args = submission.args(id).into_iter().chain([key]);
    net.place.json(args)
}

#[test]
fn the_same_call_again_returns_what_was_recorded_and_uses_no_try() {
    let net = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    let wrong = net.acme().email("nobody@acme.co.kr");
    let failed = keyed(&net, 1, &wrong, "first");
    assert_eq!((failed.0, &failed.1["tries"]), (5, &json!(1)));
    let (ledger, connections) = (net.place.ledger(), net.net.web.connections());
    assert_eq!(keyed(&net, 1, &wrong, "first"), failed);
    assert_eq!(net.net.web.connections(), connections, "nothing is judged");
    // A key serves for one answer to one quest by one worker.
    let refuses = |(code, reply): (i32, Value)| {
        assert_eq!((code, &reply["error"]["kind"]), (2, &json!("usage")));
    };
    refuses(keyed(&net, 1, &net.acme(), "first"));
    refuses(keyed(&net, 2, &wrong, "first"));
    let by_kim = ["--worker=kim", "--idempotency-key=first"].map(str::to_owned);
    refuses(net.place.json(wrong.args(1).into_iter().chain(by_kim)));
    for bad in ["", "a b", "é", &"x".repeat(256)] {
        refuses(keyed(&net, 1, &wrong, bad));
    }
    assert!(net.place.ledger() == ledger);
    // Without its key, the same answer is a repeat, which uses a try.
    let (code, repeated) = keyed(&net, 1, &wrong, "second");
    assert_eq!((code, &repeated["tries"]), (5, &json!(2)));
    assert_eq!(repeated["facts"][0]["rule"], "repeated-submission");

    let passed = keyed(&net, 1, &net.acme(), &"x".repeat(255));
    assert_eq!((passed.0, &passed.1["verdict"]), (0, &json!("PASS")));
    let ledger = net.place.ledger();
    assert_eq!(keyed(&net, 1, &net.acme(), &"x".repeat(255)), passed);
    assert_eq!(net.submit(1, &net.acme()).1["status"], "locked");
    // What was recorded first is returned, whatever happened since.
    let (code, mut again) = keyed(&net, 1, &wrong, "first");
    assert_eq!(again["tally"]["todo"], 1);
    again["tally"] = failed.1["tally"].clone();
    assert_eq!((code, again), failed);
    refuses(keyed(&net, 2, &net.acme(), "second"));
    assert!(net.place.ledger() == ledger);
    // The ledger has digests of the keys, so that no text of an agent is kept in them.
    let text = String::from_utf8(ledger).expect("UTF-8");
    assert!(!text.contains("\"first\"") && !text.contains("xxxx"));
    let keys = net.place.events("attempt").into_iter();
    let keys = keys.filter(|attempt| attempt["idempotency_key"].is_string());
    assert_eq!(keys.count(), 3);
}

#[test]
fn of_the_same_call_made_at_once_one_is_judged_and_all_get_its_judgement() {
    let net = EmailNet::with(&[ACME], &[]);
    let call = net.acme().email("nobody@acme.co.kr").args(1);
    let call = || {
        call.iter()
            .map(String::as_str)
            .chain(["--idempotency-key=k"])
    };
    let children: Vec<_> = (0..4).map(|_| net.place.start(call())).collect();
    let replies = children
        .into_iter()
        .map(|child| Run::of_child(child).json());
    let replies: Vec<_> = replies.collect();
    assert_eq!(replies[0].0, 5, "{:#}", replies[0].1);
    assert!(
        replies.iter().all(|reply| *reply == replies[0]),
        "{replies:#?}"
    );
    assert_eq!(net.place.attempts(), [(1, 1)]);
}

/// Command lines in a folder with a list and an operator's key, each of which prints documents
/// with `--json`. Nothing asks the network: the session is judged by a recorded world.
const LINES: &str = "\
demo --out played
demo --world practice
scan practice/companies.csv --col Company --site-col Website --world practice --operator-key key
next --worker a
claims
release 1 --operator-key key
token new --worker a
token list
submit --id 1 --in right.json --idempotency-key first
submit --id 2 --in made-up.json
submit --id 3 --in open.json
submit --id 3 --none x
status
list
show 1
rules
log
insights
next
review
review --export review.xlsx
review accept 3 --note called --operator-key key
review reopen 3 --note mistake --operator-key key
review reject 3 --note wrong --operator-key key
review --sample 1 --yes --operator-key key
dispute 1 --note bounced --operator-key key
forget made.up@northwind-tools.de --note request --operator-key key
run --dry-run -- true
run --set max-attempts=1 -- true
resume --operator-key key
report
export --out out.csv
session copy .comail copied
audit
recheck
reopen 3 --note again --operator-key key
quest prove
config
config --example
prompt
help
help json
completions bash
man --out pages
schema
schema --out schemas
quest new letters
quest check letters.toml
quest attack letters.toml
hook stop
hook tool
hook install --agent claude --yes
doctor
frobnicate";

const RIGHT: &str = r#"{"site": "https://www.hanbit-foods.co.kr",
    "email": "info@hanbit-foods.co.kr", "source": "https://www.hanbit-foods.co.kr/contact"}"#;

const MADE_UP: &str = r#"{"site": "https://www.northwind-tools.de",
    "email": "made.up@northwind-tools.de", "source": "https://www.northwind-tools.de/impressum"}"#;

const OPEN: &str = r#"{"site": "https://bluefin-freight.com",
    "email": "bluefin.freight@gmail.com", "source": "https://bluefin-freight.com/"}"#;

/// Documents that need more than a line: a terminal's Ctrl-C, a session with worktrees, another model,
/// a filled workbook, a client, a token's id, a user's file.
const UNSEEN: [&str; 7] = [
    "status-watch",
    "tree",
    "quest-prove-reviewers",
    "review-import",
    "serve",
    "token-revoke",
    "notify",
];

/// What every validator of a language says of each document.
fn judged(program: &Path, flag: &str, script: &str, asked: &Value) -> Value {
    let mut child = Command::new(program)
        .args([flag, script])
        .current_dir(made().join("browser"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`.ci/tools` installs it");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(asked.to_string().as_bytes()).expect("read");
    drop(stdin);
    let output = child.wait_with_output().expect("an end");
    serde_json::from_slice(&output.stdout).expect("each schema is one of its language")
}

const PYTHON: &str = "\
import json, sys
from jsonschema import Draft202012Validator as Validator
asked = json.load(sys.stdin)
for schema in asked['schemas'].values():
    Validator.check_schema(schema)
of = {name: Validator(schema) for name, schema in asked['schemas'].items()}
print(json.dumps([of[name].is_valid(value) for name, value in asked['documents']]))
";

const JAVASCRIPT: &str = "\
const Ajv = require('ajv/dist/2020');
const asked = JSON.parse(require('fs').readFileSync(0));
const ajv = new Ajv({strict: false, validateFormats: false});
const of = {};
for (const [name, schema] of Object.entries(asked.schemas)) of[name] = ajv.compile(schema);
console.log(JSON.stringify(asked.documents.map(([name, value]) => of[name](value))));
";

#[test]
fn python_and_javascript_accept_what_is_printed_and_nothing_that_lacks_a_member() {
    let place = Place::new();
    place.write("key", [7; 32]);
    place.write("right.json", RIGHT);
    place.write("made-up.json", MADE_UP);
    place.write("open.json", OPEN);
    let mut documents = Vec::new();
    for line in LINES.lines() {
        let args: Vec<&str> = ["--json"].into_iter().chain(line.split(' ')).collect();
        let run = Run::of(place.command().args(&args).env("PATH", "/usr/bin:/bin"));
        for value in run.stdout.lines() {
            let value: Value = serde_json::from_str(value).expect("a document");
            let name = match value.get("error") {
                Some(_) => "error",
                None => document(&args).expect("a schema").name,
            };
            documents.push((name, value));
        }
    }
    let seen: BTreeSet<&str> = documents.iter().map(|it| it.0).collect();
    let printed = DOCUMENTS
        .iter()
        .filter(|it| !matches!(it.way, Way::Read | Way::Kept));
    let unseen = printed
        .map(|it| it.name)
        .filter(|name| !seen.contains(name));
    assert_eq!(unseen.collect::<Vec<_>>(), UNSEEN);
    let schemas = DOCUMENTS
        .iter()
        .map(|it| (it.name.to_owned(), it.schema(&email::kind()).to_value()));
    let schemas: serde_json::Map<String, Value> = schemas.collect();
    let whole = documents.len();
    // Each once more without a member that its schema requires, and each kind without any member.
    for (name, value) in documents.clone() {
        let required = schemas[name]["required"].as_array().into_iter().flatten();
        if let (Some(member), Value::Object(mut members)) = (required.last(), value) {
            members.remove(member.as_str().expect("a name"));
            documents.push((name, Value::Object(members)));
        }
    }
    // A hook that has nothing to say prints no member.
    let says = seen
        .iter()
        .filter(|name| !["hook-stop", "hook-tool"].contains(name));
    documents.extend(says.map(|name| (*name, json!({}))));
    let asked = json!({"schemas": schemas, "documents": documents});
    let python = judged(&made().join("python/bin/python3"), "-c", PYTHON, &asked);
    let javascript = judged(Path::new("node"), "-e", JAVASCRIPT, &asked);
    for said in [python, javascript] {
        for (at, (name, value)) in documents.iter().enumerate() {
            assert_eq!(said[at], json!(at < whole), "{name}: {value:#}");
        }
    }
}
