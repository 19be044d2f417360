//! Fields that are meant to be read by a shell, as an option, or as a path that leads elsewhere.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::Run;
use crate::harness::shell_quest::{ShellQuest, said};

#[test]
fn no_shell_reads_what_is_submitted() {
    let quest = ShellQuest::new("10s");
    for value in [
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
    ] {
        let said = quest.submits(value);
        assert_eq!(said.verdict, "FAIL", "{value:?}: {:#}", said.all);
    }
    assert!(!quest.at("in/made").exists());
}

#[test]
fn no_option_is_submitted() {
    let quest = ShellQuest::new("10s");
    for value in ["-c", "-cexit", "--", "--version", "-", "-s", "-n"] {
        let said = quest.submits(value);
        assert_eq!(said.verdict, "FAIL", "{value:?}: {:#}", said.all);
    }
}

#[test]
fn no_path_leads_out_of_the_tree() {
    let quest = ShellQuest::new("10s");
    let elsewhere = quest.place.write("elsewhere.sh", "exit 0\n");
    let elsewhere = elsewhere.to_str().expect("UTF-8");
    for value in [
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
}

#[test]
fn nul_is_part_of_no_field() {
    let quest = ShellQuest::new("10s");
    quest
        .place
        .write("answer.json", r#"{"file": "in/yes.sh\u0000.txt"}"#);
    let said = said(quest.place.json(["submit", "--id=1", "--in=answer.json"]));
    assert_eq!(
        (said.verdict.as_str(), said.rules),
        ("FAIL", vec!["field-format".to_owned()])
    );
}

#[test]
fn no_link_is_followed() {
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
fn a_pipe_in_the_zone_is_not_waited_for() {
    let quest = ShellQuest::new("10s");
    nix::unistd::mkfifo(&quest.at("in/pipe.sh"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    assert_eq!(quest.submits("in/pipe.sh").verdict, "FAIL");
}

#[test]
fn more_than_can_be_read_in_the_zone_is_no_pass() {
    let quest = ShellQuest::new("10s");
    let huge = fs::File::create(quest.at("in/huge.sh")).expect("a file");
    huge.set_len(3 << 30).expect("a sparse file");
    assert_ne!(quest.submits("in/huge.sh").verdict, "PASS");
    assert_ne!(quest.tries("exit 1").verdict, "PASS");
    let long = "x".repeat(200_000);
    quest
        .place
        .write("answer.json", serde_json::json!({"file": long}).to_string());
    let run = Run::of(
        quest
            .place
            .command()
            .args(["submit", "--id=1", "--in=answer.json"]),
    );
    assert_eq!(run.code, 5, "{run:?}");
}
