//! One agent that `comail run` knows, with a session for it and a model to talk to.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::model::{Asked, ModelServer, SCRIPTED, Talk, Turn};
use crate::harness::agents::PATH;
use crate::harness::follower::Follower;
use crate::harness::{Place, Run};

/// Names the agents whose programs the tests start, such as `claude,codex`.
const CHOSEN: &str = "COMAIL_TEST_AGENTS";

/// If set, the streams of the chosen agents are recorded.
const RECORD: &str = "COMAIL_RECORD_AGENTS";

const COMAIL: &str = env!("CARGO_BIN_EXE_comail");

pub struct Kit<'a> {
    name: &'static str,
    place: &'a Place,
    /// The agent's own arguments.
    own: &'a [&'a str],
}

/// What came of a run.
pub struct Played {
    pub run: Run,
    /// What the model was asked, if the real program was started.
    pub asked: Option<Vec<Asked>>,
}

impl<'a> Kit<'a> {
    /// The agent in a place with a session.
    pub fn of(name: &'static str, place: &'a Place) -> Self {
        let own = &[];
        Self { name, place, own }
    }

    pub fn with(self, own: &'a [&'a str]) -> Self {
        Self { own, ..self }
    }

    /// Runs the agent with a model that takes these turns.
    ///
    /// If its program is not chosen, a script plays it: it prints the stream that was recorded by
    /// this name, makes the same calls and ends with this exit code.
    pub fn plays(&self, name: &str, turns: &[Turn], exit: i32, flags: &[&str]) -> Played {
        if !is_chosen(self.name) {
            let recording = recorded().join(self.name).join(format!("{name}.jsonl"));
            return Played {
                run: self.replays(&recording, turns, exit, flags),
                asked: None,
            };
        }
        let (model, programs) = (playing(turns), programs(self.name));
        let mut command = self.place.command();
        self.prepare(&model, &programs, &mut command);
        command.args(["run", "--agent", self.name, "--model", &self.model()]);
        command.arg("--set=backoff=1ms").args(flags).arg("--");
        let run = Run::of(command.args(self.arguments()));
        Played {
            run,
            asked: Some(model.asked()),
        }
    }

    fn replays(&self, recording: &Path, turns: &[Turn], exit: i32, flags: &[&str]) -> Run {
        let lines = fs::read_to_string(recording).unwrap_or_else(|error| {
            panic!(
                "{}: {error}; run this test with {CHOSEN}={} and {RECORD}=1",
                recording.display(),
                self.name
            )
        });
        // The agent reads nothing outside its own folders.
        self.place.write("recording", lines);
        let calls: String = turns.iter().filter_map(as_command).collect();
        let script = format!("#!/bin/sh\ncat recording\n{calls}exit {exit}\n");
        let bin = self.place.at("bin");
        fs::create_dir_all(&bin).expect("a folder");
        let program = self.place.write(&format!("bin/{}", self.name), script);
        fs::set_permissions(program, Permissions::from_mode(0o755)).expect("a program");
        let mut command = self.place.command();
        command.env("PATH", format!("{}:{PATH}", bin.display()));
        command.args(["run", "--agent", self.name, "--set=backoff=1ms"]);
        Run::of(command.args(flags))
    }

    /// Records what the program prints until it ends by itself, if the tests are to record.
    ///
    /// It is started as `comail run` would start it, and a server judges its answers.
    pub fn record(&self, name: &str, turns: &[Turn], exit: i32) {
        if !is_chosen(self.name) || env::var_os(RECORD).is_none() {
            return;
        }
        let (place, model, programs) = (self.place, playing(turns), programs(self.name));
        let server = Follower::start(place, &["serve", "--json"]);
        let url = server.document()["server"].clone();
        let (_, made) = place.json(["token", "new", "--worker=kit"]);
        let agent = format!("--agent={}", self.name);
        let model_name = format!("--model={}", self.model());
        let mut dry = place.command();
        dry.args(["run", "--dry-run", "--json", &agent, &model_name, "--"]);
        let (_, dry) = Run::of(dry.args(self.arguments())).json();
        let prompt = place.write("prompt", format!("{COMAIL} submit --answer ANSWER\n"));
        let words = dry["argv"].as_array().expect("words").iter();
        let words: Vec<&str> = words
            .map(|word| match word.as_str().expect("a word") {
                "PROMPT_FILE" => "prompt",
                word => word,
            })
            .collect();
        let mut command = Command::new(programs.join(words[0]));
        command.env_clear().current_dir(place.path());
        self.prepare(&model, &programs, &mut command);
        command.args(&words[1..]);
        command.env("COMAIL_SERVER", url.as_str().expect("a URL"));
        command.env("COMAIL_TOKEN", made["token"].as_str().expect("a token"));
        command.stdin(fs::File::open(prompt).expect("the prompt"));
        let ended = command.stderr(Stdio::inherit()).output().expect("an agent");
        assert_eq!(ended.status.code(), Some(exit), "{}", self.name);
        let stdout = String::from_utf8(ended.stdout).expect("UTF-8");
        let stdout = stdout
            .replace(&place.path().display().to_string(), "/project")
            .replace(COMAIL, "/usr/local/bin/comail");
        let lines: String = stdout.lines().map(|line| shortened(line) + "\n").collect();
        let recording = recorded().join(self.name).join(format!("{name}.jsonl"));
        fs::create_dir_all(recording.parent().expect("a folder")).expect("a folder");
        fs::write(recording, lines).expect("a recording");
    }

    fn model(&self) -> String {
        match self.name {
            "opencode" => format!("scripted/{SCRIPTED}"),
            "aider" => format!("openai/{SCRIPTED}"),
            _ => SCRIPTED.to_owned(),
        }
    }

    /// The flags that `comail run` advises, so that its advice is tried, and the agent's own.
    fn arguments(&self) -> Vec<String> {
        let agent = format!("--agent={}", self.name);
        let (_, dry) = self.place.json(["run", "--dry-run", &agent]);
        let flags = dry["missing_flags"].as_str().unwrap_or_default();
        let mut words = shlex::split(flags).expect("words");
        if self.name == "qwen" {
            words.extend(["--auth-type", "openai"].map(str::to_owned));
        }
        words.extend(self.own.iter().map(|&word| word.to_owned()));
        words
    }

    /// Leads the agent to the model, and to a home of its own.
    fn prepare(&self, model: &ModelServer, programs: &Path, command: &mut Command) {
        let (place, home, url) = (self.place, self.place.at("home"), model.url());
        let stubs = programs.with_file_name("stubs");
        let own = Path::new(COMAIL).parent().expect("a folder");
        for folder in [".codex", ".gemini", "tmp"] {
            fs::create_dir_all(home.join(folder)).expect("a folder");
        }
        // A login shell sets a PATH without the package managers that refuse.
        let profile = format!("PATH={}:$PATH\n", stubs.display());
        place.write("home/.profile", profile);
        let path = [programs, own].map(|folder| folder.display().to_string());
        command
            .env("HOME", &home)
            .env("TMPDIR", home.join("tmp"))
            .env("PATH", format!("{}:{PATH}", path.join(":")))
            .env("TERM", "dumb");
        match self.name {
            "claude" => {
                command.env("ANTHROPIC_BASE_URL", url);
                command.env("ANTHROPIC_API_KEY", "none");
            }
            "codex" => {
                let config = format!(
                    "model_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
                     base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
                );
                place.write("home/.codex/config.toml", config);
                command.env("OPENAI_API_KEY", "none");
            }
            "gemini" => {
                let settings = json!({
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "general": {"enableAutoUpdate": false},
                    "privacy": {"usageStatisticsEnabled": false},
                });
                place.write("home/.gemini/settings.json", settings.to_string());
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
                let file = place.write("home/opencode.json", config.to_string());
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
    let mut commands = talk.text.lines().filter_map(|line| {
        let (program, _) = line.trim().split_once(" submit --")?;
        (!program.contains(' ')).then_some(program)
    });
    let program = commands
        .next()
        .unwrap_or_else(|| panic!("no line with `submit` in the prompt: {}", talk.text));
    format!("{program} {rest}")
}

/// A call of a turn in a shell.
fn as_command(turn: &Turn) -> Option<String> {
    match turn {
        Turn::Shell(command) => Some(format!("{command}\n")),
        Turn::Tool(tool, input) => {
            let begin = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "kit", "version": "1"},
            });
            let call = json!({"name": tool, "arguments": input});
            let messages = [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
            ];
            let messages = messages.map(|message| format!("{message}\n")).concat();
            Some(format!("comail mcp << 'END'\n{messages}END\n"))
        }
        Turn::Say(_) | Turn::Refuse(_) => None,
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
