//! Hooks in an agent's settings.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{answer, call, must_go_on, scanned};
use crate::harness::Place;

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

fn install(place: &Place, further: &[&str]) -> crate::harness::Run {
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
    let _ = install(&place, &["--yes", "--rules=rules.toml"]).exits(1);
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
