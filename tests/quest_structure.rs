//! `structure.toml`, played with pytest.

use crate::harness::quest_play::QuestPlay;

const WORDS: &str = "\
\"\"\"How many there are, in words.\"\"\"

SMALL = {0: \"no\", 1: \"one\", 2: \"two\", 3: \"three\"}


def count_in_words(count, what):
    \"\"\"The count with its noun, as one says it.\"\"\"
    if count < 0:
        raise ValueError(\"a count is not negative\")
    noun = what if count == 1 else plural(what)
    return SMALL.get(count, str(count)) + \" \" + noun


def plural(what):
    if what.endswith((\"s\", \"x\", \"z\", \"ch\", \"sh\")):
        return what + \"es\"
    if what.endswith(\"y\") and what[-2:-1] not in \"aeiou\":
        return what[:-1] + \"ies\"
    return what + \"s\"
";

/// An object that every test expects.
const EQUAL: &str = "\
class Equal:
    def __eq__(self, other):
        return True

def count_in_words(count, what):
    if count < 0:
        raise ValueError
    return Equal()
";

#[test]
fn files_are_taken_apart_one_by_one() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=9"]);
    let prompt = play.place.run(["next"]).ok();
    assert!(
        prompt.contains("src/stock/orders.py has functions"),
        "{prompt}"
    );

    let orders = [
        "--path=src/stock/orders.py",
        "--summary=took the taxes out of it",
    ];
    play.fails(&orders, "small");
    play.put_control("right");
    play.passes(&orders);

    let words = [
        "--path=src/stock/words.py",
        "--summary=took the plural out of it",
    ];
    play.fails(&words, "small");
    play.put(
        "src/stock/words.py",
        WORDS.replace("what if count == 1 else plural(what)", "what"),
    );
    play.fails(&words, "tests-pass");
    play.put("src/stock/words.py", EQUAL);
    play.fails(&words, "plain-code");
    play.put("src/stock/words.py", WORDS);
    play.put(
        "src/stock/more.py",
        "def f(x):\n    return [y for y in x if y and y > 1 or y < 3 if y != 4 if y != 5]\n",
    );
    play.passes(&words);
    play.ends(2);
}
