//! What was frozen at the scan, and whoever tries to have it otherwise.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::harness::shell_quest::{ShellQuest, said};
use crate::harness::{Place, Run};

#[test]
fn a_program_of_the_same_name_is_not_run() {
    let quest = ShellQuest::new("20s");
    program(&quest.place, "fake/sh", "#!/bin/true\n");
    fs::write(quest.at("in/try.sh"), "exit 1\n").expect("a script");
    let mut command = quest.place.command();
    command
        .env("PATH", quest.place.at("fake"))
        .args(["submit", "--id=1", "--file=in/try.sh"]);
    assert_eq!(Run::of(&mut command).code, 5);
}

#[test]
fn a_program_that_changed_confirms_nothing() {
    let quest = ShellQuest::scanned("20s", |place| {
        program(place, "bin/sh", "#!/bin/bash\n. \"$1\"\n");
    });
    assert_eq!(quest.tries("exit 1").verdict, "FAIL");
    program(&quest.place, "bin/sh", "#!/bin/bash\nexit 0\n");
    let said = quest.tries("exit 1 # again");
    assert_eq!(
        (said.verdict.as_str(), said.rules),
        ("REVIEW", vec!["runs-unconfirmed".to_owned()])
    );
}

#[test]
fn the_environment_of_whoever_submits_is_not_the_commands() {
    let quest = ShellQuest::new("20s");
    let names = [
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "LD_PRELOAD_NOT",
        "ENV",
        "BASH_ENV",
        "COMAIL_FIELD_OTHER",
        "COMAIL_WISH",
        "HOME",
        "CARGO_HOME",
        "PYTEST_ADDOPTS",
    ];
    let script = names
        .map(|name| match name {
            // Nobody's, whoever submits.
            "HOME" => "[ \"$HOME\" = /nonexistent ] || exit 7\n".to_owned(),
            name => format!("[ -z \"${{{name}+set}}\" ] || exit 7\n"),
        })
        .concat();
    fs::write(
        quest.at("in/try.sh"),
        script + "[ \"$COMAIL_KEY\" = one ]\n",
    )
    .expect("a script");
    let mut command = quest.place.command();
    command.envs(names.map(|name| (name, "/tmp")));
    command.env("COMAIL_KEY", "two").env("TMPDIR", "/nowhere");
    command.args(["submit", "--id=1", "--file=in/try.sh"]);
    let run = Run::of(&mut command);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn an_edited_quest_file_is_not_the_sessions() {
    let quest = ShellQuest::new("20s");
    let text = fs::read_to_string(quest.place.at("quest.toml")).expect("a quest file");
    quest.place.write(
        "quest.toml",
        text.replace("kind = \"command\"", "exit = [0, 1]\nkind = \"command\""),
    );
    quest.refuses("exit 1");
    fs::remove_file(quest.place.at("quest.toml")).expect("a quest file to remove");
    quest.refuses("exit 1 # again");
}

#[test]
fn an_edited_session_is_noticed() {
    let quest = ShellQuest::new("20s");
    let path = quest.place.at(".comail/session.json");
    let text = fs::read_to_string(&path).expect("a session");
    assert!(text.contains("20s"));
    fs::write(&path, text.replace("20s", "21s")).expect("a session");
    fs::write(quest.at("in/try.sh"), "exit 0\n").expect("a script");
    let run = quest.place.run(["submit", "--id=1", "--file=in/try.sh"]);
    assert_eq!(run.code, 1, "{run:?}");
}

#[test]
fn what_is_edited_while_it_is_judged_does_not_count() {
    let quest = ShellQuest::new("60s");
    let pipe = quest.place.at("pipe");
    mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
    fs::write(quest.at("in/data"), "before\n").expect("a file");
    let script = format!("read go <{}; grep -q before in/data", pipe.display());
    fs::write(quest.at("in/try.sh"), script).expect("a script");
    let judged = thread::scope(|scope| {
        let judging = scope.spawn(|| quest.place.json(["submit", "--id=1", "--file=in/try.sh"]));
        // Opens when the script reads: then the copy is made.
        let mut go = fs::OpenOptions::new()
            .write(true)
            .open(&pipe)
            .expect("a reader");
        fs::write(quest.at("in/data"), "after\n").expect("a file");
        fs::write(quest.at("in/try.sh"), "exit 1\n").expect("a script");
        writeln!(go, "go").expect("a reader");
        judging.join().expect("a judgement")
    });
    assert_eq!(said(judged).verdict, "PASS");
    // What it was judged by is what is audited.
    assert_eq!(quest.place.json(["audit"]).0, 0);
}

#[test]
fn a_report_of_before_is_none() {
    let quest = ShellQuest::scanned("20s", |place| {
        let path = place.at("quest.toml");
        let text = fs::read_to_string(&path).expect("a quest file");
        let reports = "reports = [\"in/report.xml\"]\n\
                       facts = { adapter = \"junit\", from = \"in/report.xml\" }\ntimeout";
        fs::write(&path, text.replace("timeout", reports)).expect("a quest file");
        place.write(
            "tree/in/yes.sh",
            "echo '<testsuite><testcase/></testsuite>' >in/report.xml\n",
        );
    });
    fs::write(
        quest.at("in/report.xml"),
        "<testsuite><testcase/></testsuite>",
    )
    .expect("a report");
    quest.refuses("exit 0");
    quest.refuses("rm -f in/report.xml; ln -s yes.xml in/report.xml; exit 0");
    assert_eq!(
        quest
            .tries("echo '<testsuite><testcase/></testsuite>' >in/report.xml")
            .verdict,
        "PASS"
    );
}

/// A program of this text.
fn program(place: &Place, name: &str, text: &str) {
    let path = place.at(name);
    let folder: &Path = path.parent().expect("a folder");
    fs::create_dir_all(folder).expect("a folder");
    fs::write(&path, text).expect("a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
}
