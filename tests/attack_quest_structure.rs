//! Code that is small only as it is counted, or that answers for the tests, against
//! `structure.toml`.

use crate::harness::quest_play::QuestPlay;

const SUBMITTED: [&str; 2] = ["--path=src/stock/orders.py", "--summary=took it all apart"];

#[test]
fn no_code_hides_or_answers_for_the_tests() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=99"]);
    let long = "def f(x):\n".to_owned() + &"    x += 1\n".repeat(20) + "    return x\n";
    let ways = "x = 1\n".to_owned() + &"if x:\n    x = 2\n".repeat(9);
    let text = format!("def f(x):\n    exec({long:?})\n");
    let cases: [(&str, &str, &[&str]); 13] = [
        ("is long elsewhere", &long, &["small"]),
        ("branches outside of functions", &ways, &["small"]),
        (
            "has many statements in a line",
            "def f(x): x += 1; x += 2; return x\n",
            &["small"],
        ),
        (
            "has a long line",
            &format!("X = [{}]\n", "1, ".repeat(50)),
            &["small"],
        ),
        ("is no Python", "def f(:\n", &["plain-code", "small"]),
        ("runs a text", &text, &["plain-code", "small"]),
        ("leaves", "import os\nos._exit(0)\n", &["plain-code"]),
        (
            "writes the report",
            "open('junit.xml', 'w').write('<testsuites/>')\n",
            &["plain-code"],
        ),
        (
            "reaches the frames",
            "def g():\n    yield 1\nF = g().gi_frame\n",
            &["plain-code"],
        ),
        (
            "reaches what is global",
            "def g():\n    pass\nG = g.__globals__\n",
            &["plain-code"],
        ),
        (
            "reads by a pattern",
            "match len:\n    case object(__self__=it):\n        pass\n",
            &["plain-code"],
        ),
        (
            "is equal to everything",
            "class E:\n    def __eq__(self, other):\n        return True\n",
            &["plain-code"],
        ),
        (
            "makes such a class",
            "E = type('E', (), {'__eq__': lambda a, b: True})\n",
            &["plain-code"],
        ),
    ];
    for (what, text, expected) in cases {
        play.restore();
        play.put_control("right");
        play.put("src/stock/taxes.py", play_file(&play) + "\n\n" + text);
        let (_, verdict, rules) = play.submit(&SUBMITTED);
        assert_eq!(verdict, "FAIL", "{what}");
        for rule in expected {
            assert!(rules.iter().any(|it| it == rule), "{what}: {rules:?}");
        }
    }
    for path in [
        "tests/conftest.py",
        "conftest.py",
        "tests/test_orders.py",
        "src/pytest.py",
    ] {
        play.restore();
        play.put_control("right");
        play.put(path, "import os\nos._exit(0)\n");
        play.fails(&SUBMITTED, "only-source-changed");
    }
    play.restore();
    play.put_control("right");
    play.passes(&SUBMITTED);
}

/// The new file of the right answer.
fn play_file(play: &QuestPlay) -> String {
    let path = play.beside("controls/right/src/stock/taxes.py");
    std::fs::read_to_string(path).expect("a file")
}
