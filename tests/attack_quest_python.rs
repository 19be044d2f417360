//! Tests of Python that tell a story in place of testing, against `unit-tests.toml`.

use crate::harness::quest_play::QuestPlay;

const FILE: &str = "tests/added/test_volume_weight.py";
const SUBMITTED: [&str; 2] = [
    "--function=volume_weight",
    "--test_file=tests/added/test_volume_weight.py",
];
const IMPORTS: &str = "import pytest\nfrom parcels.rates import volume_weight\n";

/// Tests that reach for more than what they test. The first line says how.
const REFUSED: &[&str] = &[
    "# leaves in the middle\nimport os\ndef test_a():\n    volume_weight(1, 2, 3)\n    os._exit(0)\n",
    "# leaves by another way\ndef test_a():\n    raise SystemExit(0)\n",
    "# leaves the runner\ndef test_a():\n    pytest.exit('done', returncode=0)\n",
    "# skips itself\npytest.skip('later', allow_module_level=True)\n",
    "# is marked to be skipped\n@pytest.mark.skip\ndef test_a():\n    assert volume_weight(1, 2, 3) == 1\n",
    "# is expected to fail\n@pytest.mark.xfail\ndef test_a():\n    assert volume_weight(1, 2, 3) == 9\n",
    "# writes the report at the end\nimport atexit\natexit.register(lambda: open('junit.xml', 'w').write('<testsuites/>'))\n",
    "# writes the counts of lines\ndef test_a():\n    open('coverage.lcov', 'w').write('SF:src/parcels/rates.py')\n",
    "# looks whether the code is the same\nimport inspect\ndef test_a():\n    assert '5' in inspect.getsource(volume_weight)\n",
    "# looks at what is compiled\ndef test_a():\n    assert volume_weight.__code__.co_consts\n",
    "# looks by a pattern\ndef test_a():\n    match volume_weight:\n        case object(__code__=code):\n            assert code\n",
    "# looks by a format\ndef test_a():\n    assert 'x' in '{0.__code__.co_consts}'.format(volume_weight)\n",
    "# reads the frames of an error\ndef test_a():\n    with pytest.raises(ValueError) as info:\n        volume_weight(0, 0, 0)\n    info.tb.tb_frame.f_globals\n",
    "# takes the runner as a fixture\ndef test_a(request):\n    assert volume_weight(1, 2, 30) == 12\n",
    "# patches\ndef test_a(monkeypatch):\n    assert volume_weight(1, 2, 30) == 12\n",
    "# loads a plugin\npytest_plugins = ['forge']\n",
    "# imports from the zone\nfrom test_forge import *\n",
    "# imports by a text\ndef test_a():\n    __import__('os')._exit(0)\n",
    "# runs a text\ndef test_a():\n    eval('1')\n",
    "# hides the built-in\ndef hide():\n    open = 1\ndef test_a():\n    open('junit.xml', 'w')\n",
    "# is no Python\ndef test_a(:\n",
    "# is another encoding\n# coding: utf-7\n+AGkAbQBwAG8AcgB0-\n",
    "# has NUL\ndef test_a():\n    assert '\0'\n",
];

/// The rule by which tests that show nothing are found.
const HOLLOW: &[(&str, &str)] = &[
    ("tests-pass", "# has no test\n"),
    (
        "lines-covered",
        "# asks nothing\ndef test_a():\n    assert True\n",
    ),
    (
        "lines-covered",
        "# prints a tally\ndef test_a():\n    assert 'PASSED' in '5 PASSED'\n",
    ),
    (
        "tests-bite",
        "# runs and asks nothing of the value\ndef test_runs():\n    volume_weight(1, 2, 3)\n    try_it = volume_weight(4, 5, 6)\n    with pytest.raises(ValueError):\n        volume_weight(0, 1, 1)\n",
    ),
    (
        "lines-covered",
        "# asks nothing of what it refuses\ndef test_a():\n    assert volume_weight(10, 20, 30) == 1200\n",
    ),
    (
        "lines-covered",
        "# puts another function in its place\ndef volume_weight(a, b, c):\n    return 1200\ndef test_a():\n    assert volume_weight(10, 20, 30) == 1200\n",
    ),
];

// One session for all: at each scan the gate stands its controls.
#[test]
fn nothing_but_tests_that_test_passes() {
    let play = QuestPlay::of("unit-tests");
    play.scan(&play.beside("functions.jsonl"), &["--max-tries=99"]);
    no_test_tells_a_story(&play);
    the_environment_of_whoever_submits_does_not_count(&play);
    another_encoding_is_refused(&play);
    code_with_very_much_wrong_about_it_is_wrong(&play);
    nothing_beside_the_tests_is_changed(&play);
    play.put_control("right");
    play.passes(&SUBMITTED);
}

fn no_test_tells_a_story(play: &QuestPlay) {
    let refused = REFUSED.iter().map(|text| ("plain-tests", *text));
    // Brackets that no parser follows to the end.
    let deep = format!("x = {}{}\n", "(".repeat(5_000), ")".repeat(5_000));
    let cases = refused.chain(HOLLOW.iter().copied());
    for (rule, text) in cases.chain([("plain-tests", &*deep)]) {
        play.put(FILE, format!("{IMPORTS}{text}"));
        let (_, verdict, rules) = play.submit(&SUBMITTED);
        assert_eq!(
            (&*verdict, rules),
            ("FAIL", vec![rule.to_owned()]),
            "{text}"
        );
    }
}

/// Where what looks like a comment may be code, nobody sees what runs.
fn another_encoding_is_refused(play: &QuestPlay) {
    let tests = "def test_a():\n    assert volume_weight(10, 20, 30) == 1200\n";
    for cookie in [
        "# coding: utf-7",
        "# -*- coding: latin-1 -*-",
        "\r# coding: utf-7",
        "#\r\n# coding: utf-7",
    ] {
        play.put(FILE, format!("{cookie}\n{IMPORTS}{tests}"));
        play.fails(&SUBMITTED, "plain-tests");
    }
}

fn code_with_very_much_wrong_about_it_is_wrong(play: &QuestPlay) {
    let many = "    x.a,\n".repeat(90_000);
    play.put(
        FILE,
        format!("{IMPORTS}def f(x):\n    return [\n{many}    ]\n"),
    );
    play.fails(&SUBMITTED, "plain-tests");
}

fn nothing_beside_the_tests_is_changed(play: &QuestPlay) {
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
        let (_, verdict, rules) = play.submit(&SUBMITTED);
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
    play.fails(&SUBMITTED, "lines-covered");
}

fn the_environment_of_whoever_submits_does_not_count(play: &QuestPlay) {
    play.put_control("expects-something-else");
    let forge = play.place.at("forge");
    std::fs::create_dir(&forge).expect("a folder");
    for name in [
        "sitecustomize.py",
        "usercustomize.py",
        "pytest.py",
        "ast.py",
    ] {
        std::fs::write(forge.join(name), "import os\nos._exit(0)\n").expect("a file");
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
    let run = crate::harness::Run::of(command.arg("submit").args(SUBMITTED));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.stdout.contains("tests-pass"), "{run:?}");
}
