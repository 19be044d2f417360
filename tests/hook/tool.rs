//! What an agent may run and edit.

use serde_json::{Value, json};

use super::{answer, scanned};
use crate::harness::Place;
#[cfg(target_os = "linux")]
use crate::harness::shell_quest::ShellQuest;

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
