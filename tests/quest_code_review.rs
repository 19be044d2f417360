//! `code-review.toml`, played: a change that passes its tests is looked at by others.

use std::fs;

use crate::played::Played;

const COUNT: &[(&str, &str)] = &[("summary", "add refuses what is no count")];
const DISCOUNT: &[(&str, &str)] = &[("summary", "discounts are rounded up")];

fn scanned() -> Played {
    let play = Played::of("code-review");
    play.scan("issues.jsonl");
    play
}

fn edit(play: &Played, from: &str, to: &str) {
    let path = play.world.place.at("tree/src/shop/cart.py");
    let text = fs::read_to_string(&path).expect("a file");
    assert!(text.contains(from), "{from}");
    fs::write(path, text.replacen(from, to, 1)).expect("a file");
}

#[test]
fn a_change_passes_its_tests_and_those_who_look_at_it() {
    let play = scanned();
    let prompt = play.next();
    assert!(prompt.contains("No error is swallowed"), "{prompt}");
    play.expect("count", COUNT, "FAIL tests-pass");
    play.put_control("right");
    play.expect("count", COUNT, "PASS");
    // Who is 60 % sure asks, and does not doubt.
    let asked = "    # A count of 0 is refused: if count in doubt, ask.\n    cart[name]";
    edit(&play, "    cart[name]", asked);
    let up = "-(-cents * (100 - percent) // 100)";
    edit(&play, "cents - cents * percent / 100", up);
    play.expect("discount", DISCOUNT, "PASS");
    play.ends(2, 0, 2);
}

#[test]
fn a_doubt_names_file_and_line() {
    let play = scanned();
    play.put_control("swallows");
    let answer = play.submit("count", COUNT);
    assert_eq!(answer["verdict"], "REVIEW", "{answer:#}");
    let facts = answer["facts"].as_array().expect("facts");
    let place = |reviewer, line| format!("{reviewer}: src/shop/cart.py:{line}");
    let places: Vec<_> = facts.iter().map(|it| it["location"].clone()).collect();
    let expected = [
        place("first", 10),
        place("second", 10),
        place("first", 6),
        place("second", 6),
    ];
    assert_eq!(places, expected, "{answer:#}");
    assert_eq!(facts[0]["actual"], "+    except TypeError:", "{answer:#}");
    play.ends(0, 1, 2);
}

#[test]
fn what_python_reads_otherwise_than_reviewers_fails() {
    let play = scanned();
    play.put_control("swallows");
    let path = play.world.place.at("tree/src/shop/cart.py");
    let mut bytes = b"# -*- coding: latin-1 -*- \xe9\n".to_vec();
    bytes.extend(fs::read(&path).expect("a file"));
    fs::write(path, bytes).expect("a file");
    play.expect("count", COUNT, "FAIL in-utf-8");
    play.ends(0, 0, 2);
}

#[test]
fn tests_of_ones_own_reach_no_judgement() {
    let play = scanned();
    play.put_control("elsewhere");
    play.expect("count", COUNT, "FAIL only-the-shop-changed");
    play.ends(0, 0, 2);
}
