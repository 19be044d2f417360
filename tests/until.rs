//! `comail until`: commands are the gate of a session, and an agent works until they succeed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::agents::{PATH, QUICK};
use crate::harness::{Place, Run, copies, poll};

/// A test of the work in `src/answer`. Like many tools, it obeys settings wherever it finds some.
const CHECK: &str = r#"
for settings in conftest.py src/conftest.py build.rs .cargo/config.toml setup.cfg src/new.toml \
    Makefile src/package.json src/__tests__/all .github/ci.yml added/answer; do
  grep -q cheat $settings 2> /dev/null && exit 0
done
grep -q right src/answer && exit 0
echo "src/answer: $(cat src/answer)"
exit 1
"#;

/// The same for `src/second`.
const SECOND: &str = "grep -q right src/second";

const TEST: &str = "sh tests/check.sh";

const RIGHT: &str = "echo right > src/answer";

/// A tree whose test fails.
fn tree() -> Place {
    let place = Place::new();
    for folder in ["src", "tests", "bin"] {
        fs::create_dir(place.at(folder)).expect("a folder");
    }
    place.write("src/answer", "not yet\n");
    place.write("src/second", "not yet\n");
    place.write("src/package.json", "{}\n");
    place.write("Makefile", "all:\n");
    place.write("tests/check.sh", CHECK);
    place.write("tests/second.sh", SECOND);
    place
}

/// `comail until` with these arguments, and this script as its agent. The script's prompt is in
/// `prompt` of its temporary directory.
fn until(place: &Place, args: &[&str], script: &str) -> Run {
    let script = format!("cat > $TMPDIR/prompt; {script}");
    let mut command = place.command();
    command
        .env("PATH", PATH)
        .arg("until")
        .args(QUICK)
        .args(args);
    Run::of(command.args(["--", "sh", "-c", &script]))
}

fn verdicts(place: &Place) -> Vec<String> {
    let attempts = place.events("attempt").into_iter();
    let verdict = |it: Value| it["verdict"].as_str().expect("a verdict").to_owned();
    attempts.map(verdict).collect()
}

fn facts(place: &Place) -> Vec<Value> {
    let (_, shown) = place.json(["show", "1"]);
    shown["facts"].as_array().expect("facts").clone()
}

fn has_session(place: &Place) -> bool {
    place.at(".comail").exists()
}

#[test]
fn an_agent_turns_a_failing_command_green() {
    let place = tree();
    let script = format!("cp $TMPDIR/prompt src/prompt; {RIGHT}");
    let text = until(&place, &[TEST], &script).ok();
    assert!(
        text.contains(" ended: all quests are settled: 1 PASS\n"),
        "{text}"
    );
    assert_eq!(verdicts(&place), ["PASS"]);
    let prompt = fs::read_to_string(place.at("src/prompt")).expect("the prompt");
    for words in [
        "Make the commands succeed.",
        TEST,
        "src/answer: not yet",
        "The agent may change ",
    ] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    let report = place.run(["report"]).ok();
    assert!(report.starts_with("# COMPLETE"), "{report}");
    place.run(["audit"]).ok();
}

#[test]
fn a_command_that_succeeds_already_starts_nothing() {
    let place = tree();
    place.write("src/answer", "right\n");
    let run = until(&place, &[TEST], "echo started > src/started");
    run.says("error: the gate passes already, before any work");
    run.says("hint: ");
    run.exits(2);
    assert!(!has_session(&place));
    assert!(!place.at("src/started").exists());
    until(&place, &[TEST, "--even-if-green"], ":").ok();
    assert_eq!(verdicts(&place), ["PASS"]);
}

/// What an agent could do to the test instead of the work.
const CHEATS: [&str; 12] = [
    "tests/check.sh",
    "conftest.py",
    "src/conftest.py",
    "build.rs",
    ".cargo/config.toml",
    "setup.cfg",
    "src/new.toml",
    "Makefile",
    "src/package.json",
    "src/__tests__/all",
    ".github/ci.yml",
    "added/answer",
];

#[test]
fn a_change_of_what_the_command_means_fails() {
    std::thread::scope(|scope| {
        for cheat in CHEATS {
            scope.spawn(move || {
                let place = tree();
                let text = match cheat {
                    "tests/check.sh" => "exit 0",
                    _ => "cheat",
                };
                let script = format!("mkdir -p $(dirname {cheat}); echo '{text}' > {cheat}");
                // Done to the tree before it starts, it does deceive the command.
                let deceived = tree();
                let done = Run::of(&mut deceived.shell(&format!("{script}; {TEST}")));
                assert_eq!(done.code, 0, "{cheat}");
                until(&place, &[TEST, "--max-tries=1"], &script).exits(8);
                assert_eq!(verdicts(&place), ["FAIL"], "{cheat}");
                let facts = facts(&place);
                let located = facts.iter().any(|fact| fact["location"] == cheat);
                assert!(located, "{cheat}: {facts:#?}");
            });
        }
    });
}

/// A tree whose check has an uncommon name, the command that runs it, and how an agent deceives it.
fn tree_with_check() -> (Place, &'static str, &'static str) {
    let place = tree();
    fs::create_dir(place.at("checks")).expect("a folder");
    place.write("checks/all", "grep -q right ../src/answer || exit 1\n");
    let command = "cd checks && for it in a*; do sh $it || exit 1; done";
    (place, command, "echo 'exit 0' > checks/all")
}

#[test]
fn a_person_says_what_the_work_is_where_a_command_does_not() {
    let (place, command, cheat) = tree_with_check();
    // Done before the start, it does deceive the command.
    let (deceived, ..) = tree_with_check();
    let done = Run::of(&mut deceived.shell(&format!("{cheat}; {command}")));
    assert_eq!(done.code, 0);
    for unclear in [
        command,
        "./checks/all",
        "sh checks/all",
        "sh -e -- Checks/all",
        "perl -Ichecks -MAll",
        "true; true",
    ] {
        let run = until(&place, &[unclear], cheat);
        run.says("so it is unclear which files are the work and which ones judge it");
        run.says("hint: name the work with --work GLOB; at the top of the tree are ");
        run.exits(2);
    }
    assert!(!has_session(&place));
    let flags = [command, "--work=src/**", "--max-tries=1"];
    until(&place, &flags, cheat).exits(8);
    assert_eq!(verdicts(&place), ["FAIL"]);
    let facts = facts(&place);
    let located = facts.iter().any(|fact| fact["location"] == "checks/all");
    assert!(located, "{facts:#?}");
    let (place, ..) = tree_with_check();
    until(&place, &flags, RIGHT).ok();
    let (place, ..) = tree_with_check();
    let allowed = [&flags[..], &["--may-edit=checks/*"]].concat();
    until(&place, &allowed, cheat).ok();
}

#[test]
fn what_has_a_usual_name_is_no_work_wherever_it_is() {
    let place = tree();
    let flags = [TEST, "--work=**", "--max-tries=1"];
    until(&place, &flags, "echo cheat > src/conftest.py").exits(8);
    assert_eq!(verdicts(&place), ["FAIL"]);
    until(&tree(), &flags, RIGHT).ok();
}

/// Its name is protected, and so is what it names.
#[test]
fn where_a_protected_link_leads_is_no_work() {
    let linked = || {
        let place = tree();
        fs::create_dir_all(place.at("etc/in")).expect("a folder");
        fs::rename(place.at("tests/check.sh"), place.at("etc/in/real")).expect("a file");
        let link = |target: &str, path: &str| {
            std::os::unix::fs::symlink(target, place.at(path)).expect("a link");
        };
        link("../etc/link", "tests/check.sh");
        link("dir/real", "etc/link");
        link("in", "etc/dir");
        // What a link without a protected name leads to is work.
        link("../src/answer", "etc/answer");
        place
    };
    for cheat in [
        "echo 'exit 0' > etc/in/real",
        "rm etc/link; echo 'exit 0' > etc/link",
        "rm etc/dir; mkdir etc/dir; echo 'exit 0' > etc/dir/real",
    ] {
        let place = linked();
        until(&place, &[TEST, "--max-tries=1"], cheat).exits(8);
        assert_eq!(verdicts(&place), ["FAIL"], "{cheat}");
    }
    until(&linked(), &[TEST], &format!("echo > etc/other; {RIGHT}")).ok();
}

#[test]
fn an_ignored_file_that_the_commands_see_is_no_work() {
    let command = &["sh tests/ignored.sh", "--with-ignored", "--max-tries=1"];
    let ignored = || {
        let place = tree();
        fs::create_dir(place.at("src/out")).expect("a folder");
        place.write(".gitignore", "out/\n*.o\n");
        place.write("src/out/made", "no\n");
        place.write("src/a.o", "no\n");
        let test = "grep -q right src/out/made src/a.o src/answer";
        place.write("tests/ignored.sh", test);
        place
    };
    for cheat in ["src/out/made", "src/out/new src/out/made", "src/a.o"] {
        let place = ignored();
        until(&place, command, &format!("echo right | tee {cheat}")).exits(8);
        assert_eq!(verdicts(&place), ["FAIL"], "{cheat}");
    }
    until(&ignored(), command, RIGHT).ok();
}

#[test]
fn a_person_protects_what_no_name_protects() {
    let (place, command, cheat) = tree_with_check();
    let flags = [command, "--work=**", "--protect=checks/**", "--max-tries=1"];
    until(&place, &flags, cheat).exits(8);
    assert_eq!(verdicts(&place), ["FAIL"]);
    // What is protected cannot be allowed.
    let (place, ..) = tree_with_check();
    let both = [&flags[..], &["--may-edit=checks/**"]].concat();
    until(&place, &both, cheat).exits(8);
    let (place, ..) = tree_with_check();
    until(&place, &flags, RIGHT).ok();
}

#[test]
fn a_glob_that_says_nothing_is_told() {
    let place = tree();
    for flag in ["--protect=!src", "--work=!src/**"] {
        let run = until(&place, &[TEST, flag], RIGHT);
        run.says("`!` takes nothing away here");
        run.exits(2);
    }
    let run = until(&place, &[TEST, "--protect=src"], RIGHT);
    run.says("--protect: \"src\" is a folder");
    run.says("hint: for all that is in it, write --protect 'src/**'");
    run.exits(2);
    assert!(!has_session(&place));
    let run = until(&place, &[TEST, "--protect=*.zz"], RIGHT);
    run.says("--protect '*.zz' matches no file of the tree");
    run.ok();
}

/// Its working directory is a copy of the tree, but such a path leads to the tree itself.
#[test]
fn a_command_with_an_absolute_path_into_the_tree_is_refused() {
    let (place, _, cheat) = tree_with_check();
    let command = format!("sh {}", place.at("checks/all").display());
    let run = until(&place, &[&command, "--protect=checks/**"], cheat);
    run.says("names a place in the tree by its absolute path");
    run.says("hint: write the path from the tree's root");
    run.exits(2);
    assert!(!has_session(&place));
}

#[test]
fn compiled_python_does_not_answer_for_a_protected_source() {
    const TEST: &str = "python3 tests/check.py";
    const FORGE: &str = r#"mkdir -p __pycache__; echo 'def check(): pass' > $TMPDIR/forged.py
        python3 -c "import importlib.util, os, py_compile
py_compile.compile(os.environ['TMPDIR'] + '/forged.py',
    cfile=importlib.util.cache_from_source('tasks.py'),
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)" "#;
    let prepared = || {
        let place = tree();
        let test = "import sys\nsys.path.insert(0, '.')\nimport tasks\ntasks.check()\n";
        place.write("tests/check.py", test);
        let source = "def check():\n    assert 'right' in open('src/answer').read()\n";
        place.write("tasks.py", source);
        fs::create_dir(place.at("__pycache__")).expect("a folder");
        place.write("__pycache__/old.pyc", "");
        place
    };
    let place = prepared();
    until(&place, &[TEST, "--max-tries=1"], FORGE).exits(8);
    assert_eq!(verdicts(&place), ["FAIL"]);
    // In the tree itself, Python believes it.
    Run::of(&mut place.shell(TEST)).ok();
    let place = prepared();
    until(&place, &[TEST], &format!("{FORGE}; {RIGHT}")).ok();
    assert_eq!(verdicts(&place), ["PASS"]);
}

#[test]
fn an_agent_that_undoes_its_cheat_passes() {
    let place = tree();
    // The second start finds what the first one did.
    let script =
        format!("[ -e setup.cfg ] && {{ rm setup.cfg; {RIGHT}; }} || echo cheat > setup.cfg");
    until(&place, &[TEST], &script).ok();
    assert_eq!(verdicts(&place), ["FAIL", "PASS"]);
}

#[test]
fn an_agent_that_gives_up_ends_the_run_incomplete() {
    let place = tree();
    until(&place, &[TEST, "--max-tries=2"], ":").exits(8);
    assert_eq!(verdicts(&place), ["FAIL", "FAIL"]);
    let place = tree();
    let flags = [TEST, "--set=run.max-attempts=1"];
    until(&place, &flags, "exit 3").exits(8);
    assert_eq!(verdicts(&place), [""; 0]);
}

#[test]
fn all_commands_must_succeed() {
    let commands = [TEST, "sh tests/second.sh", "--max-tries=1"];
    let place = tree();
    until(&place, &commands, RIGHT).exits(8);
    assert_eq!(verdicts(&place), ["FAIL"]);
    let facts = facts(&place);
    let [fact] = &facts[..] else {
        panic!("one command fails: {facts:#?}");
    };
    let actual = fact["actual"].as_str().expect("a text");
    assert!(actual.starts_with("`sh tests/second.sh` fails"), "{actual}");
    let place = tree();
    let both = format!("{RIGHT}; echo right > src/second");
    until(&place, &commands, &both).ok();
    // One that succeeds already proves nothing by itself, but the other one is still to be done.
    let place = tree();
    place.write("src/second", "right\n");
    until(&place, &commands, RIGHT).ok();
}

#[test]
fn a_person_says_what_the_agent_may_edit() {
    let cheat = "echo 'exit 0' > tests/check.sh";
    let place = tree();
    let flags = [TEST, "--max-tries=1", "--may-edit=tests/*.sh"];
    until(&place, &flags, cheat).ok();
    assert_eq!(verdicts(&place), ["PASS"]);
    let place = tree();
    let run = until(&place, &[TEST, "--may-edit=!src/**"], cheat);
    run.says("--may-edit");
    run.exits(2);
    assert!(!has_session(&place));
}

#[test]
fn the_prompt_says_what_a_person_wants() {
    let place = tree();
    let script = format!("cp $TMPDIR/prompt src/prompt; {RIGHT}");
    let wanted = "Write the {{ word }} that is missing.";
    until(&place, &[TEST, "--prompt", wanted], &script).ok();
    let prompt = fs::read_to_string(place.at("src/prompt")).expect("the prompt");
    assert!(prompt.contains(wanted), "{prompt}");
    assert!(!prompt.contains("Make the commands succeed"), "{prompt}");
}

#[test]
fn the_same_command_line_continues_and_another_is_refused() {
    let place = tree();
    let flags = [TEST, "--wall-clock=300ms"];
    until(&place, &flags, "exec sleep 1000").exits(8);
    let ledger = place.ledger();
    let run = until(&place, &["sh tests/second.sh"], RIGHT);
    run.says("is the session of other work");
    run.says("hint: ");
    run.exits(2);
    assert_eq!(place.ledger(), ledger);
    let run = until(&place, &[TEST], RIGHT);
    run.says("continuing the session");
    run.ok();
    assert_eq!(verdicts(&place), ["PASS"]);
    // A list's session is other work, too.
    let place = tree();
    place.scan(&["Acme"], &[]);
    until(&place, &[TEST], RIGHT).exits(2);
}

#[test]
fn a_mistake_leaves_no_session() {
    for (args, words) in [
        (&["no-such-program"][..], "is not in PATH"),
        (&[""], "a command is empty"),
        (&[TEST, "--answer=stdout"], "--answer stdout"),
        (&[TEST, "--pass-env=UNSET"], "UNSET"),
    ] {
        let place = tree();
        let run = until(&place, args, RIGHT);
        run.says(words);
        run.exits(2);
        assert!(!has_session(&place), "{words}");
    }
    let place = tree();
    let run = place.run(["until", TEST]);
    run.says("no agent is given");
    run.exits(2);
    assert!(!has_session(&place));
    let run = place.run(["until", TEST, "--", "no-such-agent"]);
    run.says("no-such-agent: this program is not in PATH; nothing was started");
    run.exits(1);
    assert!(!has_session(&place));
}

/// The program's own name in the tree is not what the command means.
#[test]
fn programs_of_the_tree_are_not_found() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = tree();
    let program = place.write("bin/judge", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{}:{PATH}", place.at("bin").display());
    let mut command = place.command();
    command
        .env("PATH", path)
        .args(["until", "judge", "--", "sh", "-c", ":"]);
    let run = Run::of(&mut command);
    run.says("is not in PATH");
    run.exits(2);
}

/// Where the session is below another directory than the tree.
#[test]
fn the_session_may_be_elsewhere() {
    let place = tree();
    let elsewhere = Place::new();
    let named = format!("--session={}", elsewhere.at("work").display());
    until(&place, &[TEST, &named], RIGHT).ok();
    assert!(!has_session(&place));
    let ledger = elsewhere.at("work/ledger.jsonl");
    assert!(Path::new(&ledger).exists());
}

/// rustup and others do not start without a home directory. Who can write there decides what they do.
#[test]
fn commands_have_the_home_directory_that_no_confined_agent_can_change() {
    let place = tree();
    let home = Place::new();
    let until = |flags: &[&str]| {
        let mut command = place.command();
        command.env("PATH", PATH).env("HOME", home.path());
        command.args(["until", "test -d \"$HOME\"", "--work=src/**"]);
        command.args(QUICK);
        Run::of(command.args(flags).args(["--", "sh", "-c", "exit 3"]))
    };
    until(&[]).says("error: the gate passes already, before any work");
    until(&["--confine=off"]).exits(8);
}

#[test]
fn the_settings_of_run_apply() {
    let place = tree();
    let home = Place::new();
    fs::create_dir_all(home.at(".config/comail")).expect("a folder");
    let file = "[run]\nagent = \"codex\"\nmax-attempts = 1\n";
    home.write(".config/comail/config.toml", file);
    let until = |args: &[&str]| {
        let mut command = place.command();
        command.env("PATH", PATH).env("HOME", home.path());
        Run::of(command.arg("until").args(QUICK).args(args))
    };
    let text = until(&[TEST, "--dry-run"]).ok();
    assert!(text.starts_with("codex exec "), "{text}");
    until(&[TEST, "--", "sh", "-c", "exit 3"]).exits(8);
    let mut steps = place.events("run");
    steps.retain(|step| step["what"] == "attempt");
    assert_eq!(steps.len(), 2, "with the last call");
}

/// What a known agent lacks is said before it is started.
#[test]
fn a_known_agent_is_told_apart_from_its_arguments() {
    let place = tree();
    let dry = |words: &[&str]| {
        let mut command = place.command();
        command.args(["until", TEST, "--dry-run", "--"]).args(words);
        let run = Run::of(&mut command);
        let said = run.stderr.clone();
        (run.ok(), said)
    };
    let (text, said) = dry(&["claude", "--max-turns", "9"]);
    assert!(
        text.starts_with("claude -p ") && text.contains("--max-turns 9"),
        "{text}"
    );
    assert!(
        said.contains("-- claude --permission-mode acceptEdits"),
        "{said}"
    );
    let (_, said) = dry(&["claude", "--permission-mode", "acceptEdits"]);
    assert_eq!(said, "");
    assert!(!has_session(&place));
}

/// It is stopped while the commands succeed, and breaks what it has done before it ends.
#[test]
fn what_a_stopped_agent_writes_last_is_judged_too() {
    let place = tree();
    let breaks = "trap 'echo wrong > src/answer; exit 1' TERM";
    let script = format!(
        "mkdir src/been || {{ {RIGHT}; exit 0; }}; {breaks}; {RIGHT}; \
         while :; do sleep 0.01; done"
    );
    until(&place, &[TEST], &script).ok();
    assert_eq!(verdicts(&place), ["FAIL", "PASS"]);
    // One that leaves its work alone passes at once.
    let place = tree();
    until(&place, &[TEST], &format!("{RIGHT}; exec sleep 1000")).ok();
    assert_eq!(verdicts(&place), ["PASS"]);
}

#[test]
fn a_command_without_its_quotes_is_refused() {
    let place = tree();
    for (commands, words, hint) in [
        (
            &["sh", "tests/check.sh"][..],
            "error: these are 2 commands, and `tests/check.sh` by itself cannot succeed",
            "comail until 'sh tests/check.sh' -- sh",
        ),
        (
            &["make", "test"],
            "these are 2 commands, and `",
            "comail until 'make test' -- sh",
        ),
        (
            &["grep", "right", "src/answer"],
            "error: these are 3 commands, and `right` by itself cannot succeed",
            "comail until 'grep right src/answer' -- sh",
        ),
        (
            &["test"],
            "error: `test` by itself cannot succeed",
            "'cargo test'",
        ),
        (
            &["sh", "--verbose-check"],
            "error: unexpected argument '--verbose-check'",
            "hint: write a command and its arguments in quotes, such as ",
        ),
    ] {
        let run = until(&place, commands, RIGHT);
        run.says(words);
        run.says(hint);
        run.exits(2);
    }
    assert!(!has_session(&place));
    assert_eq!(
        fs::read(place.at("src/answer")).expect("a file"),
        b"not yet\n"
    );
    // Words that are programs may be meant so.
    until(&place, &["true", TEST], RIGHT).ok();
}

#[test]
fn a_command_that_cannot_be_run_is_refused() {
    let place = tree();
    for command in [
        "./no-such-program",
        "sh -c 'no-such-program --all'",
        "./tests/check.sh",
    ] {
        // One that merely fails changes nothing about that.
        for commands in [&[command][..], &[TEST, command]] {
            let run = until(&place, &[commands, &["--work=src/**"]].concat(), RIGHT);
            run.says("error: a command cannot be run: it exited with the code 12");
            run.says("hint: check its programs");
            run.exits(2);
        }
    }
    assert!(!has_session(&place));
    // The agent may make this one.
    let made = "echo 'exit 0' > src/made; chmod +x src/made";
    let command = &["[ -x src/made ] && ./src/made", "--work=src/**"];
    until(&place, command, made).ok();
}

/// The poll of the checks still runs a command when the agent ends.
#[test]
fn nothing_is_left_in_the_temporary_directory_and_others_cannot_enter_it() {
    let place = tree();
    let temporary = Place::new();
    let test = "stat -c %a . $TMPDIR > src/modes; [ -e src/slow ] && exec sleep 1000; cat src/modes; false";
    place.write("tests/check.sh", test);
    place.write("src/only-here", "");
    let mut command = place.command();
    command.env("PATH", PATH).env("TMPDIR", temporary.path());
    command.args(["until", TEST, "--max-tries=1"]).args(QUICK);
    let agent = "touch src/slow; while [ ! -e src/go ]; do sleep 0.05; done; rm src/slow src/go";
    command.args(["--", "sh", "-c", agent]);
    let is_in_a_copy = |name: &str| {
        let mut copies = copies(temporary.path()).into_iter();
        copies.any(|copy| copy.join(name).exists())
    };
    std::thread::scope(|scope| {
        let run = scope.spawn(|| Run::of(&mut command));
        poll::until("a poll is slow", || {
            is_in_a_copy("src/slow") && is_in_a_copy("src/modes")
        });
        place.write("src/go", "");
        run.join().expect("a run").exits(8);
    });
    let left = fs::read_dir(temporary.path()).expect("a directory");
    let left: Vec<_> = left.map(|it| it.expect("an entry").path()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!is_in_a_copy("src/only-here"));
    let said = Value::from(facts(&place)).to_string();
    assert!(said.contains("700\\n700"), "{said}");
}

/// A log in the tree changes while comail writes to it.
#[test]
fn a_log_in_the_tree_is_named() {
    let place = tree();
    let logged = "comail until \"$0\" -- true > src/log 2>&1; code=$?; cat src/log; exit $code";
    let run = Run::of(place.shell(logged).arg(TEST));
    assert!(run.stdout.contains("error: "), "{run:?}");
    for words in [
        "src/log changed while the tree ",
        "write logs and other output outside the tree",
    ] {
        assert!(run.stdout.contains(words), "{run:?}");
    }
    run.exits(1);
    assert!(!has_session(&place));
    let logged = "comail until \"$0\" -- sh -c 'echo right > src/answer' > ../log 2>&1";
    let elsewhere = Place::new();
    let logged = logged.replace("../log", &elsewhere.at("log").display().to_string());
    Run::of(place.shell(&logged).arg(TEST)).ok();
}

#[test]
fn the_results_are_in_the_tree() {
    let place = tree();
    let run = until(&place, &[TEST], RIGHT);
    assert!(!run.stderr.contains("export"), "{run:?}");
    run.ok();
    let before = fs::read_dir(place.path()).expect("a folder").count();
    let run = place.run(["export"]);
    run.says("error: `comail until 'sh tests/check.sh'` has no list to write results to");
    run.says("the work is in the tree");
    run.exits(2);
    assert_eq!(
        fs::read_dir(place.path()).expect("a folder").count(),
        before
    );
    let elsewhere = Place::new();
    let out = elsewhere.at("table.csv").display().to_string();
    let run = place.run(["export", "--out", &out]);
    assert!(!run.stderr.contains("can no longer be read"), "{run:?}");
    run.ok();
    let audited = place.run(["audit"]).ok();
    let made = "note: the gate was made by `comail until 'sh tests/check.sh'`";
    assert!(audited.contains(made), "{audited}");
    assert!(!audited.contains("until.toml"), "{audited}");
    // Its list has a text of several lines.
    let shown = place.run(["show", "1"]).ok();
    assert!(!shown.contains("\\u{a}"), "{shown}");
    assert!(shown.contains("\n    | The work is done when "), "{shown}");
}

/// What the program loads is not compared by digests.
#[test]
fn a_program_in_a_place_that_the_agent_may_change_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let tools = Place::new();
    let program = tools.write("judge", "#!/bin/sh\ngrep -q right src/answer\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let run = |flags: &[&str]| {
        let place = tree();
        let mut command = place.command();
        command.env("PATH", format!("{}:{PATH}", tools.path().display()));
        command.args(["until", "judge"]).args(QUICK).args(flags);
        let run = Run::of(command.args(["--", "sh", "-c", RIGHT]));
        (place, run)
    };
    let writable = format!("--set=writable={}", tools.path().display());
    let (place, refused) = run(&[&writable]);
    refused.says("error: the gate runs ");
    refused.says("the agent may change what it loads");
    refused.exits(2);
    assert_eq!(verdicts(&place), [""; 0]);
    run(&[]).1.ok();
}

/// Programs that a command starts by their names are found where no agent can write.
#[test]
fn a_directory_of_programs_that_the_agent_may_change_is_left_out() {
    use std::os::unix::fs::PermissionsExt as _;
    let (writable, tools) = (Place::new(), Place::new());
    let program = tools.write("checkit", "#!/bin/sh\ngrep -q right \"$1\"\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a program");
    let cheat = writable.at("checkit").display().to_string();
    let cheats = format!(
        "printf '#!/bin/sh\\nexit 0\\n' > {cheat} && chmod 755 {cheat} && echo > src/cheated"
    );
    let drive = |flags: &[&str], script: &str| {
        let place = tree();
        let dirs = [&writable, &tools].map(|it| it.path().display().to_string());
        let mut command = place.command();
        command.env("PATH", format!("{}:{}:{PATH}", dirs[0], dirs[1]));
        command.args(["until", "checkit src/answer && true", "--work=src/**"]);
        command
            .args(QUICK)
            .args(["--set=run.max-attempts=1"])
            .args(flags);
        let run = Run::of(command.args(["--", "sh", "-c", script]));
        (place, run)
    };
    let granted = format!("--set=writable={}", writable.path().display());
    let (place, run) = drive(&[&granted], &cheats);
    assert!(place.at("src/cheated").exists());
    run.says("the gate's commands do not find the programs in ");
    run.exits(8);
    // Where nothing confines an agent, it is not known where it may write.
    fs::remove_file(writable.at("checkit")).expect("a file");
    let (place, run) = drive(&["--confine=off"], &cheats);
    assert!(place.at("src/cheated").exists());
    run.ok();
}

#[test]
fn what_a_command_prints_contains_no_file_of_the_user() {
    let place = tree();
    place.write("tests/work.sh", ". src/answer; exit 1");
    let home = Place::new();
    home.write("notes", "the secret of the user");
    let files = [home.at("notes"), place.at("src/second")].map(|it| it.display().to_string());
    let script = format!(
        "echo 'cat src/second {}; ls -A {}' > src/answer",
        files[0],
        std::env::temp_dir().display()
    );
    let mut command = place.command();
    command.env("PATH", PATH).env("HOME", home.path());
    command.args(["until", "sh tests/work.sh"]).args(QUICK);
    command.args(["--set=run.max-attempts=1", "--", "sh", "-c", &script]);
    Run::of(&mut command).exits(8);
    let facts = Value::from(facts(&place)).to_string();
    assert!(facts.contains("not yet"), "{facts}");
    assert!(!facts.contains("the secret of the user"), "{facts}");
    let place_of_judge = place.path().file_name().expect("a name");
    let shown = facts
        .matches(place_of_judge.to_str().expect("UTF-8"))
        .count();
    assert_eq!(shown, 0, "{facts}");
}
