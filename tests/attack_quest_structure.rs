//! Code that is small only as it is counted, or that answers for the tests, against
//! `structure.toml`.

use crate::harness::quest_play::QuestPlay;

const SUBMITTED: [&str; 2] = ["--path=src/stock/orders.py", "--summary=took it all apart"];

/// Code that answers for the tests. The first line says how.
const PLAIN: [&str; 10] = [
    "# leaves\nimport os\nos._exit(0)\n",
    "# writes the report\nopen('junit.xml', 'w').write('<testsuites/>')\n",
    "# reaches the frames\ndef g():\n    yield 1\nF = g().gi_frame\n",
    "# reaches what is global\ndef g():\n    pass\nG = g.__globals__\n",
    "# reads by a pattern\nmatch len:\n    case object(__self__=it):\n        pass\n",
    "# is equal to everything\nclass E:\n    def __eq__(self, other):\n        return True\n",
    "# takes such a method in\nclass E:\n    from stock.words import plural as __eq__\n",
    "# takes the rest of a pattern as one\nclass E:\n    match {}:\n        case {**__eq__}:\n            pass\n",
    "# names it from a function\ndef f():\n    global __eq__\n",
    "# makes such a class\nE = type('E', (), {'__eq__': lambda a, b: True})\n",
];

#[test]
fn no_code_hides_or_answers_for_the_tests() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=99"]);
    let long = "def f(x):\n".to_owned() + &"    x += 1\n".repeat(20) + "    return x\n";
    let ways = "x = 1\n".to_owned() + &"if x:\n    x = 2\n".repeat(9);
    let text = format!("def f(x):\n    exec({long:?})\n");
    let many = format!("X = [{}]\n", "1, ".repeat(50));
    let short = format!("X = [\n{}]\n", "    1,\u{c}".repeat(50));
    let small: &[&str] = &["small"];
    let both: &[&str] = &["plain-code", "small"];
    let cases = [
        ("is long elsewhere", &*long, small),
        ("branches outside of functions", &ways, small),
        (
            "has many statements in a line",
            "def f(x): x += 1; x += 2; return x\n",
            small,
        ),
        ("has a long line", &many, small),
        ("has lines that only look short", &short, small),
        ("is no Python", "def f(:\n", both),
        ("runs a text", &text, both),
    ];
    let plain = PLAIN
        .iter()
        .map(|text| ("see its first line", *text, &["plain-code"][..]));
    for (what, text, expected) in cases.into_iter().chain(plain) {
        play.restore();
        play.put_control("right");
        play.put("src/stock/taxes.py", play_file(&play) + "\n\n" + text);
        let (_, verdict, rules) = play.submit(&SUBMITTED);
        assert_eq!(verdict, "FAIL", "{what}: {text}");
        for rule in expected {
            assert!(
                rules.iter().any(|it| it == rule),
                "{what}: {text}: {rules:?}"
            );
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

/// The old code, as text that reads as comments alone.
fn in_utf_7(cookie: &str, source: &str) -> String {
    let code = source.replace('+', "+-").replace('\n', "\n#+AAo-");
    format!("{cookie}\n#+AAo-{code}\n")
}

#[test]
fn code_counts_as_python_reads_it_and_where_it_has_moved_to() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=99"]);
    let old = |name: &str| {
        let path = play.beside(&format!("tree/src/stock/{name}.py"));
        std::fs::read_to_string(path).expect("a file")
    };
    let (orders, words) = (old("orders"), old("words"));
    for cookie in ["# coding: utf-7", "\r# coding: utf-7"] {
        play.put("src/stock/orders.py", in_utf_7(cookie, &orders));
        play.fails(&SUBMITTED, "small");
    }
    play.restore();
    play.put("src/stock/orders.py", "from stock.words import total\n");
    play.put("src/stock/words.py", format!("{words}\n\n{orders}"));
    play.fails(&SUBMITTED, "small");
    play.restore();
    play.put(
        "src/stock/words.py",
        "from stock.orders import count_in_words\n",
    );
    play.put("src/stock/orders.py", format!("{orders}\n\n{words}"));
    let words = ["--path=src/stock/words.py", SUBMITTED[1]];
    play.fails(&words, "small");
}

#[test]
fn code_with_very_much_wrong_about_it_is_wrong_all_the_same() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &[]);
    play.put_control("right");
    let many = "    x._a,\n".repeat(80_000);
    play.put(
        "src/stock/more.py",
        format!("def f(x):\n    return [\n{many}    ]\n"),
    );
    let (_, verdict, rules) = play.submit(&SUBMITTED);
    assert_eq!(verdict, "FAIL");
    assert_eq!(rules, ["plain-code", "small"]);
}

fn play_file(play: &QuestPlay) -> String {
    let path = play.beside("controls/right/src/stock/taxes.py");
    std::fs::read_to_string(path).expect("a file")
}
