//! `spec-sync.toml`, played: two specifications are edited until they agree.

use std::fs;

use crate::played::Played;

const EMAIL: &str = "customer.email";
const SPELLED: &[(&str, &str)] = &[("canonical", "customer.email_address")];

#[test]
fn two_specifications_are_made_one_name_by_name() {
    let play = Played::of("spec-sync");
    play.scan("names.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("customer.emailAddress"), "{prompt}");
    play.expect(EMAIL, SPELLED, "FAIL agree");
    for (control, said) in [
        ("dropped", "FAIL agree"),
        ("loosened", "FAIL agree"),
        ("unread", "FAIL agree"),
        ("wider", "FAIL agree"),
        ("both", "FAIL agree"),
        ("right", "PASS"),
    ] {
        play.put_control(control);
        play.expect(EMAIL, SPELLED, said);
    }
    // The name that has passed stays as it is while the next one is made one.
    play.put_control("weight");
    let weight = &[("canonical", "parcel.weight")];
    play.expect("parcel.weight", weight, "PASS");
    play.ends(2, 0, 2);
}

#[test]
fn a_name_that_is_dropped_or_told_twice_does_not_agree() {
    let play = Played::of("spec-sync");
    play.scan("names.jsonl");
    let tree = play.world.place.at("tree");
    let (api, sql) = (tree.join("openapi.json"), tree.join("schema.sql"));
    let edit = |file: &std::path::Path, from: &str, to: &str| {
        let text = fs::read_to_string(file).expect("a file");
        assert!(text.contains(from), "{from}");
        fs::write(file, text.replacen(from, to, 1)).expect("a file");
    };
    for (from, to) in [
        ("    email_address VARCHAR(254) NOT NULL,\n", ""),
        (
            "CREATE TABLE parcel",
            "-- CREATE TABLE x (a TEXT);\nCREATE TABLE parcel",
        ),
        (
            "NOT NULL,\n    active",
            "NOT NULL,\n    email_address TEXT,\n    active",
        ),
    ] {
        play.put_control("right");
        edit(&sql, from, to);
        play.expect(EMAIL, SPELLED, "FAIL agree");
    }
    play.put_control("right");
    edit(
        &api,
        "\"email_address\":",
        "\"email_address\": {}, \"email_address\":",
    );
    play.expect(EMAIL, SPELLED, "FAIL agree");
    let long = format!("\"{}\"", "x".repeat(11 << 20));
    for kind in [r#""\ud800""#, &long, r#"["number"]"#, "1"] {
        play.put_control("right");
        edit(&api, "\"number\"", kind);
        play.expect(EMAIL, SPELLED, "FAIL agree");
    }
    for (from, to) in [
        ("\"required\": [", "\"x-\\ud800\": 1, \"required\": ["),
        (
            "\"operationId\": \"list",
            "\"x\": 1, \"operationId\": \"list",
        ),
        ("\"maxLength\": 254", "\"maxLength\": \"254\""),
        (
            "\"type\": \"string\",\n            \"maxLength\": 254",
            "\"type\": \"string 254\"",
        ),
    ] {
        play.put_control("right");
        edit(&api, from, to);
        play.expect(EMAIL, SPELLED, "FAIL agree");
    }
    play.put_control("right");
    edit(&tree.join("before/schema.sql"), "email_address", "mail");
    play.expect(EMAIL, SPELLED, "FAIL nothing-else");
    play.ends(0, 0, 2);
}
