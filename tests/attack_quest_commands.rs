//! Scripts that attack the gate, and fields that a shell, an option or a path could misread.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use walkdir::WalkDir;

use crate::harness::shell_quest::{ShellQuest, said};

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
    // Another name of a file is that file, and what stands in it was put into the zone.
    assert_eq!(quest.submits("in/hard.sh").verdict, "PASS");
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
