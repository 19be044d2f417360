//! The hooks of coding agents: when an agent may stop, what it may run and edit, and how they are
//! installed in an agent's settings.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use crate::harness::shell_quest::ShellQuest;
use crate::harness::{Place, Run};

/// The program's reply to a call.
#[track_caller]
fn answer(command: &mut Command, call: &[u8]) -> Value {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may reply before it has read everything.
    let _ = stdin.write_all(call);
    drop(stdin);
    let run = Run::from(child.wait_with_output().expect("the program ends"));
    let stdout = run.ok();
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

fn scanned(names: &[&str]) -> Place {
    let place = Place::new();
    place.scan(
        names,
        &[
            "--max-tries=1".to_owned(),
            "--set=scan.pause-after=2".to_owned(),
        ],
    );
    place
}

fn call(active: bool) -> Value {
    json!({
        "session_id": "one", "transcript_path": "/t", "cwd": "/",
        "hook_event_name": "Stop", "stop_hook_active": active,
    })
}

#[track_caller]
fn stop(place: &Place, args: &[&str], said: &Value) -> Value {
    let mut command = place.command();
    command.args(["hook", "stop"]).args(args);
    answer(&mut command, said.to_string().as_bytes())
}

/// Expects that the agent may stop, and returns the reason.
#[track_caller]
fn may_stop(reply: &Value) -> String {
    assert!(reply.get("decision").is_none(), "{reply:#}");
    reply["systemMessage"]
        .as_str()
        .expect("a reason")
        .to_owned()
}

/// Expects that the agent may not stop, and returns its task.
#[track_caller]
fn must_go_on(reply: &Value) -> String {
    assert_eq!(reply["decision"], "block", "{reply:#}");
    reply["reason"].as_str().expect("a reason").to_owned()
}

#[test]
fn a_stop_is_refused_with_the_next_quest_while_quests_are_left() {
    let place = scanned(&["Acme", "Bolt"]);
    let text = must_go_on(&stop(&place, &[], &call(false)));
    let next = place.run(["next"]).ok();
    assert!(text.contains("2 quests left"), "{text}");
    assert!(text.ends_with(&next), "{text}");
    assert_eq!(place.give_up(1), 6);
    let text = must_go_on(&stop(&place, &[], &call(true)));
    assert!(text.contains("Bolt"), "{text}");
    assert!(text.contains("1 quest left"), "{text}");
}

#[test]
fn an_agent_may_stop_when_no_quest_is_left_or_the_session_is_paused() {
    let place = scanned(&["Acme"]);
    must_go_on(&stop(&place, &[], &call(false)));
    assert_eq!(place.give_up(1), 6);
    let said = may_stop(&stop(&place, &[], &call(true)));
    assert!(said.contains("settled: the 1 quest is settled"), "{said}");
    let place = scanned(&["Acme", "Bolt", "Cargo"]);
    assert_eq!([place.give_up(1), place.give_up(2)], [6, 6]);
    let said = may_stop(&stop(&place, &[], &call(false)));
    assert!(said.contains("paused"), "{said}");
}

#[test]
fn an_agent_waits_for_other_workers_up_to_the_limit() {
    let place = scanned(&["Acme"]);
    place.run(["next", "--worker=a"]).ok();
    let others = |active| stop(&place, &["--worker=b", "--max-refusals=2"], &call(active));
    for active in [false, true] {
        let text = must_go_on(&others(active));
        assert!(text.contains("other workers hold"), "{text}");
        assert!(text.contains("no quest is available"), "{text}");
    }
    let said = may_stop(&others(true));
    assert!(said.contains("2 times"), "{said}");
    let text = must_go_on(&stop(&place, &["--worker=a"], &call(false)));
    assert!(text.contains("claimed by a"), "{text}");
}

#[test]
fn an_agent_may_stop_after_the_limit_of_refusals() {
    let place = scanned(&["Acme", "Bolt"]);
    let again = |active| stop(&place, &["--max-refusals=3"], &call(active));
    for turn in 0..3 {
        must_go_on(&again(turn > 0));
    }
    let said = may_stop(&again(true));
    assert!(said.contains("2 quests left"), "{said}");
    assert!(said.contains("3 times"), "{said}");
    // The count starts over once the agent may stop, and each conversation has its own.
    must_go_on(&again(false));
    must_go_on(&again(true));
    must_go_on(&again(true));
    let mut other = call(true);
    other["session_id"] = "two".into();
    must_go_on(&stop(&place, &["--max-refusals=3"], &other));
    // It also starts over when the ledger changes.
    assert_eq!(place.give_up(1), 6);
    must_go_on(&again(true));
}

#[test]
fn one_stop_is_refused_if_the_count_cannot_be_saved() {
    let place = scanned(&["Acme"]);
    std::fs::write(place.at(".comail/hooks"), "in the way").expect("a file");
    must_go_on(&stop(&place, &[], &call(false)));
    let said = may_stop(&stop(&place, &[], &call(true)));
    assert!(said.contains("cannot be saved"), "{said}");
}

#[test]
fn an_agent_may_stop_if_the_session_cannot_be_read() {
    let place = Place::new();
    assert!(may_stop(&stop(&place, &[], &call(false))).contains("no session"));
    let place = scanned(&["Acme"]);
    let part = json!({ "hook_event_name": "SubagentStop" });
    may_stop(&stop(&place, &[], &part));
    std::fs::write(place.at(".comail/ledger.jsonl"), "no ledger\n").expect("a file");
    may_stop(&stop(&place, &[], &call(false)));
    // Exit code 2 of bad usage would never let the agent stop.
    let run = place.run(["hook", "stop", "--no-such-flag"]);
    let _ = run.exits(1);
    let _ = place.run(["hook", "tool", "--no-such-flag"]).exits(2);
}

#[test]
fn a_call_that_cannot_be_read_is_answered_from_the_ledger() {
    let place = scanned(&["Acme"]);
    let answer = |said: &[u8]| {
        let mut command = place.command();
        answer(command.args(["hook", "stop", "--max-refusals=3"]), said)
    };
    for said in [&b""[..], b"{", b"\xff"] {
        must_go_on(&answer(said));
    }
    may_stop(&answer(b""));
}

#[test]
fn in_a_run_an_agent_continues_only_its_own_quest() {
    let place = scanned(&["Acme", "Bolt"]);
    let stop = |worker: &str| {
        let mut command = place.command();
        command
            .args(["hook", "stop"])
            .env("COMAIL_RUN", "r")
            .env("COMAIL_WORKER", worker);
        answer(&mut command, call(false).to_string().as_bytes())
    };
    place.run(["next", "--worker=run-r.1"]).ok();
    assert!(must_go_on(&stop("run-r.1")).contains("Acme"));
    let before = place.ledger();
    assert!(may_stop(&stop("run-r.2")).contains("the run"));
    assert_eq!(place.ledger(), before);
    let mut command = place.command();
    command
        .args(["hook", "stop", "--worker=run-r.1"])
        .env("COMAIL_LAST_CALL", "1");
    let last = answer(&mut command, call(false).to_string().as_bytes());
    assert!(may_stop(&last).contains("budget"));
}

#[test]
fn each_agent_gets_its_own_form_of_reply() {
    let place = scanned(&["Acme"]);
    let said = json!({ "hook_event_name": "AfterAgent", "stop_hook_active": false });
    let reply = stop(&place, &["--agent=gemini"], &said);
    assert_eq!(reply["decision"], "deny", "{reply:#}");
    // The login shell of Codex may not find comail by its name.
    let text = must_go_on(&stop(&place, &["--agent=codex"], &call(false)));
    let submit = concat!("\n  ", env!("CARGO_BIN_EXE_comail"), " submit ");
    assert!(text.contains(submit), "{text}");
    let _ = place.run(["hook", "tool", "--agent=nobody"]).exits(2);
}

/// A session whose quest kind has the tree `tree` and the write zone `in`.
#[cfg(target_os = "linux")]
fn with_tree() -> Place {
    ShellQuest::new("5s").place
}

/// The decision about a call, `-` if the agent decides; and the reason.
#[track_caller]
fn decided(place: &Place, args: &[&str], tool: &str, input: &Value) -> (String, String) {
    let call = json!({
        "hook_event_name": "PreToolUse", "cwd": place.path(),
        "tool_name": tool, "tool_input": input,
    });
    let mut command = place.command();
    command.args(["hook", "tool"]).args(args);
    let reply = answer(&mut command, call.to_string().as_bytes());
    let own = &reply["hookSpecificOutput"];
    let text = |name: &str| own[name].as_str().unwrap_or("-").to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[track_caller]
fn runs(place: &Place, args: &[&str], line: &str) -> String {
    decided(place, args, "Bash", &json!({ "command": line })).0
}

#[track_caller]
fn edits(place: &Place, path: &str) -> String {
    let input = json!({ "file_path": path, "content": "" });
    decided(place, &[], "Write", &input).0
}

#[test]
fn the_rules_decide_about_commands() {
    let place = scanned(&["Acme"]);
    place.write(
        "rules.toml",
        "[[rule]]\nprefix = ['git']\ndecision = 'allow'\n\
         [[rule]]\nprefix = ['git', 'push']\ndecision = 'ask'\n\
         [[rule]]\nprefix = ['rm']\ndecision = 'deny'\nwhy = 'nothing is lost'\n",
    );
    let rules = ["--rules=rules.toml"];
    assert_eq!(runs(&place, &rules, "git status"), "allow");
    assert_eq!(runs(&place, &rules, "git status; make"), "-");
    assert_eq!(runs(&place, &rules, "git push"), "ask");
    let unattended = ["--rules=rules.toml", "--unattended"];
    assert_eq!(runs(&place, &unattended, "git push"), "deny");
    let rm = json!({ "command": "git status; rm x" });
    let (decision, why) = decided(&place, &rules, "Bash", &rm);
    assert_eq!(decision, "deny");
    assert!(why.contains("nothing is lost"), "{why}");
    let codex = ["--rules=rules.toml", "--agent=codex"];
    assert_eq!(runs(&place, &codex, "git push"), "deny");
    assert_eq!(runs(&place, &codex, "git status"), "-");
}

#[test]
fn the_session_and_the_commands_of_a_person_are_protected() {
    let place = scanned(&["Acme"]);
    for line in [
        "git status; rm -rf .comail",
        "cat .comail/ledger.jsonl",
        "comail resume",
    ] {
        assert_eq!(runs(&place, &[], line), "deny", "{line}");
    }
    assert_eq!(runs(&place, &[], "comail next"), "allow");
    assert_eq!(runs(&place, &[], "make"), "-");
    // In a run nobody is asked.
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": "make $(cat list)" } });
    for (run, decision) in [("", "ask"), ("r", "deny")] {
        let mut command = place.command();
        command.args(["hook", "tool"]).env("COMAIL_RUN", run);
        let reply = answer(&mut command, call.to_string().as_bytes());
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], decision);
    }
    assert_eq!(edits(&place, ".comail/ledger.jsonl"), "deny");
    assert_eq!(edits(&place, "notes.md"), "-");
}

#[cfg(target_os = "linux")]
#[test]
fn edits_stay_in_the_write_zone() {
    let place = with_tree();
    for path in ["tree/in/new", "tree/in/../in/a/b"] {
        assert_eq!(edits(&place, path), "allow", "{path}");
        let absolute = place.at(path).display().to_string();
        assert_eq!(edits(&place, &absolute), "allow", "{path}");
    }
    for path in ["tree/out", "tree/in/../out", "/etc/passwd"] {
        assert_eq!(edits(&place, path), "deny", "{path}");
    }
    assert_eq!(runs(&place, &[], "echo x > tree/out"), "deny");
    assert_eq!(runs(&place, &[], "echo x > tree/in/a"), "-");
}

#[test]
fn a_call_that_cannot_be_read_is_denied() {
    let place = scanned(&["Acme"]);
    let denied = |place: &Place, args: &[&str], said: &[u8]| {
        let mut command = place.command();
        let reply = answer(command.args(["hook", "tool"]).args(args), said);
        reply["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    let good = br#"{"tool_name":"Read","tool_input":{}}"#;
    assert!(!denied(&place, &[], good));
    for said in [
        &b""[..],
        b"{",
        b"[]",
        b"\xff",
        br#"{"tool_name":"Bash","tool_input":{}}"#,
    ] {
        assert!(denied(&place, &[], said));
    }
    assert!(denied(&place, &["--rules=none.toml"], good));
    place.write("bad.toml", "rules = 1");
    assert!(denied(&place, &["--rules=bad.toml"], good));
    place.write(".comail/session.json", "{");
    assert!(denied(&place, &[], good));
}

const SETTINGS: &str = ".claude/settings.json";

const THEIRS: &str = r#"{
  "model": "best",
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "say done" } ] }
    ]
  },
  "env": {"B": "1", "A": "2"}
}
"#;

fn install(place: &Place, further: &[&str]) -> Run {
    place.run([&["hook", "install", "--agent=claude"], further].concat())
}

fn with_theirs() -> (Place, PathBuf) {
    let place = scanned(&["Acme"]);
    fs::create_dir(place.at(".claude")).expect("a folder");
    let file = place.write(SETTINGS, THEIRS);
    (place, file)
}

fn settings(place: &Place) -> Value {
    let bytes = fs::read(place.at(SETTINGS)).expect("settings");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn the_shown_change_is_written_and_everything_else_stays() {
    let (place, file) = with_theirs();
    let shown = install(&place, &[]);
    shown.says("nothing was written");
    let shown = shown.exits(2);
    assert_eq!(fs::read_to_string(&file).expect("settings"), THEIRS);

    let written = install(&place, &["--yes"]).ok();
    assert!(
        written.starts_with(&shown) && written.ends_with("\nwritten\n"),
        "{written}"
    );
    let program = env!("CARGO_BIN_EXE_comail");
    let home = place.path().to_str().expect("UTF-8").to_owned();
    let text = written
        .replace(program, "[PROGRAM]")
        .replace(&home, "[HOME]");
    insta::assert_snapshot!("install", text);

    let new = fs::read_to_string(&file).expect("settings");
    for line in THEIRS.lines().filter(|line| line.len() > 9) {
        assert!(new.contains(line.trim_end_matches(',')), "{line}\n{new}");
    }
    let again = install(&place, &["--yes"]).ok();
    assert!(again.contains("already has the hooks"), "{again}");
    for (agent, trust) in [
        ("codex", "--trust --dangerously-bypass-hook-trust"),
        ("gemini", "GEMINI_CLI_TRUST_WORKSPACE=true"),
    ] {
        let agent = format!("--agent={agent}");
        for _ in 0..2 {
            let shown = place.run(["hook", "install", &agent, "--yes"]).ok();
            let last = format!("Start it with: {trust}\n");
            assert!(shown.ends_with(&last), "{shown}");
        }
    }
    assert_eq!(fs::read_to_string(&file).expect("settings"), new);
}

#[test]
fn an_agent_can_call_what_was_installed() {
    let place = scanned(&["Acme"]);
    place.write("rules.toml", "default = 'deny'");
    install(&place, &["--yes", "--rules=rules.toml", "--unattended"]).ok();
    let settings = settings(&place);
    let command = |event: &str| {
        let line = settings["hooks"][event][0]["hooks"][0]["command"].as_str();
        let mut shell = place.shell(line.expect("a command"));
        shell.current_dir("/");
        shell
    };
    let reply = answer(&mut command("Stop"), call(false).to_string().as_bytes());
    let text = must_go_on(&reply);
    let session = place.at(".comail");
    assert!(
        text.contains(&format!("--session {}", session.display())),
        "{text}"
    );
    let ls = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let reply = answer(&mut command("PreToolUse"), ls.to_string().as_bytes());
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn doctor_says_whether_an_installed_hook_was_ever_called() {
    let place = scanned(&["Acme"]);
    let findings = || {
        let (_, answer) = place.json(["doctor", "--offline"]);
        let mut findings = answer["findings"].as_array().expect("findings").clone();
        findings.retain(|finding| finding["check"] == "hooks");
        findings
    };
    assert_eq!(findings(), [Value::Null; 0], "none is installed");
    install(&place, &[]).exits(2);
    assert_eq!(findings(), [Value::Null; 0], "the change was not made");
    for agent in ["--agent=claude", "--agent=codex"] {
        place.run(["hook", "install", agent, "--yes"]).ok();
    }
    let never = findings();
    assert_eq!(never.len(), 2, "{never:?}");
    for (finding, agent) in never.iter().zip(["claude", "codex"]) {
        assert_eq!(finding["level"], "note", "{finding}");
        let found = finding["found"].as_str().expect("a text");
        assert!(
            found.starts_with(&format!("{agent} has not called")),
            "{found}"
        );
    }
    let hint = never[1]["hint"].as_str().expect("a hint");
    assert!(hint.contains("--dangerously-bypass-hook-trust"), "{hint}");

    stop(&place, &[], &call(false));
    let now = findings();
    assert_eq!(now[0]["level"], "ok", "{now:?}");
    let found = now[0]["found"].as_str().expect("a text");
    assert!(
        found.contains(": stop last at 2") && found.ends_with(", tool never"),
        "{found}"
    );
    assert_eq!(now[1], never[1], "it is another agent's");
}

#[test]
fn invalid_settings_are_not_changed() {
    let (place, file) = with_theirs();
    for text in ["{", "// mine\n{}", "{\"hooks\": 1}"] {
        fs::write(&file, text).expect("settings");
        let run = install(&place, &["--yes"]);
        run.says("was not changed");
        let _ = run.exits(1);
        assert_eq!(fs::read_to_string(&file).expect("settings"), text);
    }
    fs::write(&file, "{}").expect("settings");
    install(&place, &["--yes"]).ok();
}

#[test]
fn hooks_need_a_session_and_valid_rules() {
    let place = Place::new();
    let _ = install(&place, &["--yes"]).exits(1);
    assert!(!place.at(".claude").exists());
    let place = scanned(&["Acme"]);
    place.write("rules.toml", "nonsense");
    let _ = install(&place, &["--yes", "--rules=rules.toml"]).exits(2);
    assert!(!place.at(".claude").exists());
    let (code, answer) = place.json(["hook", "install", "--agent=gemini", "--dir=.", "--yes"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["written"], true, "{answer}");
    assert!(place.at(".gemini/settings.json").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn a_word_confirms_at_a_terminal() {
    use crate::harness::terminal::at_terminal;
    let place = scanned(&["Acme"]);
    let args = ["hook", "install", "--agent=claude"];
    let _ = at_terminal(&place, &args, "no").exits(1);
    assert!(!place.at(SETTINGS).exists());
    at_terminal(&place, &args, "install").ok();
    assert!(settings(&place)["hooks"]["Stop"].is_array());
}
