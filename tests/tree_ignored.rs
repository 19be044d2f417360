//! A tree leaves out what its `.gitignore` files ignored at the time of the scan, `.git` and the
//! session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value;

use crate::harness::shell_quest::{ShellQuest, said};
use crate::harness::{Place, Run};

/// A check that sees every change outside the zone.
const ONLY_CHANGED: &str = r#"
[[check]]
name = "only-in"
kind = "only-changed"
[[control]]
name = "outside"
key = "a"
writes = "written"
submit = { file = "in/yes.sh" }
verdict = "FAIL"
fires = ["only-in"]
"#;

/// A tree as a build leaves it: `target/` has a file that is too large for a tree.
fn built(place: &Place) {
    write(place, "tree/target/debug/built", "built\n");
    let large = fs::File::create(place.at("tree/target/large")).expect("a file");
    large.set_len(65 << 20).expect("a large file");
    write(place, "written/own/data", "changed\n");
    let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
    place.write("quest.toml", file + ONLY_CHANGED);
}

fn ignoring(rules: &str) -> ShellQuest {
    ShellQuest::scanned("20s", |place| {
        built(place);
        place.write("tree/.gitignore", rules);
    })
}

fn write(place: &Place, name: &str, text: &str) {
    let path = place.at(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// What the gate says to a script that ends well.
#[track_caller]
fn submitted(quest: &ShellQuest, verdict: &str) -> Value {
    let said = quest.tries("exit 0");
    assert_eq!(said.verdict, verdict, "{:#}", said.all);
    said.all
}

#[test]
fn a_built_project_is_scanned_judged_and_passes() {
    let quest = ignoring("target/\n");
    // What is ignored is in no copy of the tree.
    quest.refuses("test -e target");
    quest.refuses("test ! -e .gitignore");
    write(&quest.place, "tree/target/debug/later", "built\n");
    fs::write(quest.at("target/debug/built"), "built again\n").expect("a file");
    submitted(&quest, "PASS");
    quest.place.run(["quest", "prove"]).ok();
    quest.place.run(["audit"]).ok();
}

#[test]
fn without_a_rule_the_large_file_is_refused() {
    let off = |place: &Place| {
        place.write("tree/.gitignore", "target/\n");
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write(
            "quest.toml",
            file.replace("[tree]", "[tree]\ngitignore = false"),
        );
    };
    let negated = |place: &Place| {
        place.write("tree/.gitignore", "target/*\n!target/large\n");
    };
    let cases: [&dyn Fn(&Place); 3] = [&|_: &Place| {}, &off, &negated];
    for more in cases {
        let (_, run) = ShellQuest::scan("20s", |place| {
            built(place);
            more(place);
        });
        run.says("target/large has 68157440 bytes, and a file may have 67108864");
        run.says("add it to .gitignore or to `ignore` in [tree]");
        run.exits(1);
    }
}

#[test]
fn rules_that_come_after_the_scan_hide_nothing() {
    let quest = ignoring("target/\n");
    // The zone does not take such a file, and it ignores nothing.
    fs::write(quest.at("in/.gitignore"), "*\n").expect("rules");
    let facts = submitted(&quest, "FAIL")["facts"].to_string();
    assert!(facts.contains("in/.gitignore"), "{facts}");
    fs::remove_file(quest.at("in/.gitignore")).expect("rules");
    fs::write(quest.at("own/hidden"), "").expect("a file");
    fs::write(quest.at("own/.gitignore"), "hidden\n.gitignore\n").expect("rules");
    let answer = submitted(&quest, "FAIL");
    let facts = answer["facts"].to_string();
    assert!(facts.contains("own/hidden"), "{answer:#}");
    fs::remove_file(quest.at("own/.gitignore")).expect("rules");
    fs::write(quest.at(".gitignore"), "target/\nhidden\n.gitignore\n").expect("rules");
    let facts = submitted(&quest, "FAIL")["facts"].to_string();
    assert!(
        facts.contains("own/hidden") && facts.contains(".gitignore"),
        "{facts}"
    );
    fs::remove_file(quest.at("own/hidden")).expect("a file");
    // What was ignored at the scan still is.
    fs::write(quest.at(".gitignore"), "").expect("rules");
    let facts = submitted(&quest, "FAIL")["facts"].to_string();
    assert!(!facts.contains("target"), "{facts}");
    fs::write(quest.at(".gitignore"), "target/\n").expect("rules");
    submitted(&quest, "PASS");
}

/// Each would otherwise be missing from the copy of the tree that the commands read.
type Put<'a> = &'a dyn Fn(&Path);

#[test]
fn what_cannot_be_judged_in_a_zone_fails_and_no_pass_holds() {
    let open = ignoring("target/\n");
    let passed = ignoring("target/\n");
    for quest in [&open, &passed] {
        fs::write(quest.at("in/legacy"), "new\n").expect("a file");
    }
    submitted(&open, "PASS");
    let open = ignoring("target/\n");
    let pass_all = || {
        for id in ["--id=1", "--id=2", "--id=3"] {
            passed.place.run(["submit", id, "--file=in/yes.sh"]).ok();
        }
    };
    pass_all();
    passed.place.run(["report"]).ok();
    let large = |at: &Path| {
        let file = fs::File::create(at).expect("a file");
        file.set_len(65 << 20).expect("a large file");
    };
    let cases: [(Put<'_>, &str); 4] = [
        (&large, "too large"),
        (&|at| symlink("yes.sh", at).expect("a link"), "a link"),
        (&|at| symlink("../own", at).expect("a link"), "a link"),
        (
            &|at| mkfifo(at, Mode::S_IRWXU).expect("a pipe"),
            "a named pipe",
        ),
    ];
    for (put, why) in cases {
        for quest in [&open, &passed] {
            let at = quest.at("in/legacy");
            if at.symlink_metadata().is_ok() {
                fs::remove_file(&at).expect("a file");
            }
            put(&at);
        }
        let answer = submitted(&open, "FAIL");
        let fact = &answer["facts"][0];
        assert_eq!(fact["rule"], "tree-unjudgeable", "{answer:#}");
        assert_eq!(fact["location"], "in/legacy", "{answer:#}");
        assert!(fact["actual"].to_string().contains(why), "{answer:#}");
        open.place.run(["audit"]).ok();
        let report = passed.place.run(["report"]).exits(8);
        assert!(report.contains("in/legacy"), "{why}: {report}");
        assert!(report.contains("3 PASSes no longer hold"), "{report}");
        // They failed as an answer would, so they have to be made again.
        fs::remove_file(passed.at("in/legacy")).expect("what cannot be judged");
        pass_all();
        passed.place.run(["report"]).ok();
    }
    fs::remove_file(open.at("in/legacy")).expect("a pipe");
    submitted(&open, "PASS");
    passed.place.run(["report"]).ok();
}

#[test]
fn an_answer_that_is_ignored_is_refused_with_the_rule() {
    let quest = ignoring("target/\n\n*.log\n");
    fs::write(quest.at("in/try.log"), "exit 0\n").expect("a script");
    let said = quest.submits("in/try.log");
    assert_eq!(said.verdict, "FAIL", "{:#}", said.all);
    let facts = said.all["facts"].to_string();
    assert!(facts.contains("`*.log` (.gitignore:3) ignores"), "{facts}");
}

#[test]
fn a_zone_that_is_ignored_is_refused_with_the_rule() {
    for (rules, rule) in [
        ("# built\nin/\n", "`in/` (.gitignore:2)"),
        ("/in\n", "`/in` (.gitignore:1)"),
    ] {
        let (_, run) = ShellQuest::scan("20s", |place| {
            place.write("tree/.gitignore", rules);
        });
        run.says(&format!("{rule} ignores all of the zone `in/**`"));
        run.says("quest.toml:6:");
        run.exits(2);
    }
    // Part of a zone may be ignored.
    let (_, run) = ShellQuest::scan("20s", |place| {
        place.write("tree/.gitignore", "in/*.log\n");
    });
    run.ok();
}

/// The session has a name of its own, is in the tree, and moves within it.
#[test]
fn git_and_the_session_are_no_part_of_a_tree() {
    let (quest, _) = ShellQuest::scan("20s", |place| {
        built(place);
        place.write("tree/.gitignore", "target/\n");
        write(place, "tree/.git/config", "[core]\n");
        write(place, "tree/own/.git/config", "[core]\n");
    });
    let place = &quest.place;
    let run = |session: &str, args: &[&str]| {
        let mut command = place.command();
        let path = format!("{}:/usr/bin:/bin", place.at("bin").display());
        command.env("PATH", path).env("TMPDIR", place.at("tmp"));
        Run::of(command.args(["--session", session]).args(args))
    };
    let scan = [
        "scan",
        "list.txt",
        "--quest=quest.toml",
        "--tree=tree",
        "--max-tries=99",
    ];
    run("tree/own/work", &scan).ok();
    fs::write(
        quest.at("in/try.sh"),
        "test ! -e own/work && test ! -e .git && test ! -e own/.git\n",
    )
    .expect("a script");
    let submits = |session: &str| {
        let said = said(run(session, &["submit", "--id=1", "--file=in/try.sh", "--json"]).json());
        assert_eq!(said.verdict, "PASS", "{session}: {:#}", said.all);
    };
    write(place, "tree/.git/index", "");
    fs::rename(quest.at("own/work"), quest.at("moved")).expect("a session");
    submits("tree/moved");
    std::os::unix::fs::symlink("tree/moved", place.at("link")).expect("a link");
    run("link", &["quest", "prove"]).ok();
    run("link", &["audit"]).ok();
}

/// A directory of the tree as a list: its quests are files of the tree.
#[test]
fn a_list_of_the_trees_files_obeys_the_same_rules() {
    let (quest, _) = ShellQuest::scan("20s", |place| {
        place.write("tree/.gitignore", "*.log\n/in/built\n");
        write(place, "tree/in/a.log", "");
        write(place, "tree/in/built/b", "");
        write(place, "tree/in/.git/config", "");
        write(place, "tree/in/deep/.gitignore", "own\n");
        write(place, "tree/in/deep/own", "");
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write(
            "dir.toml",
            file.replace("format = \"lines\"", "format = \"dir\""),
        );
    });
    let place = &quest.place;
    let run = |args: &[&str]| {
        let mut command = place.command();
        command
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", place.at("tmp"));
        Run::of(
            command
                .args(["--session=tree/in/work", "--json"])
                .args(args),
        )
        .json()
    };
    let (code, scanned) = run(&["scan", "tree/in", "--quest=dir.toml", "--tree=tree"]);
    // no.sh, yes.sh and deep/.gitignore
    assert_eq!((code, &scanned["quests"]), (0, &3.into()), "{scanned:#}");
    place.write("tree/.gitignore", "");
    write(place, "tree/in/deep/.gitignore", "more\n");
    write(place, "tree/in/deep/more", "");
    let (code, updated) = run(&["scan", "tree/in", "--update"]);
    assert_eq!((code, &updated["added"]), (0, &1.into()), "{updated:#}");
    assert_eq!(updated["gone"], 0, "{updated:#}");
}
