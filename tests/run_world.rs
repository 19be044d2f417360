//! `comail run --answer world`: what counts is what an agent does, and the gate looks by itself.

use std::process::Command;

use crate::harness::agents::{Driven, PATH};
use crate::harness::quest_play::{QuestPlay, Shipped};
use crate::harness::{Place, Run, tools};

/// The handbook of two chapters, none of which is written.
fn handbook() -> Driven {
    let play = QuestPlay::of("handbook");
    play.scan(&play.beside("chapters.jsonl"), &["--pause-after=0"]);
    Driven { place: play.place }
}

fn command(driven: &Driven, flags: &[&str], script: &str) -> Command {
    let whole = Shipped::named("handbook").beside("controls/whole");
    let mut command = driven.command(flags, script);
    command.env("PATH", tools::path()).env("whole", whole);
    command
}

#[test]
fn an_agent_is_stopped_the_moment_that_the_checks_hold() {
    let driven = handbook();
    // It does the work, and would then go on for ever.
    let script = "cp -r \"$whole\"/. tree; exec sleep 1000";
    let flags = ["--answer=world", "--set=poll=20ms", "--set=grace=100ms"];
    Run::of(&mut command(&driven, &flags, script)).ok();
    assert_eq!(driven.tally("pass"), 2);
    assert_eq!(driven.reasons("attempt"), ["settled"; 2]);
    assert_eq!(driven.place.attempts().len(), 2, "each was judged once");
    driven.place.run(["audit"]).ok();
}

#[test]
fn one_that_does_nothing_has_settled_nothing_whatever_it_says() {
    let driven = handbook();
    let flags = ["--answer=world", "--max-attempts=1"];
    let mut command = command(&driven, &flags, "echo 'All chapters are written.'");
    driven.run_ends_for("attempts", &mut command);
    assert_eq!(driven.tally("todo"), 2);
}

/// One file to be written, whose right text nobody writes by chance.
const FILES: &str = r#"
name = "files"
unit = "file"
[input]
format = "lines"
[tree]
root = "tree"
write = ["out/*"]
[prompt]
text = "Write out/{{ key }}"
[[check]]
name = "right"
kind = "command"
argv = ["grep", "-q", "right", "out/{{ key }}"]
timeout = "10s"
[[control]]
name = "right"
key = "a"
writes = "right"
verdict = "PASS"
[[control]]
name = "nothing"
key = "a"
verdict = "FAIL"
fires = ["right"]
"#;

fn one_file() -> Driven {
    let place = Place::new();
    std::fs::create_dir_all(place.at("tree/out")).expect("a folder");
    std::fs::create_dir_all(place.at("right/out")).expect("a folder");
    place.write("right/out/a", "right");
    place.write("list.txt", "a");
    place.write("files.toml", FILES);
    let mut scan = place.command();
    scan.env("PATH", PATH).args(["scan", "list.txt"]);
    Run::of(scan.args(["--quest=files.toml", "--tree=tree"])).ok();
    Driven { place }
}

#[test]
fn who_changes_the_tree_asks_with_reason() {
    let flags = [
        "--set=detect-warn=3",
        "--set=detect-stop=6",
        "--set=poll=10ms",
        "--set=grace=100ms",
        "--max-attempts=1",
    ];
    let asks = |first: &str| {
        format!(
            "i=0; while [ $i -lt 9 ]; do i=$((i+1)); {first}; comail status; sleep 0.1; done; \
             echo right > tree/out/a; comail submit --id $id"
        )
    };
    let driven = one_file();
    driven.drive(&flags, &asks("echo $i > tree/out/a")).ok();
    assert_eq!(driven.reasons("attempt"), ["settled"]);
    one_file().ends_for("poll", &flags, &asks(":"));
}
