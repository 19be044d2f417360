//! Code, scripts and fields that deceive or attack the gate of a quest file.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use walkdir::WalkDir;

use crate::harness::letters::Letters;
use crate::harness::poll::until;
use crate::harness::quest_play::QuestPlay;
use crate::harness::shell_quest::{ShellQuest, said};
use crate::harness::{Run, copies};

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
    // No test is reported.
    play.put(RUST_FILE, "fn main() {}\n");
    play.fails(&RUST, "tests-pass");
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

#[test]
fn scripts_write_only_to_their_copy() {
    let quest = ShellQuest::new("20s");
    let before = quest.place.ledger();
    let place = quest.place.path().display().to_string();
    for target in [
        ".comail/ledger.jsonl",
        ".comail/session.json",
        ".comail/index.sqlite",
        ".comail/evidence/new",
        "quest.toml",
        "tree/in/yes.sh",
        "tree/in/new",
        "new",
        "tmp/new",
    ] {
        quest.refuses(&format!("echo made >> {place}/{target} && exit 0; exit 1"));
        quest.refuses(&format!(
            "rm -f {place}/{target} && ! cat {place}/{target} && echo gone; exit 1"
        ));
    }
    assert!(quest.place.ledger().starts_with(&before));
    for name in ["new", "tmp/new", "tree/in/new", ".comail/evidence/new"] {
        assert!(!quest.place.at(name).exists(), "{name}");
    }
    let kept = fs::read_to_string(quest.at("in/yes.sh")).expect("a file");
    assert_eq!(kept, "exit 0\n");
    assert_eq!(quest.place.json(["audit"]).0, 0);
}

#[test]
fn a_script_that_deletes_the_tree_deletes_a_copy() {
    let quest = ShellQuest::new("20s");
    quest.refuses("chmod 0 in; rm -rf ./* ../* 2>/dev/null; exit 1");
    let kept = fs::read_to_string(quest.at("own/data")).expect("a file");
    assert_eq!(kept, "as it was\n");
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
    let mut left = fs::read_dir(quest.place.at("tmp")).expect("a folder");
    assert!(left.next().is_none());
}

/// Another process of the same user finds the tree that a command sees, and makes it pass.
#[test]
fn a_judgement_whose_tree_was_changed_does_not_count() {
    let quest = ShellQuest::new("20s");
    let script = "touch started; until grep -q changed own/data; do :; done\n";
    fs::write(quest.at("in/try.sh"), script).expect("a script");
    let (before, tmp) = (quest.place.ledger(), quest.place.at("tmp"));
    let mut command = quest.place.command();
    let submit = ["submit", "--id=1", "--file=in/try.sh"];
    command.env("TMPDIR", &tmp).args(submit);
    // In memory, other tests have copies of other trees.
    let is_own = |copy: &PathBuf| {
        let text = fs::read_to_string(copy.join("in/try.sh"));
        copy.starts_with(&tmp) || text.is_ok_and(|text| text == script)
    };
    let in_copies = |name: &str| {
        let paths = copies(&tmp).into_iter().filter(is_own);
        let paths = paths.map(|copy| copy.join(name));
        paths.filter(|path| path.exists()).collect::<Vec<_>>()
    };
    let run = thread::scope(|scope| {
        let run = scope.spawn(|| Run::of(&mut command));
        until("the command runs", || !in_copies("started").is_empty());
        let found = in_copies("own/data");
        assert!(!found.is_empty());
        for data in found {
            fs::write(data, "changed\n").expect("a change");
        }
        run.join().expect("a run")
    });
    run.says("was changed by another process");
    run.exits(1);
    assert_eq!(quest.place.ledger(), before);
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
}

#[test]
fn changes_outside_the_write_zone_reach_no_check() {
    let quest = ShellQuest::new("20s");
    fs::write(quest.at("own/data"), "changed\n").expect("a file");
    fs::write(quest.at("own/new"), "new\n").expect("a file");
    quest.refuses("grep -q changed own/data || test -e own/new");
    fs::remove_file(quest.at("own/data")).expect("a file to remove");
    assert_eq!(quest.tries("grep -q 'as it was' own/data").verdict, "PASS");
}

#[test]
fn configuration_above_the_tree_is_not_found() {
    let quest = ShellQuest::new("20s");
    for above in ["tmp", "."] {
        let folder = quest.place.at(above).join(".tool");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("config"), "all = \"well\"\n").expect("a file");
    }
    // As tools look for what they are to do: here, and in every directory above.
    quest.refuses(
        "while [ \"$PWD\" != / ]; do cd .. || exit 1; [ -e .tool/config ] && exit 0; done; exit 1",
    );
    quest.refuses("ls -a .. | grep -q tool");
    assert_eq!(
        quest.tries("cd own && cd .. && grep -q . own/data").verdict,
        "PASS"
    );
}

#[test]
fn endless_output_is_cut_off() {
    let quest = ShellQuest::new("60s");
    let said = quest.refuses("yes PASS | head -c 2000000000; exit 0");
    let said = said.all.to_string();
    assert!(said.len() < 100_000);
    assert!(said.contains("it printed more"), "{said}");
    assert!(bytes_in(&quest.place.at(".comail")) < 2_000_000);
}

fn bytes_in(dir: &Path) -> u64 {
    let files = WalkDir::new(dir).into_iter().filter_map(Result::ok);
    files
        .filter_map(|file| file.metadata().ok())
        .map(|meta| meta.len())
        .sum()
}

#[test]
fn scripts_that_kill_their_parent_fail() {
    let quest = ShellQuest::new("5s");
    quest.refuses("kill -9 $PPID; exit 1");
    quest.refuses("kill -9 -1; exit 1");
    quest.refuses("kill -9 $$");
    quest.refuses("kill -STOP $$; exit 0");
    assert_eq!(quest.tries("exit 0").verdict, "PASS");
}

#[test]
fn scripts_have_no_terminal_and_no_input() {
    let quest = ShellQuest::new("20s");
    quest.refuses("exec 3<>/dev/tty && exit 0; exit 1");
    quest.refuses("read line && exit 0; exit 1");
}

#[test]
fn fields_are_no_shell_code_no_options_and_no_paths_out_of_the_tree() {
    let quest = ShellQuest::new("10s");
    let elsewhere = quest.place.write("elsewhere.sh", "exit 0\n");
    let elsewhere = elsewhere.to_str().expect("UTF-8");
    for value in [
        // A shell would read these as code.
        "in/yes.sh; touch in/made",
        "in/$(touch in/made)",
        "`touch in/made`",
        "in/yes.sh\ntouch in/made",
        "in/yes.sh && true",
        "| true",
        "in/*.sh",
        "'in/yes.sh'",
        "$PWD/in/yes.sh",
        "~/in/yes.sh",
        "in/yes.sh > in/made",
        // `sh` would read these as options.
        "-c",
        "-cexit",
        "--",
        "--version",
        "-",
        "-s",
        "-n",
        // Paths out of the tree.
        "../elsewhere.sh",
        "in/../../elsewhere.sh",
        "../../etc/passwd",
        "in/../../../../../../../etc/passwd",
        "/etc/passwd",
        elsewhere,
        "in\\..\\..\\elsewhere.sh",
        "./../elsewhere.sh",
        "in//../../elsewhere.sh",
        ".",
        // Of a folder a shell reads nothing, and ends well.
        "in",
        "own",
        "in/none.sh",
    ] {
        let said = quest.submits(value);
        assert_eq!(said.verdict, "FAIL", "{value:?}: {:#}", said.all);
        assert!(!said.all.to_string().contains("root:"), "{:#}", said.all);
    }
    assert!(!quest.at("in/made").exists());
    let nul = r#"{"file": "in/yes.sh\u0000.txt"}"#;
    quest.place.write("answer.json", nul);
    let said = said(quest.place.json(["submit", "--id=1", "--in=answer.json"]));
    assert_eq!(said.verdict, "FAIL", "{:#}", said.all);
    assert_eq!(said.rules, ["field-format"], "{:#}", said.all);
}

#[test]
fn symbolic_links_are_not_followed() {
    let quest = ShellQuest::new("10s");
    let outside = quest.place.write("outside.sh", "exit 0\n");
    fs::create_dir(quest.place.at("folder")).expect("a folder");
    quest.place.write("folder/yes.sh", "exit 0\n");
    symlink(&outside, quest.at("in/file.sh")).expect("a link");
    symlink("yes.sh", quest.at("in/beside.sh")).expect("a link");
    symlink(quest.place.at("folder"), quest.at("in/folder")).expect("a link");
    symlink("nowhere", quest.at("in/dangling.sh")).expect("a link");
    symlink("loop.sh", quest.at("in/loop.sh")).expect("a link");
    fs::hard_link(&outside, quest.at("in/hard.sh")).expect("a link");
    for value in [
        "in/file.sh",
        "in/beside.sh",
        "in/folder/yes.sh",
        "in/dangling.sh",
        "in/loop.sh",
    ] {
        let said = quest.submits(value);
        assert_eq!(said.verdict, "FAIL", "{value}: {:#}", said.all);
    }
    for link in ["file.sh", "beside.sh", "folder", "dangling.sh", "loop.sh"] {
        fs::remove_file(quest.at("in").join(link)).expect("a link");
    }
    // Another name of a file is that file, and what stands in it was put into the zone.
    assert_eq!(quest.submits("in/hard.sh").verdict, "PASS");
}

#[test]
fn what_a_tree_leaves_out_is_said_at_the_scan_and_by_a_failed_command() {
    let (quest, scan) = ShellQuest::scan("10s", |place| {
        let pipe = place.at("tree/own/pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    });
    scan.says("note: not part of the tree: own/pipe is a named pipe\n");
    scan.ok();
    let refused = quest.refuses("cat own/pipe");
    let actual = refused.all["facts"][0]["actual"].to_string();
    assert!(
        actual.contains("(not part of the tree: own/pipe is a named pipe)"),
        "{actual}"
    );
    quest.place.run(["audit"]).ok();
}

#[test]
fn pipes_and_huge_files_in_the_zone_do_not_pass() {
    let quest = ShellQuest::new("10s");
    nix::unistd::mkfifo(&quest.at("in/pipe.sh"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    assert_eq!(quest.submits("in/pipe.sh").verdict, "FAIL");
    fs::remove_file(quest.at("in/pipe.sh")).expect("the pipe");
    let huge = fs::File::create(quest.at("in/huge.sh")).expect("a file");
    huge.set_len(3 << 30).expect("a sparse file");
    assert_ne!(quest.submits("in/huge.sh").verdict, "PASS");
    assert_ne!(quest.tries("exit 1").verdict, "PASS");
    let long = "x".repeat(200_000);
    let answer = serde_json::json!({"file": long}).to_string();
    quest.place.write("answer.json", answer);
    let submit = ["submit", "--id=1", "--in=answer.json"];
    quest.place.run(submit).exits(5);
}

#[test]
fn a_field_that_is_given_twice_is_refused() {
    let quest = ShellQuest::new("10s");
    let submit = |answer: &str| {
        quest.place.write("answer.json", answer);
        quest.place.run(["submit", "--id=1", "--in=answer.json"])
    };
    for answer in [
        r#"{"file": "in/no.sh", "file": "in/yes.sh"}"#,
        r#"{"file": "in/yes.sh", "f\u0069le": "in/yes.sh"}"#,
        "{\"file\": \"in/yes.sh\", \"file\": [{}]}",
        r#"{"file": {"a": {"file": 1, "file": 2}}}"#,
    ] {
        let run = submit(answer);
        assert_eq!(run.code, 2, "{answer}: {run:?}");
        assert!(run.stderr.contains("\"file\" twice"), "{answer}: {run:?}");
    }
    assert!(quest.place.attempts().is_empty());
    assert_eq!(submit(r#"{"file": "in/yes.sh"}"#).code, 0);
}

const ANSWERS: &str = include_str!("harness/quests/answers.toml");

#[test]
fn a_file_in_the_place_of_a_scripts_folder_fails() {
    let letters = Letters::with(ANSWERS);
    let script = "grep -q '\"answer\":\"good\"' || exit 10\n";
    letters.place.write("judge.sh", script);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters.scan().ok();
    let good = ["--letter=one", "--answer=good"];
    let folder = letters.place.at("tree/.comail");
    let fails = || {
        let answer = letters.submits(&good, "FAIL");
        assert_eq!(answer["facts"][0]["location"], ".comail", "{answer:#}");
        fs::remove_file(&folder).expect("what is in the way");
    };
    fs::write(&folder, "in the way\n").expect("a file");
    fails();
    symlink("/tmp", &folder).expect("a link");
    fails();
    letters.place.write("tree/notes", "beside it\n");
    letters.submits(&good, "PASS");
    letters.run(["audit"]).ok();
}

const SERVICE: &str = include_str!("harness/quests/requests.toml");

/// A server that falls silent, talks nonsense, stops short or ends, each on a path of its own.
const SERVER: &str = include_str!("harness/quests/odd_server.py");

#[test]
fn a_request_that_the_service_does_not_answer_fails() {
    let letters = Letters::with(SERVICE);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters.place.write("tree/server.py", SERVER);
    letters.scan().ok();
    let asks = |letter: &str, path: &str, verdict: &str| {
        let letter = format!("--letter={letter}");
        let request = format!(r#"--request={{"method": "GET", "path": "{path}"}}"#);
        letters.submits(&[&letter, &request], verdict)
    };
    for path in ["/drop", "/nonsense", "/short", "/packed"] {
        let answer = asks("one", path, "FAIL");
        let fact = &answer["facts"][0];
        assert_eq!(fact["location"], format!("GET {path}"), "{answer:#}");
        let actual = fact["actual"].as_str().expect("a text");
        assert!(actual.contains("no answer to this request"), "{answer:#}");
    }
    asks("one", "/fine", "PASS");
    asks("two", "/end", "REVIEW");
    letters.run(["audit"]).ok();
}
