//! `comail report` on quests about a tree: it must be clean, and the whole result must pass.

use std::fs;

use serde_json::Value;

use crate::harness::shell_quest::ShellQuest;

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
    for number in ["1", "2", "3"] {
        let id = format!("--id={number}");
        let submit = ["submit", &id, "--file=in/yes.sh"];
        quest.place.run(submit).ok();
    }
    quest
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
    fs::write(quest.at("in/one.sh"), "exit 1\n").expect("a script");
    fs::remove_file(quest.at("in/yes.sh")).expect("a script");
    let told = "pass-changed: quest 3: in/one.sh: changed, quest 2: in/yes.sh: gone";
    assert_eq!(found(&quest), (8, vec![told.to_owned()]));
    fs::write(quest.at("in/one.sh"), "true; exit 0\n").expect("a script");
    fs::write(quest.at("in/yes.sh"), "exit 0\n").expect("a script");
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
fn the_whole_is_not_judged_before_it_is_there() {
    let quest = with_final();
    fs::write(quest.at("in/whole.sh"), "exit 0\n").expect("a script");
    let (code, told) = found(&quest);
    assert_eq!(
        (code, told),
        (8, vec!["todo: ".to_owned(), "final-gate: ".to_owned()])
    );
}
