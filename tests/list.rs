//! `list` and `show`: the quests as rows, and one of them with all that is known.

use std::fs;

use serde_json::{Value, json};

use crate::harness::email_net::{ACME, page};
use crate::harness::tmux::Tmux;
use crate::harness::{EmailNet, Place};

/// A PASS, an open REVIEW, a DONE whose last answer repeated the first, and a TODO that a worker
/// holds.
fn world() -> EmailNet {
    let world = EmailNet::with(&[ACME, "Bolt Toys", "Cargo Ring", "Delta Works"], &[]);
    world.company("bolt.co.kr", "Bolt Toys");
    world.company("cargo.co.kr", "Cargo Ring");
    let answer = [world.acme().args(1), vec!["--worker=w9".to_owned()]].concat();
    world.place.run(answer).ok();
    let disguised = "Sales<br>info [at] bolt [dot] co [dot] kr<br>Seoul";
    let contact = page("Bolt Toys", disguised);
    world.net.web.page("www.bolt.co.kr", "/contact", &contact);
    let right = world.right("bolt.co.kr");
    world.expect(2, &right, "REVIEW", &["email-obfuscated"]);
    let codes = ["one", "two", "one"].map(|local| {
        let wrong = world.right("cargo.co.kr");
        world
            .submit(3, &wrong.email(&format!("{local}@cargo.co.kr")))
            .0
    });
    assert_eq!(codes, [5, 5, 6]);
    world.place.run(["next", "--worker=w1"]).ok();
    world
}

/// The lines of `list --json`, by these further arguments.
#[track_caller]
fn listed(place: &Place, args: &[&str]) -> Vec<Value> {
    let text = place.run([&["list", "--json"], args].concat()).ok();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("JSON Lines")
}

fn ids(rows: &[Value]) -> Vec<u64> {
    let ids = rows.iter().map(|row| row["id"].as_u64().expect("a number"));
    ids.collect()
}

#[test]
fn each_quest_is_a_row_with_its_answer_and_its_real_cause() {
    let world = world();
    let text = world.place.run(["list"]).ok();
    let rows: Vec<&str> = text.lines().collect();
    let expected = [
        "id  key          status  email            email to review  rule",
        "1   Acme Foods   PASS    info@acme.co.kr",
        "2   Bolt Toys    REVIEW                   info@bolt.co.kr  email-obfuscated",
        "3   Cargo Ring   DONE                                      email-not-on-source",
        "4   Delta Works  TODO",
    ];
    assert_eq!(rows, expected);
    let rows = listed(&world.place, &[]);
    let states = rows.iter().map(|row| row["state"].as_str());
    let states: Vec<_> = states.flatten().collect();
    assert_eq!(states, ["PASS", "REVIEW", "DONE", "TODO"]);
    assert_eq!(rows[0]["answer"]["email"], "info@acme.co.kr");
    assert_eq!(
        (&rows[0]["proven"], &rows[0]["worker"]),
        (&json!(true), &json!("w9"))
    );
    assert_eq!(
        (&rows[1]["proven"], &rows[1]["effective"]),
        (&json!(false), &json!("open"))
    );
    // What failed is nobody's address.
    assert_eq!(rows[2].get("answer"), None);
    assert_eq!(rows[2]["rules"], json!(["email-not-on-source"]));
    assert_eq!(rows[2]["tries"], 3);
    assert_eq!(rows[3]["claimed_by"], "w1");
    let chosen = world.place.run(["list", "--columns=tries,rule=Cause"]).ok();
    assert!(
        chosen.starts_with("id  key          tries  Cause\n"),
        "{chosen}"
    );
}

#[test]
fn rows_are_selected_by_state_rule_and_worker() {
    let world = world();
    for (args, wanted) in [
        (&["--state=review,DONE"][..], &[2, 3][..]),
        (&["--state=todo"], &[4]),
        (&["--rule=email-obfuscated"], &[2]),
        (&["--rule=email-not-on-source"], &[3]),
        (&["--rule=repeated-submission"], &[]),
        (&["--worker=w9"], &[1]),
        (&["--worker=w1"], &[4]),
        (&["--worker=w9", "--state=todo"], &[]),
    ] {
        assert_eq!(ids(&listed(&world.place, args)), wanted, "{args:?}");
    }
    let none = world.place.run(["list", "--worker=nobody"]).ok();
    assert_eq!(none, "no quest matches\n");
    let unknown = world.place.run(["list", "--rule=email-obfuscate"]);
    unknown.says("did you mean `email-obfuscated`?");
    assert_eq!(unknown.code, 2);
    world.place.run(["list", "--columns=speed"]).exits(2);
    world.place.run(["list", "--state=lost"]).exits(2);
}

#[test]
fn one_quest_is_shown_in_any_state() {
    let world = world();
    let done = world.place.run(["show", "3"]).ok();
    let head = "quest 3, Cargo Ring: DONE (tries used up), nothing is proven, since ";
    assert!(done.starts_with(head), "{done}");
    for told in [
        "submitted, the same as in attempt 1, whose facts follow\n",
        "\n  email: one@cargo.co.kr\n",
        "\n  FAIL email-not-on-source  at http",
        "\nearlier attempts\n  1  ",
    ] {
        assert!(done.contains(told), "{told}: {done}");
    }
    assert!(!done.contains("repeated-submission"), "{done}");
    let pass = world.place.run(["show", ACME]).ok();
    assert!(
        pass.starts_with("quest 1, Acme Foods: PASS, since "),
        "{pass}"
    );
    assert!(pass.contains("\nsubmitted by w9\n"), "{pass}");
    assert!(pass.contains("/contact  status 200\n"), "{pass}");
    assert!(!pass.contains("\nfacts\n"), "{pass}");
    let todo = world.place.run(["show", "Delta Works"]).ok();
    let told = "quest 4, Delta Works: TODO\n  claimed by w1 since ";
    assert!(todo.starts_with(told), "{todo}");
    assert!(todo.ends_with("\nnothing was submitted\n"), "{todo}");
    let (_, shown) = world.place.json(["show", "3"]);
    assert_eq!((&shown["repeats"], &shown["tries"]), (&json!(1), &json!(3)));
    assert_eq!(shown["earlier"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_number_names_the_quest_that_has_it_and_else_a_key() {
    let place = Place::new();
    place.scan(&["2", "Acme Inc.", "77", "001"], &[]);
    for (name, id) in [
        ("1", 1),
        ("2", 2),
        ("77", 3),
        ("Acme Inc.", 2),
        ("3", 3),
        ("001", 4),
    ] {
        let (_, shown) = place.json(["show", name]);
        assert_eq!(shown["id"], id, "{name}");
    }
    let unknown = place.run(["show", "Acme"]);
    unknown.says("there is no quest \"Acme\": did you mean \"Acme Inc.\"?");
    unknown.says("hint: `comail list` shows every quest");
    assert_eq!(unknown.code, 2);
    place.run(["show", "9"]).exits(2);
    place.run(["show"]).exits(2);
}

#[test]
fn a_long_list_has_one_heading_and_a_row_for_each_quest() {
    let place = Place::new();
    let names: Vec<String> = (1..=600)
        .map(|number| format!("Company {number}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    place.scan(&names, &[]);
    let text = place.run(["list"]).ok();
    assert_eq!(text.lines().count(), 601, "{text}");
    assert_eq!(text.matches("status").count(), 1);
    assert!(text.ends_with("\n600  Company 600  TODO\n"), "{text}");
    assert_eq!(listed(&place, &[]).len(), 600);
    // At a terminal it goes through the pager, and no line is wider than the terminal.
    let pager = place.at("pager.txt");
    let pager = format!("cat >{}; echo paged", pager.display());
    let env = [("COMAIL_PAGER", pager.as_str())];
    let tmux = Tmux::run(&place, (30, 10), &env, &["list"]);
    tmux.shows(&["paged"]);
    let shown = fs::read_to_string(place.at("pager.txt")).expect("what the pager read");
    assert_eq!(shown.lines().count(), 601);
    // The heading has colours.
    let widest = shown.lines().skip(1).map(|line| line.chars().count()).max();
    assert!(widest <= Some(30), "{shown}");
}
