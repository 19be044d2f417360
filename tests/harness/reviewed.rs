//! A quest with reviewers that are small programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::replayed::{assert_audited, assert_replays};
use super::{Place, Run};

/// A quest file without reviewers.
pub const QUEST: &str = include_str!("quests/scripts.toml");

/// Reviewers of the scripts, which answer from files.
const REVIEWERS: &str = include_str!("quests/reviewers.toml");

/// A reviewer that answers with the file of its name, and to a planted defect with another.
const ANSWER: &str = r#"#!/bin/sh
case "$(cat)" in
*/srv/planted* | *"on Mars"*) exec cat "REPLIES/$1.plant" ;;
*) exec cat "REPLIES/$1" ;;
esac
"#;

/// An answer that clears.
pub const CLEAR: &str =
    r#"{"answers":[{"question":"more","doubt":false,"checked":"the only command"}]}"#;

/// An answer that doubts by this quotation.
pub fn doubt(quotation: &str) -> String {
    format!(r#"{{"answers":[{{"question":"more","doubt":true,"quotation":"{quotation}"}}]}}"#)
}

/// A place with reviewers that doubt only planted defects.
pub fn place(revisions: u32) -> Place {
    let place = Place::new();
    for folder in ["tree", "tree/in", "tmp", "replies"] {
        fs::create_dir(place.at(folder)).expect("a folder");
    }
    place.write("tree/in/yes.sh", "exit 0\n");
    place.write("tree/in/no.sh", "exit 1\n");
    place.write("list.txt", "one\ntwo\n");
    place.write("quest.toml", QUEST);
    let replies = place.at("replies");
    let answer = ANSWER.replace("REPLIES", &replies.display().to_string());
    let answer = place.write("answer", answer);
    fs::set_permissions(&answer, fs::Permissions::from_mode(0o755)).expect("a mode");
    let reviewers = REVIEWERS.replace("ANSWER", &answer.display().to_string());
    let reviewers = reviewers.replace("revisions = 0", &format!("revisions = {revisions}"));
    place.write("reviewers.toml", reviewers);
    for name in ["reader", "other"] {
        place.write(&format!("replies/{name}"), CLEAR);
        place.write(
            &format!("replies/{name}.plant"),
            doubt("rm -rf /srv/planted"),
        );
    }
    place
}

/// Scans the list with these further flags.
pub fn scan(place: &Place, more: &[&str]) -> Run {
    let mut command = place.command();
    command
        .env("PATH", "/usr/bin:/bin")
        .env("TMPDIR", place.at("tmp"))
        .args(["scan", "list.txt", "--quest=quest.toml", "--tree=tree"])
        .args(["--set=scan.pause-after=0"])
        .args(more);
    Run::of(&mut command)
}

/// The message of a run that refuses its arguments or files.
pub fn refused(run: Run) -> String {
    assert_eq!(run.code, 2, "{run:?}");
    run.stderr
}

/// A session whose reviewers may ask for this many revisions.
pub fn scanned(revisions: u32) -> Place {
    let place = place(revisions);
    scan(&place, &["--reviewers=reviewers.toml"]).ok();
    place
}

pub fn submit(place: &Place, script: &str) -> (i32, Value) {
    place.write("tree/in/try.sh", script);
    place.json(["submit", "--id=1", "--file=in/try.sh"])
}

/// Expects that every judgement replays, and that an audit finds nothing.
pub fn sound(place: &Place, attempts: usize) {
    assert_eq!(assert_replays(&place.at(".comail")), attempts);
    assert_audited(&place.at(".comail"));
}

pub fn last_types(place: &Place, lines: usize) -> Vec<String> {
    let all = place.lines();
    let last = all[all.len() - lines..].iter();
    last.map(|line| line["type"].as_str().expect("a type").to_owned())
        .collect()
}
