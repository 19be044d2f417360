//! Sessions with worktrees: what passed is kept, whoever works at the same time.

use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::harness::Run;
use crate::harness::agents::with_id;
use crate::harness::letters::PATH;
use crate::harness::shell_quest::ShellQuest;
use crate::harness::terminal::at_terminal;

/// Each quest's script must pass for its own key, which is also checked in a file that all share.
fn quest() -> ShellQuest {
    quest_with(|file| file)
}

fn quest_with(change: impl FnOnce(String) -> String) -> ShellQuest {
    ShellQuest::scanned("10s", |place| {
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        let with = file
            .replace("{{ field.file }}\"]", "{{ field.file }}\", \"{{ key }}\"]")
            .replace("[tree]\n", "[tree]\nworktrees = true\n");
        assert!(with.contains("worktrees"), "{file}");
        place.write("quest.toml", change(with));
        place.write("tree/in/shared.sh", "# first\n\n\n# last\n");
    })
}

/// What an agent does in its worktree for each quest.
fn run_by(quest: &ShellQuest, agents: u32, agent: &str) -> Run {
    quest.place.write("agent.sh", agent);
    let mut command = quest.place.command();
    command
        .current_dir(quest.place.at("tree"))
        .env("COMAIL_LOG", "info")
        .env("PATH", PATH);
    Run::of(command.args([
        "run",
        "--answer=stdout",
        &format!("--parallel={agents}"),
        "--",
        "sh",
        &quest.place.at("agent.sh").display().to_string(),
    ]))
}

fn next(quest: &ShellQuest, worker: &str, dir: &str) -> Value {
    let worker = format!("--worker={worker}");
    let dir = format!("--worktree={dir}");
    let (code, reply) = quest.place.json(["next", &worker, &dir]);
    assert_eq!(code, 0, "{reply:#}");
    reply
}

fn submit(quest: &ShellQuest, worker: &str, dir: &str, file: &str) -> (i32, Value) {
    let worker = format!("--worker={worker}");
    let dir = format!("--worktree={dir}");
    let file = format!("--file={file}");
    let key = match worker.as_str() {
        "--worker=ann" => "--id=1",
        "--worker=bob" => "--id=2",
        _ => "--id=3",
    };
    quest.place.json(["submit", key, &worker, &dir, &file])
}

fn write(quest: &ShellQuest, path: &str, text: &str) {
    fs::write(quest.place.at(path), text).expect("a file of the worktree");
}

fn accepted(quest: &ShellQuest, dir: &Path, path: &str) -> String {
    let _ = fs::remove_dir_all(dir);
    quest
        .place
        .run(["tree", "export", &dir.display().to_string()])
        .ok();
    fs::read_to_string(dir.join(path)).expect("a file of the accepted tree")
}

#[test]
fn both_changes_of_one_file_are_kept_and_a_conflict_uses_no_try() {
    let quest = quest();
    for (worker, dir) in [("ann", "w1"), ("bob", "w2"), ("kim", "w3")] {
        next(&quest, worker, dir);
        assert!(quest.place.at(dir).join("own/data").exists());
    }
    write(&quest, "w1/in/shared.sh", "# ann\n\n\n# last\n");
    write(&quest, "w2/in/shared.sh", "# first\n\n\n# bob\n");
    write(&quest, "w3/in/shared.sh", "# kim\n\n\n# last\n");
    for (worker, dir) in [("ann", "w1"), ("bob", "w2")] {
        let (code, reply) = submit(&quest, worker, dir, "in/shared.sh");
        assert_eq!((code, &reply["verdict"]), (0, &json!("PASS")), "{reply:#}");
    }
    let out = quest.place.at("out");
    assert_eq!(accepted(&quest, &out, "in/shared.sh"), "# ann\n\n\n# bob\n");
    // The same lines: named, not recorded, and without a try.
    let args = ["submit", "--id=3", "--worker=kim", "--worktree=w3"];
    let run = quest
        .place
        .run(args.into_iter().chain(["--file=in/shared.sh"]));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("in/shared.sh:1"), "{run:?}");
    assert!(run.stderr.contains("(changed by quest 1, 2)"), "{run:?}");
    assert_eq!(quest.place.events("attempt").len(), 2);
    // A new worktree has both changes.
    next(&quest, "kim", "w4");
    let text = fs::read_to_string(quest.place.at("w4/in/shared.sh")).expect("a file");
    assert_eq!(text, "# ann\n\n\n# bob\n");
    write(&quest, "w4/in/shared.sh", "# kim\n\n\n# bob\n");
    let (code, reply) = submit(&quest, "kim", "w4", "in/shared.sh");
    assert_eq!((code, &reply["verdict"]), (0, &json!("PASS")), "{reply:#}");
    // The working tree is untouched until a person applies the result.
    let shared = quest.at("in/shared.sh");
    let read = || fs::read_to_string(&shared).expect("a file");
    assert_eq!(read(), "# first\n\n\n# last\n");
    quest.place.run(["report"]).ok();
    quest.place.run(["tree", "apply"]).ok();
    assert_eq!(read(), "# kim\n\n\n# bob\n");
    quest.place.run(["audit"]).ok();
}

#[test]
fn the_result_is_applied_again_after_later_answers_but_over_no_other_change() {
    let quest = quest();
    let pass = |worker: &str, dir: &str, files: &[(&str, &str)], gone: &[&str]| {
        next(&quest, worker, dir);
        for (path, text) in files {
            write(&quest, &format!("{dir}/in/{path}"), text);
        }
        for path in gone {
            fs::remove_file(quest.place.at(dir).join("in").join(path)).expect("a file");
        }
        let (_, reply) = submit(&quest, worker, dir, "in/yes.sh");
        assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    };
    let read = |path: &str| fs::read_to_string(quest.at("in").join(path)).ok();
    pass(
        "ann",
        "w1",
        &[("shared.sh", "# ann\n"), ("new.sh", "# new\n")],
        &[],
    );
    quest.place.run(["tree", "apply"]).ok();
    // Later answers change and remove what is in the working tree by now.
    pass("bob", "w2", &[("shared.sh", "# bob\n")], &["new.sh"]);
    quest.place.run(["tree", "apply"]).ok();
    assert_eq!(read("shared.sh").as_deref(), Some("# bob\n"));
    assert_eq!(read("new.sh"), None);
    pass(
        "kim",
        "w3",
        &[("shared.sh", "# kim\n"), ("more.sh", "# more\n")],
        &[],
    );
    fs::write(quest.at("in/shared.sh"), "# a person's\n").expect("a file");
    let run = quest.place.run(["tree", "apply"]);
    assert!(run.stderr.contains("in/shared.sh in "), "{run:?}");
    run.exits(1);
    assert_eq!(read("shared.sh").as_deref(), Some("# a person's\n"));
    assert_eq!(read("more.sh"), None);
    assert_eq!(fs::read_dir(quest.at("in")).expect("a folder").count(), 3);
}

#[test]
fn an_answer_that_would_break_an_earlier_pass_fails_and_names_it() {
    let quest = quest();
    next(&quest, "ann", "w1");
    next(&quest, "bob", "w2");
    write(&quest, "w1/in/shared.sh", "test \"$1\" = one\n");
    let (_, reply) = submit(&quest, "ann", "w1", "in/shared.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    // It passes its own check alone, and would take the work of quest 1 away.
    next(&quest, "bob", "w3");
    write(&quest, "w3/in/shared.sh", "test \"$1\" = two\n");
    let (code, reply) = submit(&quest, "bob", "w3", "in/shared.sh");
    assert_eq!((code, &reply["verdict"]), (5, &json!("FAIL")), "{reply:#}");
    let fact = &reply["facts"][0];
    assert_eq!(fact["rule"], "breaks-passed");
    assert_eq!(fact["expected"], "quest 1 (one) still passes");
    assert!(fact["remedy"].is_string(), "{fact:#}");
    write(
        &quest,
        "w3/in/shared.sh",
        "test \"$1\" = one -o \"$1\" = two\n",
    );
    let (_, reply) = submit(&quest, "bob", "w3", "in/shared.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    quest.place.run(["audit"]).ok();
}

#[test]
fn an_answer_is_not_blamed_for_a_pass_that_broke_by_itself() {
    let quest = quest();
    let gone = quest.place.at("gone");
    next(&quest, "ann", "w1");
    let script = format!("# ann\ntest ! -e '{}'\n", gone.display());
    write(&quest, "w1/in/shared.sh", &script);
    write(&quest, "w1/in/try.sh", "exit 0\n");
    let (_, reply) = submit(&quest, "ann", "w1", "in/shared.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    fs::write(&gone, "").expect("a file");
    next(&quest, "bob", "w2");
    write(&quest, "w2/in/try.sh", "exit 0 # bob\n");
    let (_, reply) = submit(&quest, "bob", "w2", "in/try.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    // The end finds it.
    quest.place.json(["report"]);
    assert_eq!(quest.place.events("regressed").len(), 1);
}

#[test]
fn what_is_not_judged_again_at_once_is_judged_in_the_end() {
    let quest = quest_with(|file| {
        file.replace("worktrees = true\n", "worktrees = true\njudge_again = 0\n")
    });
    for (worker, dir, key) in [("ann", "w1", "one"), ("bob", "w2", "two")] {
        next(&quest, worker, dir);
        write(
            &quest,
            &format!("{dir}/in/shared.sh"),
            &format!("test \"$1\" = {key}\n"),
        );
        let (_, reply) = submit(&quest, worker, dir, "in/shared.sh");
        assert_eq!(reply["verdict"], "PASS", "{reply:#}");
        let left_out = (worker == "bob").then(|| json!([1]));
        assert_eq!(
            reply.get("not_judged_again"),
            left_out.as_ref(),
            "{reply:#}"
        );
    }
    let (_, report) = quest.place.json(["report"]);
    assert_eq!(quest.place.events("regressed").len(), 1, "{report:#}");
    assert_eq!(quest.place.json(["status"]).1["tally"]["pass"], 1);
}

#[test]
fn without_a_worktree_nothing_is_judged() {
    let quest = quest();
    fs::write(quest.at("in/try.sh"), "exit 0\n").expect("a script");
    let submit = ["submit", "--id=1", "--file=in/try.sh"];
    let run = quest.place.run(submit);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("comail next --worktree DIR"), "{run:?}");
    let run = quest
        .place
        .run(submit.into_iter().chain(["--worktree=tree"]));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("is not a worktree of this session"),
        "{run:?}"
    );
    assert!(quest.place.events("attempt").is_empty());
    // The working tree is no part of the accepted tree.
    next(&quest, "ann", "w1");
    assert!(!quest.place.at("w1/in/try.sh").exists());
}

#[test]
fn no_fixer_repairs_a_working_tree_that_nobody_works_in() {
    let (_, run) = ShellQuest::scan("10s", |place| {
        let file = fs::read_to_string(place.at("quest.toml")).expect("a quest file");
        let with = file
            .replace("argv = [\"sh\",", "on_fail = \"fix\"\nargv = [\"sh\",")
            .replace(
                "[tree]\n",
                "[fixer]\nargv = [\"true\"]\n[tree]\nworktrees = true\n",
            );
        place.write("quest.toml", with);
    });
    let stderr = run.stderr.clone();
    run.exits(2);
    assert!(stderr.contains("it does not run in worktrees"), "{stderr}");
}

#[test]
fn an_emptied_worktree_removes_nothing_and_is_made_again() {
    let quest = quest();
    next(&quest, "ann", "w1");
    for name in ["yes.sh", "no.sh", "shared.sh"] {
        fs::remove_file(quest.place.at("w1/in").join(name)).expect("a file");
    }
    write(&quest, "w1/in/try.sh", "exit 0\n");
    let args = ["submit", "--id=1", "--worker=ann", "--worktree=w1"];
    let run = quest
        .place
        .run(args.into_iter().chain(["--file=in/try.sh"]));
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("make a new worktree"), "{run:?}");
    fs::remove_dir_all(quest.place.at("w1")).expect("a folder");
    next(&quest, "ann", "w1");
    assert!(quest.place.at("w1/in/shared.sh").exists());
    // It is no answer to another quest.
    let args = ["submit", "--id=2", "--worktree=w1", "--file=in/yes.sh"];
    let run = quest.place.run(args);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("is the worktree of quest 1"), "{run:?}");
}

#[test]
fn an_earlier_pass_that_would_wait_for_a_person_is_broken_too() {
    let quest = quest_with(|file| file.replace("timeout =", "unconfirmed_exit = [2]\ntimeout ="));
    next(&quest, "ann", "w1");
    write(&quest, "w1/in/shared.sh", "exit 0\n");
    let (_, reply) = submit(&quest, "ann", "w1", "in/shared.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    next(&quest, "bob", "w2");
    write(&quest, "w2/in/shared.sh", "test \"$1\" = two || exit 2\n");
    let (_, reply) = submit(&quest, "bob", "w2", "in/shared.sh");
    assert_eq!(reply["facts"][0]["rule"], "breaks-passed", "{reply:#}");
}

#[test]
fn an_answer_with_which_a_review_would_fail_fails() {
    let quest = quest_with(|file| file.replace("timeout =", "unconfirmed_exit = [2]\ntimeout ="));
    next(&quest, "ann", "w1");
    write(&quest, "w1/in/shared.sh", "exit 2\n");
    let (_, reply) = submit(&quest, "ann", "w1", "in/shared.sh");
    assert_eq!(reply["verdict"], "REVIEW", "{reply:#}");
    next(&quest, "bob", "w2");
    write(&quest, "w2/in/shared.sh", "test \"$1\" = two || exit 1\n");
    let (_, reply) = submit(&quest, "bob", "w2", "in/shared.sh");
    let fact = &reply["facts"][0];
    assert_eq!(fact["rule"], "breaks-passed", "{reply:#}");
    assert_eq!(fact["expected"], "quest 1 (one) does not fail");
    write(&quest, "w2/in/shared.sh", "test \"$1\" = two || exit 2\n");
    let (_, reply) = submit(&quest, "bob", "w2", "in/shared.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    quest.place.run(["audit"]).ok();
}

#[test]
fn what_the_accepted_tree_needs_is_not_forgotten() {
    let quest = quest();
    next(&quest, "ann", "w1");
    write(&quest, "w1/in/try.sh", "exit 0 # max@acme.com\n");
    let (_, reply) = submit(&quest, "ann", "w1", "in/try.sh");
    assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    let forget = ["forget", "max@acme.com", "--note=asked"];
    let told = at_terminal(&quest.place, &forget, "forget").exits(1);
    assert!(told.contains("the accepted files of quest 1"), "{told}");
    quest.place.run(["tree"]).ok();
    quest.place.run(["report", "--quick"]).exits(8);
}

#[test]
fn changes_of_a_quest_that_is_no_longer_pass_are_told() {
    let quest = quest();
    let pass = |worker: &str, dir: &str| {
        next(&quest, worker, dir);
        write(&quest, &format!("{dir}/in/{worker}.sh"), "exit 0\n");
        let (_, reply) = submit(&quest, worker, dir, &format!("in/{worker}.sh"));
        assert_eq!(reply["verdict"], "PASS", "{reply:#}");
    };
    let seen =
        || {
            let tree = quest.place.run(["tree"]);
            let _ = fs::remove_file(quest.place.at("all.patch"));
            let patch = Run::of(quest.place.command().env("PATH", PATH).args([
                "tree",
                "patch",
                "all.patch",
            ]));
            let report = quest.place.run(["report", "--quick"]);
            let page = ["report", "--quick", "--force", "--out=page.html"];
            let _ = quest.place.run(page);
            let page = fs::read_to_string(quest.place.at("page.html")).expect("a page");
            [tree.stderr, patch.stderr, report.stdout, page]
        };
    for (worker, dir) in [("ann", "w1"), ("bob", "w2"), ("kim", "w3")] {
        pass(worker, dir);
    }
    let said = "the result holds changes of 1 quest that does not count as PASS: 2";
    let (_, reply) = quest.place.json(["tree"]);
    assert_eq!(reply.get("unproven_changes"), None, "{reply:#}");
    assert!(seen().iter().all(|it| !it.contains("does not count")));
    let dispute = ["dispute", "2", "--note=it is wrong"];
    at_terminal(&quest.place, &dispute, "dispute").ok();
    let report = quest.place.run(["report", "--quick"]).ok();
    assert!(
        report.contains("COMPLETE as recorded") && report.contains(said),
        "{report}"
    );
    let reopen = ["reopen", "2", "--note=do it again"];
    at_terminal(&quest.place, &reopen, "reopen").ok();
    for told in seen() {
        assert!(told.contains(said), "{told}");
    }
    for (args, path) in [(&["tree"][..], "tree"), (&["report", "--quick"], "report")] {
        let (_, reply) = quest.place.json(args);
        assert_eq!(reply["unproven_changes"], json!([2]), "{path}: {reply:#}");
    }
    let (_, before) = quest.place.json(["tree", "--at=1"]);
    assert_eq!(before.get("unproven_changes"), None, "{before:#}");
    // Once it passes again, its changes are proven.
    pass("bob", "w4");
    assert!(seen().iter().all(|it| !it.contains("does not count")));
}

/// An agent that adds a line to a file that all quests share.
const AGENT: &str = r#"key=$(grep -o 'Write a script for [a-z]*' | head -n 1 | sed 's/.* //')
case $key in
one) sed -i 's/^# first$/# first one/' in/shared.sh ;;
two) sed -i 's/^# last$/# last two/' in/shared.sh ;;
*) echo '# three' > in/three.sh ;;
esac
test "$COMAIL_TREE" = "$PWD" && pwd > "in/$key.where"
echo '{"file": "in/shared.sh"}'
"#;

#[test]
fn agents_at_once_lose_nothing_and_see_nothing_half_written() {
    let quest = quest();
    let told = run_by(&quest, 3, AGENT).ok();
    assert!(told.contains("a worktree each"), "{told}");
    let (_, closing) = quest.place.json(["next"]);
    let closing = closing.to_string();
    assert!(closing.contains("comail tree apply"), "{closing}");
    let out = quest.place.at("out");
    let shared = accepted(&quest, &out, "in/shared.sh");
    assert_eq!(shared, "# first one\n\n\n# last two\n");
    let places: Vec<String> = ["one", "two", "three"]
        .iter()
        .map(|key| fs::read_to_string(out.join(format!("in/{key}.where"))).expect("a place"))
        .collect();
    let tree = quest.place.at("tree").display().to_string();
    assert!(places.iter().all(|place| !place.starts_with(&tree)));
    assert!(
        places[0] != places[1] && places[1] != places[2],
        "{places:?}"
    );
    assert!(!quest.at("in/one.where").exists());
    quest.place.run(["audit"]).ok();
}

#[test]
fn an_agent_answers_from_its_own_worktree_alone() {
    let quest = quest();
    let comail = env!("CARGO_BIN_EXE_comail");
    let agent = with_id(&format!(
        "{comail} submit --id $id --file=in/no.sh --worktree=/ 2>&1
         {comail} submit --id $id --file=in/yes.sh --worktree=.\n"
    ));
    quest.place.write("agent.sh", agent);
    let mut command = quest.place.command();
    command
        .current_dir(quest.place.at("tree"))
        .env("PATH", PATH)
        .args(["run", "--", "sh"])
        .arg(quest.place.at("agent.sh"));
    let told = Run::of(&mut command).ok();
    assert!(told.contains("3 PASS"), "{told}");
    // The first answer of each would have been FAIL.
    assert_eq!(quest.place.events("attempt").len(), 3);
    let log = quest.place.at(".comail/runs");
    let run = fs::read_dir(&log).expect("runs").next().expect("a run");
    let log = fs::read_to_string(run.expect("a run").path().join("1.log")).expect("a log");
    assert!(log.contains("/ is not your worktree"), "{log}");
}

#[test]
fn an_agent_that_ruins_its_worktree_costs_its_start_alone() {
    let empties = "find . -mindepth 1 -delete";
    let too_large = "mkdir in/large && cd in/large && seq -f 'n%.0f' 100001 | xargs touch";
    // Another answer changes the same line first.
    let late = "sed -i 's/^# first$/# one/' in/shared.sh
                until comail status --json | grep -q '\"pass\":1'; do :; done";
    for (ruin, agents) in [(empties, 1), (too_large, 1), (late, 2)] {
        let quest = quest();
        let agent = format!(
            "prompt=$(cat)\ncase $prompt in\n*'could not be judged'*) touch in/again ;;\n\
             *'script for one'*) {ruin} ;;\n\
             *'script for two'*) sed -i 's/^# first$/# two/' in/shared.sh ;;\nesac\n\
             echo '{{\"file\": \"in/yes.sh\"}}'\n"
        );
        let told = run_by(&quest, agents, &agent).ok();
        assert!(told.contains("3 PASS"), "{ruin}: {told}");
        let (_, reply) = quest.place.json(["tree"]);
        assert!(reply.to_string().contains("in/again"), "{ruin}: {reply:#}");
    }
}

#[test]
fn the_end_of_a_run_judges_everything_once() {
    let quest = quest();
    let run = run_by(&quest, 1, AGENT);
    // Each answer and the earlier ones with it, and in the end all of them.
    let judged = run.stderr.matches("ran a command").count();
    assert_eq!(judged, (1 + 2 + 3) + 3, "{}", run.stderr);
    let told = run.ok();
    assert!(told.contains("3 PASS"), "{told}");
}

#[test]
fn answers_at_once_are_each_judged_with_the_others() {
    let quest = quest();
    for (worker, dir) in [("ann", "w1"), ("bob", "w2"), ("kim", "w3")] {
        next(&quest, worker, dir);
        write(&quest, &format!("{dir}/in/{worker}.sh"), "exit 0\n");
    }
    thread::scope(|scope| {
        for (worker, dir) in [("ann", "w1"), ("bob", "w2"), ("kim", "w3")] {
            let quest = &quest;
            scope.spawn(move || {
                let (code, reply) = submit(quest, worker, dir, &format!("in/{worker}.sh"));
                assert_eq!((code, &reply["verdict"]), (0, &json!("PASS")), "{reply:#}");
            });
        }
    });
    let (_, reply) = quest.place.json(["tree"]);
    let files = reply["files"].as_array().expect("files").iter();
    let paths: Vec<&str> = files.filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["in/ann.sh", "in/bob.sh", "in/kim.sh"]);
    quest.place.run(["report"]).ok();
    quest.place.run(["audit"]).ok();
}
