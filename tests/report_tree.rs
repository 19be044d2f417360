//! `comail report` on quests about a tree: it must be clean, every PASS must still hold, and the whole
//! result must pass.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use crate::harness::letters::{LETTERS, Letters, PATH};
use crate::harness::shell_quest::ShellQuest;
use crate::harness::terminal::at_terminal;
use crate::harness::{Place, Run};

/// Checks over the whole result: a script that the agents wrote must end well.
const FINAL: &str = r#"
[[final.check]]
name = "whole"
kind = "command"
argv = ["sh", "in/whole.sh"]
timeout = "10s"
[[final.control]]
name = "nothing is there"
verdict = "FAIL"
fires = ["whole"]
"#;

/// A session whose three quests are PASS.
fn passed(quest: ShellQuest) -> ShellQuest {
    passed_with(quest, "in/yes.sh")
}

fn passed_with(quest: ShellQuest, file: &str) -> ShellQuest {
    submit_all(&quest, file);
    quest
}

/// Submits the file for every quest that is TODO.
fn submit_all(quest: &ShellQuest, file: &str) {
    let (_, report) = quest.place.json(["report", "--quick"]);
    let shortfalls = report["shortfalls"].as_array().expect("shortfalls").iter();
    let todo = shortfalls.filter(|it| it["kind"] == "todo");
    for number in todo.flat_map(|it| it["quests"].as_array().expect("quests")) {
        let (id, file) = (format!("--id={number}"), format!("--file={file}"));
        quest.place.run(["submit", &id, &file]).ok();
    }
}

/// The exit code, and the shortfalls as `kind: details`.
fn found(quest: &ShellQuest) -> (i32, Vec<String>) {
    let (code, report) = quest.place.json(["report"]);
    let shortfalls = report["shortfalls"].as_array().expect("shortfalls");
    let told = shortfalls.iter().map(|it| {
        let none = Vec::new();
        let details = it["details"].as_array().unwrap_or(&none).iter();
        let details: Vec<&str> = details.filter_map(Value::as_str).collect();
        format!(
            "{}: {}",
            it["kind"].as_str().expect("a kind"),
            details.join(", ")
        )
    });
    (code, told.collect())
}

#[test]
fn a_tree_that_was_changed_outside_the_zones_is_not_clean() {
    let quest = passed(ShellQuest::new("10s"));
    assert_eq!(found(&quest), (0, vec![]));
    fs::write(quest.at("in/more.sh"), "exit 0\n").expect("a file of the zone");
    assert_eq!(found(&quest), (0, vec![]));
    fs::write(quest.at("own/data"), "as it was not\n").expect("a file");
    fs::write(quest.at("own/new"), "").expect("a file");
    let expected = "tree-changed: own/data: changed, own/new: added".to_owned();
    assert_eq!(found(&quest), (8, vec![expected]));
    let text = quest.place.run(["report"]).exits(8);
    assert!(text.contains("  - own/data: changed\n"), "{text}");
    fs::write(quest.at("own/data"), "as it was\n").expect("a file");
    fs::remove_file(quest.at("own/new")).expect("a file");
    assert_eq!(found(&quest), (0, vec![]));
    // Nor is one that is gone.
    let tree = quest.place.at("tree");
    fs::rename(&tree, quest.place.at("away")).expect("the tree");
    let (code, told) = found(&quest);
    assert_eq!(code, 8);
    assert!(told[0].starts_with("tree-"), "{told:?}");
    fs::rename(quest.place.at("away"), &tree).expect("the tree");
    assert_eq!(found(&quest), (0, vec![]));
}

#[test]
fn a_file_in_which_a_pass_was_seen_must_stay_as_it_was() {
    let quest = ShellQuest::new("10s");
    let submits = |number: u32, file: &str| {
        let (id, file) = (format!("--id={number}"), format!("--file={file}"));
        quest.place.run(["submit", &id, &file]).ok();
    };
    fs::write(quest.at("in/one.sh"), "exit 0\n").expect("a script");
    submits(1, "in/one.sh");
    submits(2, "in/yes.sh");
    // A later PASS over the same file has seen what is new in it.
    fs::write(quest.at("in/one.sh"), "true; exit 0\n").expect("a script");
    submits(3, "in/one.sh");
    assert_eq!(found(&quest), (0, vec![]));
    fs::write(quest.at("in/one.sh"), "true; true; exit 0\n").expect("a script");
    fs::remove_file(quest.at("in/yes.sh")).expect("a script");
    let changed = "pass-changed: quest 3: in/one.sh: changed, quest 2: in/yes.sh: gone";
    let (code, told) = found(&quest);
    assert_eq!((code, told.len(), &*told[1]), (8, 3, changed), "{told:?}");
    assert!(
        told[2].starts_with("no-longer-holds: quest 2, two: "),
        "{told:?}"
    );
    fs::write(quest.at("in/one.sh"), "true; exit 0\n").expect("a script");
    fs::write(quest.at("in/yes.sh"), "exit 0\n").expect("a script");
    assert_eq!(found(&quest), (8, vec!["todo: ".to_owned()]));
    submits(2, "in/yes.sh");
    assert_eq!(found(&quest), (0, vec![]));
}

fn with_final() -> ShellQuest {
    ShellQuest::scanned("10s", |place| {
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write("quest.toml", file + FINAL);
    })
}

#[test]
fn parts_that_pass_alone_must_pass_together() {
    let quest = passed(with_final());
    fs::write(quest.at("in/whole.sh"), "echo no; exit 1\n").expect("a script");
    let (code, told) = found(&quest);
    assert_eq!(code, 8);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("final-gate: whole"), "{told:?}");
    fs::write(quest.at("in/whole.sh"), "exit 0\n").expect("a script");
    assert_eq!(found(&quest), (0, vec![]));
    fs::remove_file(quest.at("in/whole.sh")).expect("a script");
    assert_eq!(found(&quest).0, 8);
}

#[test]
fn a_failed_whole_says_which_quests_it_suspects() {
    let quest = with_final();
    for (number, file) in [("1", "in/one.sh"), ("2", "in/two.sh"), ("3", "in/yes.sh")] {
        fs::write(quest.at(file), "exit 0\n").expect("a script");
        let (id, file) = (format!("--id={number}"), format!("--file={file}"));
        quest.place.run(["submit", &id, &file]).ok();
    }
    fs::write(quest.at("in/whole.sh"), "exit 1\n").expect("a script");
    let suspects = || {
        let (_, report) = quest.place.json(["report"]);
        report["shortfalls"][0]["quests"].clone()
    };
    let reopen = ["reopen", "--suspects", "--note=the whole fails"];
    assert_eq!(suspects(), Value::Null);
    let run = at_terminal(&quest.place, &reopen, "reopen");
    assert!(run.stdout.contains("suspect no quest"), "{run:?}");
    run.exits(2);
    let bad = "echo in/two.sh:3: bad name; exit 1\n";
    fs::write(quest.at("in/whole.sh"), bad).expect("a script");
    assert_eq!(suspects(), json!([2]));
    at_terminal(&quest.place, &reopen, "reopen").ok();
    let reopened = quest.place.events("reopened");
    assert_eq!(reopened[0]["quests"], json!([{"quest": 2, "attempt": 1}]));
    assert_eq!(found(&quest).1[0], "todo: ");
}

#[test]
fn the_whole_is_not_judged_before_it_is_there() {
    let quest = with_final();
    fs::write(quest.at("in/whole.sh"), "exit 0\n").expect("a script");
    let (code, told) = found(&quest);
    assert_eq!(
        (code, told),
        (8, vec!["todo: ".to_owned(), "final-gate: ".to_owned()])
    );
}

/// An agent whose script for a quest passes for that quest alone.
const AGENT: &str = r#"key=$(grep -o 'Write a script for [a-z]*' | head -n 1 | sed 's/.* //')
file=$(echo FILE)
echo "test \"\$1\" = $key" > "tree/$file"
echo "{\"file\": \"$file\"}"
"#;

/// What became of a run in which the agent writes its script for each quest to `file`.
fn run_with(file: &str) -> (ShellQuest, i32, String) {
    run_by(&AGENT.replace("FILE", file))
}

fn run_by(agent: &str) -> (ShellQuest, i32, String) {
    let quest = ShellQuest::scanned("10s", |place| {
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        let for_key = file.replace("{{ field.file }}\"]", "{{ field.file }}\", \"{{ key }}\"]");
        assert_ne!(for_key, file);
        place.write("quest.toml", for_key);
    });
    quest.place.write("agent.sh", agent);
    let mut command = quest.place.command();
    let args = ["run", "--answer=stdout", "--", "sh", "agent.sh"];
    let run = Run::of(command.env("PATH", PATH).args(args));
    (quest, run.code, run.stderr)
}

#[test]
fn a_run_whose_quests_keep_breaking_each_other_ends_and_is_not_complete() {
    let (quest, code, told) = run_with("in/job.sh");
    assert_eq!(code, 8, "{told}");
    for number in [1, 2] {
        let lost = format!("note: quest {number} no longer holds, and is TODO again\n");
        assert!(told.contains(&lost), "{told}");
    }
    assert!(told.contains("NOT COMPLETE; "), "{told}");
    let ends = quest.place.events("run");
    assert_eq!(ends.last().expect("an end")["reason"], "regressed");
    let regressed = quest.place.events("regressed");
    assert_eq!(regressed.len(), 6, "two in each of three rounds");
    assert_eq!(regressed[0]["rules"], json!(["runs"]));
    let (code, told) = found(&quest);
    assert_eq!((code, &told[..]), (8, &["todo: ".to_owned()][..]));
    quest.place.run(["audit"]).ok();
}

#[test]
fn a_run_mends_what_its_later_quests_broke() {
    // Told of what broke, the agent writes a script that is right for all.
    let mending = AGENT.replace(
        "echo \"test",
        "grep -q 'no longer holds' prompt && echo exit 0 > tree/in/job.sh || echo \"test",
    );
    let mending = format!(
        "cat > prompt\n{}",
        mending.replace("grep -o", "cat prompt | grep -o")
    );
    let (quest, code, told) = run_by(&mending.replace("FILE", "in/job.sh"));
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("quest 1 no longer holds"), "{told}");
    assert_eq!(quest.place.events("regressed").len(), 2);
    quest.place.run(["audit"]).ok();
}

#[test]
fn a_run_whose_quests_share_nothing_is_complete() {
    let (quest, code, told) = run_with("in/$key.sh");
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains("COMPLETE; ") && !told.contains("NOT"),
        "{told}"
    );
    let (code, report) = quest.place.json(["report"]);
    assert_eq!((code, &report["complete"]), (0, &json!(true)), "{report:#}");
    let again = json!({"status": "done", "passes": 3});
    assert_eq!(report["judged_again"], again);
    let text = quest.place.run(["report"]).ok();
    assert!(text.starts_with("# COMPLETE\n"), "{text}");
    assert!(text.contains("Judged again now: 3 PASS."), "{text}");
}

/// A session whose three quests are PASS by a script that reads `in/part.sh`, which no field names.
fn reading(timeout: &str) -> ShellQuest {
    let quest = ShellQuest::new(timeout);
    fs::write(
        quest.at("in/whole.sh"),
        ". in/part.sh && grep -q word in/data\n",
    )
    .expect("a script");
    fs::write(quest.at("in/part.sh"), "true\n").expect("a script");
    fs::write(quest.at("in/data"), "word\n").expect("a file");
    passed_with(quest, "in/whole.sh")
}

#[test]
fn a_file_that_only_a_command_read_must_still_pass() {
    let quest = reading("10s");
    assert_eq!(found(&quest), (0, vec![]));
    fs::write(quest.at("in/data"), "").expect("a file");
    // Left out on request, which it says.
    let (code, report) = quest.place.json(["report", "--quick"]);
    assert_eq!((code, &report["complete"]), (0, &json!(true)), "{report:#}");
    let left_out = json!({"status": "left-out", "passes": 3});
    assert_eq!(report["judged_again"], left_out);
    let text = quest
        .place
        .run(["report", "--quick", "--out=quick.html"])
        .ok();
    assert!(text.starts_with("# COMPLETE as recorded\n"), "{text}");
    assert!(
        text.contains("Not judged again (`--quick`): 3 PASS."),
        "{text}"
    );
    assert!(text.ends_with("\n\nwritten to quick.html\n"), "{text}");
    let page = fs::read_to_string(quest.place.at("quick.html")).expect("a page");
    assert!(page.contains("<b>Complete as recorded.</b> Not judged again: 3 PASS."));
    let (code, told) = found(&quest);
    assert_eq!((code, told.len()), (8, 2), "{told:?}");
    assert_eq!(told[0], "todo: ");
    let expected = "no-longer-holds: quest 1, one: runs";
    assert!(told[1].starts_with(expected), "{told:?}");
    fs::write(quest.at("in/data"), "word\n").expect("a file");
    submit_all(&quest, "in/whole.sh");
    assert_eq!(found(&quest), (0, vec![]));
}

#[test]
fn no_spoilt_tree_counts_as_one_in_which_passes_hold() {
    let quest = reading("4s");
    let part = quest.at("in/part.sh");
    let elsewhere = quest.place.write("elsewhere.sh", "true\n");
    let spoils: [(&str, &dyn Fn()); 4] = [
        ("removed", &|| {}),
        ("a link", &|| symlink(&elsewhere, &part).expect("a link")),
        ("a folder", &|| fs::create_dir(&part).expect("a folder")),
        ("never ends", &|| {
            fs::write(&part, "sleep 600\n").expect("a script");
        }),
    ];
    for (what, spoil) in spoils {
        fs::remove_file(&part).expect("a script");
        spoil();
        let (code, told) = found(&quest);
        assert_eq!((code, told.len()), (8, 2), "{what}: {told:?}");
        assert!(told[1].starts_with("no-longer-holds: "), "{what}: {told:?}");
        if part.is_dir() {
            fs::remove_dir(&part).expect("a folder");
        }
        fs::write(&part, "true\n").expect("a script");
        // A link was written through, which leaves it a link.
        if part.is_symlink() {
            fs::remove_file(&part).expect("a link");
            fs::write(&part, "true\n").expect("a script");
        }
        submit_all(&quest, "in/whole.sh");
    }
    assert_eq!(found(&quest), (0, vec![]));
}

#[test]
fn a_judge_that_cannot_run_is_named_and_no_pass_holds_by_it() {
    let judge = |place: &Place| {
        let judge = place.write("bin/judge", "#!/bin/sh\nexec sh \"$1\"\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(judge, mode).expect("a program");
    };
    let quest = passed(ShellQuest::scanned("10s", |place| {
        fs::create_dir(place.at("bin")).expect("a folder");
        judge(place);
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        place.write("quest.toml", file.replace("[\"sh\", ", "[\"judge\", "));
    }));
    assert_eq!(found(&quest), (0, vec![]));
    fs::remove_file(quest.place.at("bin/judge")).expect("a program");
    let (code, told) = found(&quest);
    assert_eq!((code, told.len()), (8, 1), "{told:?}");
    assert!(told[0].starts_with("unchecked: quest 1, one: "), "{told:?}");
    assert!(told[0].contains("bin/judge"), "{told:?}");
    judge(&quest.place);
    assert_eq!(found(&quest), (0, vec![]));
    // The judge itself fails: a copy of the tree has nowhere to be.
    fs::remove_dir_all(quest.place.at("tmp")).expect("a folder");
    let (code, told) = found(&quest);
    assert_eq!((code, told.len()), (8, 1), "{told:?}");
    assert!(told[0].starts_with("unchecked: quest 1, one: "), "{told:?}");
}

#[test]
fn what_a_command_without_a_tree_reads_must_still_pass_and_the_network_is_not_asked() {
    for (network, expected, passes) in [("none", "no-longer-holds", 2), ("any", "", 0)] {
        let place = Place::new();
        let known = place.write("known.txt", "please pay 10 EUR, pay 1200\n");
        let argv = "\"--\", \"{{ field.quote }}\"";
        let file = LETTERS
            .replace(argv, &format!("{argv}, {:?}", known.display().to_string()))
            .replace(
                "stdin = \"{{ input.text }}\"",
                &format!("network = {network:?}\npass_env = [\"KNOWN\"]"),
            );
        let letters = Letters::with(&file);
        let mut scan = letters.place.command();
        // A command may read what is named so, wherever it is.
        scan.env("PATH", PATH).env("KNOWN", &known);
        Run::of(scan.args(["scan", "list.jsonl", "--quest=letters.toml"])).ok();
        for id in ["--id=1", "--id=2"] {
            letters.submits(&[id, "--quote=please pay"], "PASS");
        }
        let (code, report) = letters.json(["report"]);
        assert_eq!((code, &report["complete"]), (0, &json!(true)), "{report:#}");
        let again = json!({"status": "done", "passes": passes});
        assert_eq!(report["judged_again"], again);
        fs::write(&known, "").expect("a file");
        let (_, report) = letters.json(["report"]);
        let shortfalls = report["shortfalls"].as_array().expect("shortfalls");
        let kind = shortfalls.last().and_then(|it| it["kind"].as_str());
        assert_eq!(kind.unwrap_or_default(), expected, "{report:#}");
    }
}

#[test]
fn a_pass_that_no_longer_holds_is_handed_out_again() {
    let quest = reading("10s");
    assert_eq!(found(&quest), (0, vec![]));
    // While a worker holds a quest, the tree is being changed.
    let reopen = ["reopen", "3", "--note=again"];
    quest.place.run(reopen).exits(2);
    at_terminal(&quest.place, &reopen, "no").exits(1);
    assert!(quest.place.events("reopened").is_empty());
    at_terminal(&quest.place, &reopen, "reopen").ok();
    let text = at_terminal(&quest.place, &reopen, "reopen");
    assert!(
        text.stdout
            .contains("quest 3 is TODO: there is nothing to reopen"),
        "{text:?}"
    );
    quest.place.run(["next", "--worker=kim"]).ok();
    fs::write(quest.at("in/data"), "").expect("a file");
    let (code, told) = found(&quest);
    assert_eq!((code, told.len()), (8, 2), "{told:?}");
    assert!(quest.place.events("regressed").is_empty());
    at_terminal(&quest.place, &["release", "3"], "").ok();
    let run = quest.place.run(["report"]);
    run.says("note: quest 1 no longer holds, and is TODO again");
    run.exits(8);
    let regressed = quest.place.events("regressed");
    assert_eq!(regressed.len(), 2, "the third was open");
    let text = quest.place.run(["next"]).ok();
    assert!(
        text.contains("This quest was PASS, and no longer holds:"),
        "{text}"
    );
    assert!(text.contains("try 1 of 99"), "{text}");
    assert!(text.contains("runs"), "{text}");
    let log = quest.place.run(["log"]).ok();
    assert!(log.contains("no longer holds, now TODO: runs"), "{log}");
    // The same answer is judged again, by the tree as it is.
    let submit = ["submit", "--id=1", "--file=in/whole.sh"];
    quest.place.run(submit).exits(5);
    let text = quest.place.run(["next"]).ok();
    assert!(text.contains("The last attempt (1) failed:"), "{text}");
    fs::write(quest.at("in/data"), "word\n").expect("a file");
    submit_all(&quest, "in/whole.sh");
    assert_eq!(found(&quest), (0, vec![]));
    quest.place.run(["audit"]).ok();
}
