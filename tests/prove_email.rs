//! The e-mail gate's own controls, and the e-mail kind as a quest file like any other.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{EmailNet, Place};

/// The built-in quest file, and the world of its controls.
const FILE: &str = include_str!("../src/quest/email.toml");
const WORLD: &str = include_str!("../src/gate/email/controls.json");

/// Writes the quest file as it stands in the program's source, and its world beside it.
fn written(place: &Place, text: &str) -> PathBuf {
    for folder in ["quest", "gate/email"] {
        std::fs::create_dir_all(place.at(folder)).expect("a folder");
    }
    place.write("gate/email/controls.json", WORLD);
    place.write("quest/email.toml", text)
}

fn strings(value: &Value) -> BTreeSet<String> {
    let texts = value.as_array().into_iter().flatten();
    let texts = texts.filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// The rules of this level, but for those of the house, which no gate fires.
fn rules(place: &Place, level: &str) -> BTreeSet<String> {
    let (_, catalogue) = place.json(["rules"]);
    let rules = catalogue["rules"].as_array().expect("rules").iter();
    let ids = rules
        .filter(|rule| rule["level"] == level)
        .filter_map(|rule| rule["id"].as_str())
        .filter(|id| !["no-result", "repeated-submission", "forgotten-address"].contains(id));
    ids.map(str::to_owned).collect()
}

#[track_caller]
fn assert_proven(place: &Place) {
    let (code, proof) = place.json(["quest", "prove"]);
    assert_eq!(code, 0, "{proof}");
    assert_eq!(proof["lacking"], Value::Array(Vec::new()));
    assert_eq!(proof["unfired"], Value::Array(Vec::new()));
    let controls = proof["controls"].as_array().expect("controls");
    let of = |verdict: &str| {
        let controls = controls.iter().filter(|it| it["expected"] == verdict);
        let fires = controls.inspect(|it| assert_eq!(it["fits"], true, "{it}"));
        fires.map(|it| strings(&it["fires"])).collect::<Vec<_>>()
    };
    assert!(of("PASS").iter().all(BTreeSet::is_empty) && !of("PASS").is_empty());
    for (verdict, level) in [("FAIL", "FAIL"), ("REVIEW", "REVIEW")] {
        let fired: BTreeSet<String> = of(verdict).into_iter().flatten().collect();
        assert_eq!(fired, rules(place, level));
    }
}

#[test]
fn every_rule_has_a_control_that_fires_it_and_no_session_is_needed() {
    let place = Place::new();
    assert_proven(&place);
    assert!(!place.at(".comail").exists());
    let run = place.run(["quest", "prove"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("controls passed"), "{}", run.stdout);
}

#[test]
fn a_session_of_the_kind_runs_the_same_and_asks_no_network() {
    let net = EmailNet::start();
    assert_proven(&net.place);
    assert_eq!(net.net.web.connections(), 0);
    assert_eq!(net.net.dns.questions(), []);
}

#[test]
fn the_kind_as_a_file_of_its_own_is_the_same_gate() {
    let place = Place::new();
    written(&place, FILE);
    let (_, built_in) = place.json(["quest", "prove"]);
    let (code, checked) = place.json(["quest", "check", "quest/email.toml"]);
    assert_eq!(code, 0, "{checked}");
    assert_eq!(checked["controls"], built_in["controls"]);
    let (_, rules) = place.json(["rules"]);

    place.write("companies.txt", "Acme Foods\n");
    let scan = ["scan", "companies.txt", "--quest", "quest/email.toml"];
    place.run(scan).exits(0);
    assert_eq!(place.json(["rules"]).1, rules);
    let (_, of_file) = place.json(["next"]);
    let other = Place::new();
    other.write("companies.txt", "Acme Foods\n");
    other.run(["scan", "companies.txt"]).exits(0);
    let (_, of_built_in) = other.json(["next"]);
    assert!(of_built_in["prompt"].is_string(), "{of_built_in}");
    assert_eq!(of_file["prompt"], of_built_in["prompt"]);
    let answer = ["--site=acme", "--email=info@acme.co.kr", "--source=x"];
    let submit = ["submit", "--id=1"].into_iter().chain(answer);
    let submit: Vec<_> = submit.collect();
    let (_, one) = place.json(submit.iter().copied());
    let (_, two) = other.json(submit.iter().copied());
    assert_eq!(one["verdict"], "FAIL");
    assert_eq!(one["facts"], two["facts"]);
    assert_eq!(one["checks"], two["checks"]);
}

#[test]
fn a_gate_that_lost_a_step_or_a_control_is_not_proven() {
    let place = Place::new();
    for part in [
        "[[check]]\nname = \"domain\"\nkind = \"email-domain\"\n",
        "[[check]]\nname = \"mail\"\nkind = \"email-mail\"\n",
    ] {
        assert!(FILE.contains(part), "{part}");
        written(&place, &FILE.replace(part, ""));
        let run = place.run(["quest", "check", "quest/email.toml"]);
        // Controls name the rules of the step, and there are none any more.
        assert_eq!(run.code, 2, "{part}: {run:?}");
        assert!(run.stderr.contains("unknown rule"), "{part}: {run:?}");
    }
    let name = "name = \"a domain without mail\"";
    let controls: Vec<_> = FILE.split("\n[[control]]\n").collect();
    let others: Vec<_> = controls.iter().filter(|it| !it.contains(name)).collect();
    assert_eq!(others.len(), controls.len() - 1);
    let others: Vec<&str> = others.into_iter().copied().collect();
    written(&place, &others.join("\n[[control]]\n"));
    let (code, checked) = place.json(["quest", "check", "quest/email.toml"]);
    assert_eq!(code, 8, "{checked}");
    assert_eq!(
        checked["lacking"],
        serde_json::json!([{"rule": "mx-missing"}])
    );
}
