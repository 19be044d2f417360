//! One agent that `comail run` knows, with a session for it and a model to talk to.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::model::{Asked, ModelServer, SCRIPTED, Talk, Turn};
use crate::harness::agents::{Driven, PATH};
use crate::harness::{Place, Run};

/// Names the agents whose programs the tests start, such as `claude,codex`.
const CHOSEN: &str = "COMAIL_TEST_AGENTS";

/// If set, the streams of the chosen agents are recorded.
const RECORD: &str = "COMAIL_RECORD_AGENTS";

pub const COMAIL: &str = env!("CARGO_BIN_EXE_comail");

pub struct Kit {
    name: &'static str,
    pub driven: Driven,
}

/// What came of a run.
pub struct Played {
    pub run: Run,
    /// What the model was asked, if the real program was started.
    pub asked: Option<Vec<Asked>>,
}

impl Kit {
    pub fn of(name: &'static str) -> Self {
        let driven = Driven::new(1);
        Self { name, driven }
    }

    /// Runs the agent with a model that takes these turns.
    ///
    /// If its program is not chosen, a script plays it: it prints the recorded stream, runs the same
    /// commands and ends with this exit code.
    pub fn plays(&self, name: &str, turns: &[Turn], exit: i32, flags: &[&str]) -> Played {
        let recording = recorded().join(self.name).join(format!("{name}.jsonl"));
        if !is_chosen(self.name) {
            return Played {
                run: self.replays(&recording, turns, exit, flags),
                asked: None,
            };
        }
        let programs = programs(self.name);
        if env::var_os(RECORD).is_some() {
            Self::of(self.name).record(&recording, turns, exit, &programs);
        }
        let model = playing(turns);
        let (name, model_name) = (self.name, model_of(self.name));
        let mut command = self.driven.place.command();
        self.driven
            .place
            .prepare(name, &model, &programs, &mut command);
        command.args(["run", "--agent", name, "--model", &model_name]);
        command.arg("--set=backoff=1ms").args(flags).arg("--");
        let run = Run::of(command.args(grant(&self.driven.place, name)));
        Played {
            run,
            asked: Some(model.asked()),
        }
    }

    fn replays(&self, recording: &Path, turns: &[Turn], exit: i32, flags: &[&str]) -> Run {
        assert!(
            recording.exists(),
            "{} is missing: run this test with {CHOSEN}={} and {RECORD}=1",
            recording.display(),
            self.name
        );
        let commands = turns.iter().filter_map(|turn| match turn {
            Turn::Shell(command) => Some(format!("{command}\n")),
            _ => None,
        });
        let commands: String = commands.collect();
        // The agent reads nothing outside its own folders.
        let lines = fs::read_to_string(recording).expect("a recording");
        self.driven.place.write("recording", lines);
        let script = format!("#!/bin/sh\ncat recording\n{commands}exit {exit}\n");
        Run::of(self.driven.known(self.name, &script).args(flags))
    }

    /// Starts the program as `comail run` would, and keeps what it prints until it ends by itself.
    fn record(&self, recording: &Path, turns: &[Turn], exit: i32, programs: &Path) {
        let (place, model) = (&self.driven.place, playing(turns));
        let agent = format!("--agent={}", self.name);
        let model_name = format!("--model={}", model_of(self.name));
        let mut dry = place.command();
        dry.args(["run", "--dry-run", "--json", &agent, &model_name, "--"]);
        let (_, dry) = Run::of(dry.args(grant(place, self.name))).json();
        let prompt = place.write("prompt", format!("  {COMAIL} submit --answer ANSWER\n"));
        let words = dry["argv"].as_array().expect("words").iter();
        let words: Vec<&str> = words
            .map(|word| match word.as_str().expect("a word") {
                "PROMPT_FILE" => "prompt",
                word => word,
            })
            .collect();
        let mut command = Command::new(programs.join(words[0]));
        command.env_clear().current_dir(place.path());
        place.prepare(self.name, &model, programs, &mut command);
        command.args(&words[1..]).env("COMAIL_WORKER", "kit");
        command.stdin(fs::File::open(prompt).expect("the prompt"));
        let ended = command.stderr(Stdio::inherit()).output().expect("an agent");
        assert_eq!(ended.status.code(), Some(exit), "{}", self.name);
        let stdout = String::from_utf8(ended.stdout).expect("UTF-8");
        let stdout = stdout
            .replace(&place.path().display().to_string(), "/work")
            .replace(COMAIL, "/usr/local/bin/comail");
        let lines: String = stdout.lines().map(|line| shortened(line) + "\n").collect();
        fs::create_dir_all(recording.parent().expect("a folder")).expect("a folder");
        fs::write(recording, lines).expect("a recording");
    }
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/recorded")
}

fn is_chosen(name: &str) -> bool {
    let chosen = env::var(CHOSEN).unwrap_or_default();
    chosen.split(',').any(|chosen| chosen.trim() == name)
}

/// The folder of the agents' programs.
fn programs(name: &str) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools/agents/bin");
    assert!(
        programs.join(name).exists(),
        "{CHOSEN} names {name}, which is not installed: run `.ci/agents {name}`, or take the name \
         out of {CHOSEN}"
    );
    programs
}

/// A model that takes these turns. It calls comail as the prompt does.
fn playing(turns: &[Turn]) -> ModelServer {
    let turns = turns.to_vec();
    ModelServer::start(move |talk| match turns.get(talk.outputs.len()) {
        Some(Turn::Shell(command)) => Turn::Shell(as_prompted(command, talk)),
        Some(turn) => turn.clone(),
        None => Turn::say("That is all."),
    })
}

fn as_prompted(command: &str, talk: &Talk) -> String {
    let Some(rest) = command.strip_prefix("comail ") else {
        return command.to_owned();
    };
    let mut lines = talk.text.lines().map(str::trim);
    let line = lines.find(|line| line.contains(" submit ") && line.ends_with(" ANSWER"));
    let (program, _) = line
        .and_then(|line| line.split_once(" submit "))
        .unwrap_or_else(|| panic!("no line with `submit` in the prompt: {}", talk.text));
    format!("{program} {rest}")
}

fn model_of(name: &str) -> String {
    match name {
        "opencode" => format!("scripted/{SCRIPTED}"),
        "aider" => format!("openai/{SCRIPTED}"),
        _ => SCRIPTED.to_owned(),
    }
}

/// The agent's arguments: the flags that `comail run` advises, so that its advice is tried.
fn grant(place: &Place, name: &str) -> Vec<String> {
    let (_, dry) = place.json(["run", "--dry-run", &format!("--agent={name}")]);
    let flags = dry["missing_flags"].as_str().unwrap_or_default();
    let mut flags = shlex::split(flags).expect("words");
    if name == "qwen" {
        flags.extend(["--auth-type", "openai"].map(str::to_owned));
    }
    flags
}

impl Place {
    /// Leads an agent to the model, and to a home of its own.
    fn prepare(&self, name: &str, model: &ModelServer, programs: &Path, command: &mut Command) {
        let (home, url) = (self.at("home"), model.url());
        let stubs = programs.with_file_name("stubs");
        let own = Path::new(COMAIL).parent().expect("a folder");
        for folder in [".codex", ".gemini", "tmp"] {
            fs::create_dir_all(home.join(folder)).expect("a folder");
        }
        // A login shell sets a PATH without the package managers that refuse.
        let profile = format!("PATH={}:$PATH\n", stubs.display());
        self.write("home/.profile", profile);
        let path = [programs, own].map(|folder| folder.display().to_string());
        command
            .env("HOME", &home)
            .env("TMPDIR", home.join("tmp"))
            .env("PATH", format!("{}:{PATH}", path.join(":")))
            .env("TERM", "dumb");
        match name {
            "claude" => {
                command.env("ANTHROPIC_BASE_URL", url);
                command.env("ANTHROPIC_API_KEY", "none");
            }
            "codex" => {
                let config = format!(
                    "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
                     base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
                );
                self.write("home/.codex/config.toml", config);
                command.env("OPENAI_API_KEY", "none");
            }
            "gemini" => {
                let settings = json!({
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "general": {"enableAutoUpdate": false},
                    "privacy": {"usageStatisticsEnabled": false},
                });
                self.write("home/.gemini/settings.json", settings.to_string());
                command.env("GOOGLE_GEMINI_BASE_URL", url);
                command.env("GEMINI_API_KEY", "none");
            }
            "opencode" => {
                let config = json!({
                    "autoupdate": false,
                    "share": "disabled",
                    "small_model": "scripted/small",
                    "provider": {"scripted": {
                        "npm": "@ai-sdk/openai-compatible",
                        "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
                        "models": {SCRIPTED: {}, "small": {}},
                    }},
                });
                let file = self.write("home/opencode.json", config.to_string());
                command.env("OPENCODE_CONFIG", file);
            }
            _ => {
                // Qwen Code and aider call the address differently.
                let url = format!("{url}/v1");
                command.env("OPENAI_BASE_URL", &url);
                command.env("OPENAI_API_BASE", &url);
                command.env("OPENAI_API_KEY", "none");
            }
        }
    }
}

/// An event without most items of its long lists, such as the names of the agent's tools.
fn shortened(line: &str) -> String {
    fn shorten(value: &mut Value) {
        match value {
            Value::Array(items) => {
                if items.iter().all(Value::is_string) {
                    items.truncate(3);
                }
                items.iter_mut().for_each(shorten);
            }
            Value::Object(members) => members.values_mut().for_each(shorten),
            _ => {}
        }
    }
    let Ok(mut event) = serde_json::from_str(line) else {
        return line.to_owned();
    };
    shorten(&mut event);
    event.to_string()
}
