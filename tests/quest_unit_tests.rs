//! `unit-tests.toml`, played with pytest and coverage.

use crate::harness::quest_play::QuestPlay;

const DISCOUNT: &str = "\
import pytest
from parcels.rates import with_discount

@pytest.mark.parametrize(('parcels', 'cents'), [(9, 390), (10, 351)])
def test_a_tenth_off_from_ten_on(parcels, cents):
    assert with_discount(390, parcels) == cents
";

const DIGIT: &str = "\
from parcels.labels import check_digit

def test_the_digit():
    assert check_digit('47312482') == 9
    assert check_digit('00000000') == 5
    assert check_digit('00000006') == 2
    assert check_digit('00000008') == 0
";

const NAME: &str = "\
from parcels.labels import short_name

def test_short_names_stay():
    assert short_name('  Kim   Minji ') == 'Kim Minji'

def test_long_names_are_cut():
    assert short_name('Wolfeschlegelstein') == 'Wolfeschleg…'
";

#[test]
fn tests_are_written_function_by_function() {
    let play = QuestPlay::of("unit-tests");
    play.scan(&play.beside("functions.jsonl"), &[]);
    let prompt = play.place.run(["next"]).ok();
    assert!(
        prompt.contains("`with_discount`, lines 15 to 19 of\nsrc/parcels/rates.py"),
        "{prompt}"
    );

    let discount = [
        "--function=with_discount",
        "--test_file=tests/added/test_discount.py",
    ];
    play.put(
        "tests/added/test_discount.py",
        DISCOUNT.replace("(9, 390), ", ""),
    );
    play.fails(&discount, "lines-covered");
    let again = play.place.run(["next"]).ok();
    assert!(again.contains("line 19 uncovered"), "{again}");
    play.put("tests/added/test_discount.py", DISCOUNT);
    play.passes(&discount);

    let volume = [
        "--function=volume_weight",
        "--test_file=tests/added/test_volume_weight.py",
    ];
    play.put_control("asks-for-a-bound-alone");
    play.fails(&volume, "tests-bite");
    play.put_control("right");
    play.passes(&volume);
    play.put("tests/added/test_digit.py", DIGIT);
    play.passes(&[
        "--function=check_digit",
        "--test_file=tests/added/test_digit.py",
    ]);
    play.put("tests/added/test_name.py", NAME);
    play.passes(&[
        "--function=short_name",
        "--test_file=tests/added/test_name.py",
    ]);
    play.ends(4);
}
