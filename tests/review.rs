//! `review` and `dispute`: what a person decides, and where it shows.

use std::fs;

use comail::session::Event;
use serde_json::{Value, json};

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};
use crate::harness::forge::rewrite;
use crate::harness::made::id;
use crate::harness::tmux::Tmux;

const NAMES: [&str; 3] = [ACME, "Bolt Toys", "Cargo Ring"];

/// Three companies, of which the first two are REVIEWs of one rule, and the third passed; with
/// the operator's key.
fn keyed() -> EmailNet {
    let world = EmailNet::unscanned();
    let key = world.place.write("operator.key", [7; 32]);
    let key = key.display().to_string();
    scanned(&world, &["--operator-key", &key]);
    world
}

fn scanned(world: &EmailNet, flags: &[&str]) {
    world.place.scan(&NAMES, &world.flags_with(flags));
    world.company("bolt.co.kr", "Bolt Toys");
    world.company("cargo.co.kr", "Cargo Ring");
    let spelled = |local: &str| format!("Sales<br>info [at] {local} [dot] co [dot] kr<br>Seoul");
    for (id, domain, name) in [(1, "acme", ACME), (2, "bolt", "Bolt Toys")] {
        let www = format!("www.{domain}.co.kr");
        let contact = page(name, &spelled(domain));
        world.net.web.page(&www, "/contact", &contact);
        let right = world.right(&format!("{domain}.co.kr"));
        world.expect(id, &right, "REVIEW", &["email-obfuscated"]);
    }
    world.expect(3, &world.right("cargo.co.kr"), "PASS", &[]);
}

/// Runs `review` with these arguments and the operator's key.
#[track_caller]
fn review(world: &EmailNet, args: &[&str]) -> (i32, Value) {
    let all = [&["review"], args, &["--operator-key=operator.key"]].concat();
    world.place.json(all)
}

fn effective(world: &EmailNet) -> Value {
    let (code, status) = world.place.json(["status"]);
    assert_eq!(code, 0, "{status}");
    assert_eq!(
        status["tally"],
        json!({"todo": 0, "pass": 1, "review": 2, "done": 0})
    );
    status["effective"].clone()
}

/// The rows of an export, by these columns.
fn exported(world: &EmailNet, columns: &str) -> Vec<Vec<String>> {
    let columns = format!("--columns={columns}");
    let export = ["export", "--out=out.csv", "--force", &columns];
    world.place.run(export).ok();
    let bytes = fs::read(world.place.at("out.csv")).expect("the export");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes);
    let rows = reader.into_records().map(|row| row.expect("a record"));
    let rows = rows.filter(|row| NAMES.contains(&&row[0]));
    rows.map(|row| row.iter().skip(1).map(str::to_owned).collect())
        .collect()
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]");
    settings.add_filter(r"kr:\d+/", "kr:[PORT]/");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn the_queue_lists_what_is_open_by_rule() {
    let world = keyed();
    let text = world.place.run(["review"]).ok();
    snapshot("review_list", &text);
    let (code, queue) = world.place.json(["review"]);
    assert_eq!((code, &queue["open"]), (0, &json!(2)));
    let group = &queue["groups"][0];
    assert_eq!(group["rule"], "email-obfuscated");
    assert_eq!(group["quests"][0]["id"], 1);
    assert_eq!(group["quests"][1]["key"], "Bolt Toys");
    review(&world, &["accept", "1", "2", "--note=called", "--yes"]);
    assert_eq!(
        world.place.run(["review"]).ok(),
        "no REVIEW waits for a person\n"
    );
}

#[test]
fn one_is_shown_with_what_the_gate_saw_of_it() {
    let world = keyed();
    let text = world.place.run(["show", "1"]).ok();
    snapshot("review_show", &text);
    let (_, item) = world.place.json(["show", "Bolt Toys"]);
    assert_eq!(item["id"], 2);
    let lines = item["facts"][0]["excerpt"]["lines"]
        .as_array()
        .expect("lines");
    let found = lines.iter().find(|line| line["found"] == true);
    let found = found.expect("a line that was found");
    assert_eq!(found["text"], "info [at] bolt [dot] co [dot] kr");
    // What is no REVIEW is none.
    world.place.run(["show", "4"]).exits(2);
    world.place.run(["show"]).exits(2);
}

#[test]
fn the_site_known_beforehand_is_shown() {
    let world = EmailNet::anchored(&[[ACME, "www.acme.co.kr"]]);
    let disguised = page(ACME, "Sales<br>info [at] acme [dot] co [dot] kr<br>Seoul");
    world.expect(
        1,
        &world.contact(&disguised),
        "REVIEW",
        &["email-obfuscated"],
    );
    let text = world.place.run(["show", "1"]).ok();
    let known = "\n  known site: www.acme.co.kr\nsubmitted\n";
    assert!(text.contains(known), "{text}");
    let (_, item) = world.place.json(["show", "1"]);
    assert_eq!(item["anchor"], json!({"site": "www.acme.co.kr"}));
    let tmux = Tmux::run(&world.place, (80, 24), &[], &["review"]);
    tmux.shows(&["1 of 1", "known site: www.acme.co.kr"]);
}

#[test]
fn what_is_shown_of_damaged_evidence_says_so() {
    let world = keyed();
    world.spoils();
    fs::remove_dir_all(world.place.at(".comail/evidence")).expect("evidence");
    let (code, item) = world.place.json(["show", "1"]);
    assert_eq!(code, 0, "{item}");
    let damage = item["damage"].as_str().expect("damage");
    assert!(damage.contains("missing from evidence/"), "{damage}");
    assert_eq!(item["facts"][0]["rule"], "email-obfuscated");
}

#[test]
fn the_effective_result_follows_the_last_decision_everywhere() {
    let world = keyed();
    let usual = |world: &EmailNet| {
        world
            .place
            .run(["export", "--out=usual.csv", "--force"])
            .ok();
        fs::read_to_string(world.place.at("usual.csv")).expect("the export")
    };
    // The cells of the company that passed, none of which has a comma in it.
    let width = |text: &str| text.lines().last().map(|row| row.matches(',').count());
    let without = usual(&world);
    let columns = "email,email-to-review,status,settled-by,note";
    let row = |world: &EmailNet| exported(world, columns)[0].clone();
    assert_eq!(effective(&world)["open"], 2);
    assert_eq!(row(&world), ["", "info@acme.co.kr", "REVIEW", "", ""]);
    let steps = [
        ("accept", "accepted", ["info@acme.co.kr", ""]),
        ("reject", "rejected", ["", ""]),
        ("reopen", "open", ["", "info@acme.co.kr"]),
        ("accept", "accepted", ["info@acme.co.kr", ""]),
    ];
    for (step, (verb, became, email)) in steps.into_iter().enumerate() {
        let note = format!("--note=look {step}");
        let (code, answer) = review(&world, &[verb, "1", "--by=kim", &note]);
        assert_eq!(code, 0, "{answer}");
        assert_eq!(answer["quests"], json!([{"id": 1, "key": ACME}]));
        let count = if became == "open" { 2 } else { 1 };
        assert_eq!(effective(&world)[became], count, "{verb}");
        let status = format!("REVIEW ({became})");
        let why = format!("look {step}");
        let expected = [email[0], email[1], &status, "kim", &why];
        assert_eq!(row(&world), expected, "{verb}");
        // No decision of a person proves an answer.
        let listed = world.place.run(["list", "--json"]).ok();
        let first = listed.lines().next().map(serde_json::from_str::<Value>);
        let first = first.expect("a quest").expect("a line of JSON");
        let (effective, proven) = (&first["effective"], &first["proven"]);
        assert_eq!((effective, proven), (&json!(became), &json!(false)));
    }
    // The usual columns name people only where one decided.
    let text = usual(&world);
    assert!(text.contains("look 3"), "{text}");
    assert!(width(&without) < width(&text), "{without}\n{text}");
    let status = world.place.run(["status"]).ok();
    assert!(status.contains("(1 accepted, 1 open)\n"), "{status}");
    let log = world.place.run(["log", "--type=settled"]).ok();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 4, "every decision stays: {log}");
    assert!(
        lines[1].ends_with("quest 1, Acme Foods: rejected by kim: look 1"),
        "{log}"
    );
    let shown = world.place.run(["show", "1"]).ok();
    assert!(shown.contains("accepted by kim: look 3\n"), "{shown}");
}

#[test]
fn several_are_settled_by_rule_all_or_none() {
    let world = keyed();
    let before = world.place.ledger();
    // Without a terminal nobody confirms.
    for args in [
        &["accept", "1", "2", "--note=x"][..],
        &["accept", "--rule=email-obfuscated", "--note=x"],
        &["accept", "--rule=freemail", "--note=x", "--yes"],
        &["reopen", "--rule=email-obfuscated", "--note=x", "--yes"],
        &["accept", "1", "3", "--note=x", "--yes"],
        &["accept", "1", "9", "--note=x", "--yes"],
        &["reopen", "1", "--note=x"],
        &["accept", "1", "--note= "],
        &["accept", "--note=x"],
        &["accept", "1"],
    ] {
        let all = [&["review"], args, &["--operator-key=operator.key"]].concat();
        let run = world.place.run(all);
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert_eq!(world.place.ledger(), before, "{args:?}");
    }
    let (code, answer) = review(
        &world,
        &["reject", "--rule=email-obfuscated", "--note=x", "--yes"],
    );
    assert_eq!(
        (code, &answer["status"]),
        (0, &json!("rejected")),
        "{answer}"
    );
    assert_eq!(effective(&world)["rejected"], 2);
    assert_eq!(
        world
            .place
            .run(["log", "--type=settled"])
            .ok()
            .lines()
            .count(),
        1
    );
}

#[test]
fn a_person_names_quests_by_number_or_by_key() {
    let world = keyed();
    let (code, answer) = review(&world, &["accept", "1", "Bolt Toys", "--note=x", "--yes"]);
    let ids = json!([{"id": 1, "key": ACME}, {"id": 2, "key": "Bolt Toys"}]);
    assert_eq!((code, &answer["quests"]), (0, &ids), "{answer}");
    let (code, _) = review(
        &world,
        &["reopen", "Bolt Toys", ACME, "2", "--note=x", "--yes"],
    );
    assert_eq!((code, &effective(&world)["open"]), (0, &json!(2)));
    let before = world.place.ledger();
    let key = "--operator-key=operator.key";
    for args in [
        &["review", "accept", "Bolt Toy", "--note=x", key][..],
        &["dispute", "Bolt Toy", "--note=x", key],
        &["release", "Bolt Toy", key],
    ] {
        let run = world.place.run(args);
        run.says("did you mean \"Bolt Toys\"?");
        run.exits(2);
    }
    for gone in ["--key=Bolt Toys", "--id=2", "--company=Bolt Toys"] {
        world
            .place
            .run(["review", "accept", gone, "--note=x", key])
            .exits(2);
        world.place.run(["release", gone, key]).exits(2);
        world.place.run(["dispute", gone, "--note=x", key]).exits(2);
    }
    assert_eq!(world.place.ledger(), before);
    world
        .place
        .run(["dispute", "Cargo Ring", "--note=bounced", key])
        .ok();
    assert_eq!(world.place.json(["status"]).1["disputed"], 1);
}

#[test]
fn what_cannot_be_decided_is_refused_before_anybody_confirms_it() {
    let world = keyed();
    let before = world.place.ledger();
    let key = "--operator-key=operator.key";
    // Without a terminal, a confirmation would be refused in other words.
    let run = world
        .place
        .run(["review", "reject", "1", "3", "--note=x", key]);
    run.says("quest 3, Cargo Ring, is PASS");
    run.says("hint: `comail dispute 3 --note TEXT`");
    run.exits(2);
    let run = world
        .place
        .run(["review", "reopen", "1", "2", "--note=x", key]);
    run.says("quest 1 is already open");
    run.exits(2);
    assert_eq!(world.place.ledger(), before);
    review(&world, &["accept", "1", "--note=called"]);
    review(&world, &["reopen", "1", "--note=wrong number"]);
    let before = world.place.ledger();
    let run = world
        .place
        .run(["review", "reopen", "1", "--note=again", key]);
    run.says("quest 1 is already open");
    run.exits(2);
    assert_eq!(world.place.ledger(), before);
}

#[test]
fn what_waits_for_an_accepted_review_is_handed_out() {
    let world = EmailNet::with(&[ACME, "Bolt Toys"], &[]);
    rewrite(&world.place.at(".comail"), |_, event| {
        if let Event::Quest(quest) = event
            && quest.id == id(1)
        {
            quest.after = vec![id(0)];
        }
        true
    });
    let spelled = world.contact("info [at] acme [dot] co [dot] kr");
    world.expect(1, &spelled, "REVIEW", &["email-obfuscated"]);
    world.place.run(["next"]).exits(4);
    #[cfg(target_os = "linux")]
    {
        use crate::harness::terminal::at_terminal;
        let accept = ["review", "accept", "1", "--note=called"];
        at_terminal(&world.place, &accept, "accept").ok();
        let (code, next) = world.place.json(["next"]);
        assert_eq!((code, &next["quest"]["id"]), (0, &json!(2)), "{next}");
        assert_eq!(world.place.give_up(2), 5);
    }
}

#[test]
fn a_disputed_pass_stays_one_and_says_what_happened() {
    let world = keyed();
    let dispute = |id: &str, note: &str| {
        let args = [
            "dispute",
            id,
            note,
            "--by=lee",
            "--operator-key=operator.key",
        ];
        world.place.run(args)
    };
    dispute("1", "--note=bounced").exits(2);
    dispute("3", "--note= ").exits(2);
    dispute("3", "--note=bounced on 3 May").ok();
    assert_eq!(effective(&world)["pass"], 1);
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["disputed"], 1);
    assert!(
        world
            .place
            .run(["status"])
            .ok()
            .contains("disputed: 1 quest proved wrong")
    );
    let shown = world.place.run(["show", "3"]).ok();
    assert!(shown.contains("Cargo Ring: PASS, disputed"), "{shown}");
    assert!(shown.contains("\ndecisions\n"), "{shown}");
    let (_, item) = world.place.json(["show", "1"]);
    assert_eq!(item["disputed"], false);
    let columns = "email,email-to-review,status,settled-by,note";
    let row = exported(&world, columns)[2].clone();
    assert_eq!(
        row,
        [
            "",
            "info@cargo.co.kr",
            "PASS (disputed)",
            "lee",
            "bounced on 3 May"
        ]
    );
}
