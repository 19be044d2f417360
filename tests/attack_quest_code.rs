//! Tests and code that deceive the gate, against the quest files that ship.
//!
//! Each shipped quest file has one session, since a scan runs all of its controls.

use std::fs;

use crate::harness::Run;
use crate::harness::quest_play::QuestPlay;

/// Tests of Python that reach for more than what they test. The first line says how.
const PYTHON_REFUSED: &str = include_str!("attack_quest/python_refused.txt");

/// Tests of Python that show nothing. The first line names the rule that finds them, and says why.
const PYTHON_HOLLOW: &str = include_str!("attack_quest/python_hollow.txt");

/// Tests of Rust that the gate must refuse. The first line says why.
const RUST_REFUSED: &str = include_str!("attack_quest/rust_refused.txt");

/// Code of Python that answers for the tests. The first line says how.
const CODE_REFUSED: &str = include_str!("attack_quest/structure_refused.txt");

fn cases(file: &str) -> impl Iterator<Item = &str> {
    file.split("-----\n")
}

const PYTHON_FILE: &str = "tests/added/test_volume_weight.py";
const PYTHON: [&str; 2] = [
    "--function=volume_weight",
    "--test_file=tests/added/test_volume_weight.py",
];
const IMPORTS: &str = "import pytest\nfrom parcels.rates import volume_weight\n";

#[test]
fn python_tests_that_deceive_fail() {
    let play = QuestPlay::of("unit-tests");
    play.scan(&play.beside("functions.jsonl"), &["--max-tries=99"]);
    refused_python(&play);
    python_environment_of_submit(&play);
    python_in_another_encoding(&play);
    python_with_many_faults(&play);
    files_beside_the_python_tests(&play);
    play.put_control("right");
    play.passes(&PYTHON);
}

/// The rule that the first line of a case names, as in `# tests-pass: has no test`.
fn rule_of(case: &str) -> &str {
    let (rule, _) = case[2..].split_once(':').expect("a rule");
    rule
}

fn refused_python(play: &QuestPlay) {
    // Brackets that no parser follows to the end.
    let deep = format!("x = {}{}\n", "(".repeat(5_000), ")".repeat(5_000));
    let plain = cases(PYTHON_REFUSED).chain(["# has NUL\ndef test_a():\n    assert '\0'\n", &deep]);
    let plain = plain.map(|text| ("plain-tests", text));
    let hollow = cases(PYTHON_HOLLOW).map(|text| (rule_of(text), text));
    for (rule, text) in plain.chain(hollow) {
        play.put(PYTHON_FILE, format!("{IMPORTS}{text}"));
        let said = play.submit(&PYTHON);
        let expected = (5, "FAIL".to_owned(), vec![rule.to_owned()]);
        assert_eq!(said, expected, "{text}");
    }
}

/// Where what looks like a comment may be code, nobody sees what runs.
fn python_in_another_encoding(play: &QuestPlay) {
    let tests = "def test_a():\n    assert volume_weight(10, 20, 30) == 1200\n";
    for cookie in [
        "# coding: utf-7",
        "# -*- coding: latin-1 -*-",
        "\r# coding: utf-7",
        "#\r\n# coding: utf-7",
    ] {
        play.put(PYTHON_FILE, format!("{cookie}\n{IMPORTS}{tests}"));
        play.fails(&PYTHON, "plain-tests");
    }
}

fn python_with_many_faults(play: &QuestPlay) {
    let many = "    x.a,\n".repeat(90_000);
    play.put(
        PYTHON_FILE,
        format!("{IMPORTS}def f(x):\n    return [\n{many}    ]\n"),
    );
    play.fails(&PYTHON, "plain-tests");
}

fn files_beside_the_python_tests(play: &QuestPlay) {
    let planted = [
        ("tests/added/conftest.py", "collect_ignore_glob = ['*']\n"),
        ("tests/conftest.py", "import os\nos._exit(0)\n"),
        ("conftest.py", "import os\nos._exit(0)\n"),
        ("pytest.ini", "[pytest]\naddopts = --collect-only\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
        ),
        ("tox.ini", "[pytest]\naddopts = --collect-only\n"),
        (".coveragerc", "[run]\nomit = *\n"),
        ("sitecustomize.py", "import os\nos._exit(0)\n"),
        ("pytest.py", "raise SystemExit(0)\n"),
        ("src/sitecustomize.py", "import os\nos._exit(0)\n"),
        ("src/pytest_cov.py", "raise SystemExit(0)\n"),
        (
            "src/parcels/rates.py",
            "def volume_weight(a, b, c):\n    return 0\n",
        ),
        ("tests/test_rates.py", ""),
        (".comail/plain-tests/ast.py", "raise SystemExit(0)\n"),
        ("junit.xml", "<testsuites/>"),
        ("tests/added/more/test_x.py", ""),
    ];
    for (path, text) in planted {
        play.restore();
        play.put_control("leaves-a-line-out");
        play.put(path, text);
        let (_, verdict, rules) = play.submit(&PYTHON);
        assert_eq!(verdict, "FAIL", "{path}");
        assert!(
            rules.contains(&"only-tests-changed".to_owned()),
            "{path}: {rules:?}"
        );
    }
    // What is compiled and does not belong to the tree is not loaded either.
    play.restore();
    play.put_control("leaves-a-line-out");
    play.put("src/parcels/__pycache__/rates.cpython-311.pyc", "forged");
    play.put("tests/added/test_forge.py", "import os\nos._exit(0)\n");
    play.fails(&PYTHON, "lines-covered");
}

fn python_environment_of_submit(play: &QuestPlay) {
    play.put_control("expects-something-else");
    let forge = play.place.at("forge");
    fs::create_dir(&forge).expect("a folder");
    for name in [
        "sitecustomize.py",
        "usercustomize.py",
        "pytest.py",
        "ast.py",
    ] {
        fs::write(forge.join(name), "import os\nos._exit(0)\n").expect("a file");
    }
    let mut command = play.place.command();
    for name in [
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONUSERBASE",
        "HOME",
        "PATH",
        "XDG_CONFIG_HOME",
    ] {
        command.env(name, &forge);
    }
    command
        .env("PYTEST_ADDOPTS", "--collect-only")
        .env("PYTEST_PLUGINS", "forge")
        .env("COVERAGE_FILE", "elsewhere")
        .env("PACKAGE", "os");
    let run = Run::of(command.arg("submit").args(PYTHON));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stdout.contains("tests-pass"), "{run:?}");
}

const RUST_FILE: &str = "tests/added_with_discount.rs";
const RUST: [&str; 2] = ["--function=with_discount", "--test=added_with_discount"];

#[test]
fn rust_tests_that_deceive_fail() {
    let play = QuestPlay::of("rust-tests");
    play.scan(&play.beside("functions.jsonl"), &["--max-tries=99"]);
    refused_rust(&play);
    cargo_configuration_of_the_agent(&play);
}

fn refused_rust(play: &QuestPlay) {
    for text in cases(RUST_REFUSED) {
        play.put(RUST_FILE, format!("use parcels::with_discount;\n{text}"));
        play.fails(&RUST, "plain-tests");
    }
    play.put(RUST_FILE, "#[test] fn a() { assert!(true); }\n");
    play.fails(&RUST, "tests-bite");
    play.put(RUST_FILE, "fn main() {}\n");
    play.fails(&RUST, "tests-bite");
}

fn cargo_configuration_of_the_agent(play: &QuestPlay) {
    let runner = "[target.'cfg(all())']\nrunner = \"true\"\n";
    // Above the scratch copies, which cargo looks through too.
    fs::create_dir(play.place.at(".cargo")).expect("a folder");
    play.place.write(".cargo/config.toml", runner);
    play.put_control("expects-something-else");
    let mut command = play.place.command();
    command
        .env("CARGO_HOME", play.place.at(".cargo"))
        .env("HOME", play.place.path())
        .env("RUSTFLAGS", "--cfg forged")
        .env("CARGO_BUILD_RUSTC_WRAPPER", "true");
    let run = Run::of(command.arg("submit").args(RUST));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stdout.contains("tests-pass"), "{run:?}");
    for path in [
        ".cargo/config.toml",
        "build.rs",
        "Cargo.toml",
        ".cargo-home/config.toml",
    ] {
        play.restore();
        play.put_control("expects-something-else");
        play.put(path, runner);
        play.fails(&RUST, "only-tests-changed");
    }
}

const ORDERS: [&str; 2] = ["--path=src/stock/orders.py", "--summary=took it all apart"];

#[test]
fn code_that_only_looks_small_or_answers_for_the_tests_fails() {
    let play = QuestPlay::of("structure");
    play.scan(&play.place.at("tree"), &["--max-tries=99"]);
    refused_code(&play);
    code_in_another_encoding_or_file(&play);
    code_with_many_faults(&play);
    play.restore();
    play.put_control("right");
    play.passes(&ORDERS);
}

fn refused_code(play: &QuestPlay) {
    let taxes = play.beside("controls/right/src/stock/taxes.py");
    let taxes = fs::read_to_string(taxes).expect("a file");
    let long = "def f(x):\n".to_owned() + &"    x += 1\n".repeat(20) + "    return x\n";
    let ways = "x = 1\n".to_owned() + &"if x:\n    x = 2\n".repeat(9);
    let text = format!("def f(x):\n    exec({long:?})\n");
    let many = format!("X = [{}]\n", "1, ".repeat(50));
    let short = format!("X = [\n{}]\n", "    1,\u{c}".repeat(50));
    let small: &[&str] = &["small"];
    let both: &[&str] = &["plain-code", "small"];
    let counted = [
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
    let plain = cases(CODE_REFUSED).map(|text| ("see its first line", text, &["plain-code"][..]));
    for (what, text, expected) in counted.into_iter().chain(plain) {
        play.restore();
        play.put_control("right");
        play.put("src/stock/taxes.py", format!("{taxes}\n\n{text}"));
        let (_, verdict, rules) = play.submit(&ORDERS);
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
        play.fails(&ORDERS, "only-source-changed");
    }
}

/// The old code, as text that reads as comments alone.
fn in_utf_7(cookie: &str, source: &str) -> String {
    let code = source.replace('+', "+-").replace('\n', "\n#+AAo-");
    format!("{cookie}\n#+AAo-{code}\n")
}

fn code_in_another_encoding_or_file(play: &QuestPlay) {
    play.restore();
    let old = |name: &str| {
        let path = play.beside(&format!("tree/src/stock/{name}.py"));
        fs::read_to_string(path).expect("a file")
    };
    let (orders, words) = (old("orders"), old("words"));
    for cookie in ["# coding: utf-7", "\r# coding: utf-7"] {
        play.put("src/stock/orders.py", in_utf_7(cookie, &orders));
        play.fails(&ORDERS, "small");
    }
    play.restore();
    play.put("src/stock/orders.py", "from stock.words import total\n");
    play.put("src/stock/words.py", format!("{words}\n\n{orders}"));
    play.fails(&ORDERS, "small");
    play.restore();
    play.put(
        "src/stock/words.py",
        "from stock.orders import count_in_words\n",
    );
    play.put("src/stock/orders.py", format!("{orders}\n\n{words}"));
    let words = ["--path=src/stock/words.py", ORDERS[1]];
    play.fails(&words, "small");
}

fn code_with_many_faults(play: &QuestPlay) {
    play.restore();
    play.put_control("right");
    let many = "    x._a,\n".repeat(80_000);
    play.put(
        "src/stock/more.py",
        format!("def f(x):\n    return [\n{many}    ]\n"),
    );
    let (_, verdict, rules) = play.submit(&ORDERS);
    assert_eq!(verdict, "FAIL");
    assert_eq!(rules, ["plain-code", "small"]);
}
