//! `rust-tests.toml`, played with cargo.

use crate::harness::quest_play::QuestPlay;

const VOLUME: &str = "\
use parcels::volume_weight;

#[test]
fn five_cubic_centimetres_weigh_a_gram() {
    assert_eq!(volume_weight(10, 20, 30), Some(1200));
    assert_eq!(volume_weight(10, 20, 0), None);
}
";

const RATE: &str = "\
use parcels::base_rate;

#[test]
fn heavier_is_dearer() {
    let rates = vec![(0, None), (500, Some(390)), (501, Some(590)), (2001, Some(710))];
    for (grams, rate) in rates {
        assert_eq!(base_rate(grams), rate);
    }
}
";

#[test]
fn tests_are_written_function_by_function() {
    let play = QuestPlay::of("rust-tests");
    play.scan(&play.beside("functions.jsonl"), &[]);
    let prompt = play.place.run(["next"]).ok();
    assert!(prompt.contains("`base_rate`, lines 4 to 11"), "{prompt}");

    let rate = ["--function=base_rate", "--test=added_base_rate"];
    // One branch is left out, which turns no test red when it panics.
    play.put(
        "tests/added_base_rate.rs",
        RATE.replace("(501, Some(590)), ", ""),
    );
    play.fails(&rate, "tests-bite");
    let again = play.place.run(["next"]).ok();
    assert!(again.contains("src/lib.rs:8"), "{again}");
    play.put("tests/added_base_rate.rs", RATE);
    play.passes(&rate);

    play.put_control("right");
    play.passes(&["--function=with_discount", "--test=added_with_discount"]);
    play.put("tests/added_volume.rs", VOLUME);
    play.passes(&["--function=volume_weight", "--test=added_volume"]);
    play.ends(3);
}
