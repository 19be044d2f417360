//! Agents that are shell scripts, and sessions for them.

use std::process::Command;

use serde_json::Value;

use super::{Place, Run};

/// A quest whose answers are right if they begin with the word `right`.
pub const QUEST: &str = include_str!("quests/words.toml");

/// Flags of `run` with which nothing takes long that is stopped.
pub const QUICK: [&str; 4] = [
    "--set=backoff=1ms",
    "--set=grace=100ms",
    "--set=last-call=200ms",
    "--set=poll=10ms",
];

pub const PATH: &str = "/usr/bin:/bin";

/// Reads the prompt, and keeps the number of the quest in `$id`.
const READ: &str = "prompt=$(cat); \
     id=$(printf '%s\\n' \"$prompt\" | sed -n 's/^quest \\([0-9]*\\) of .*/\\1/p' | head -n 1)\n";

/// The script, with the number of its quest in `$id`.
pub fn with_id(script: &str) -> String {
    format!("{READ}{script}")
}

/// A session of quests that a script can answer.
pub struct Driven {
    pub place: Place,
}

impl Driven {
    /// A session of `quests` quests that never pauses.
    pub fn new(quests: u32) -> Self {
        Self::scanned(quests, &["--set=scan.pause-after=0", "--max-tries=9"])
    }

    /// The same, scanned with these flags.
    pub fn scanned(quests: u32, flags: &[&str]) -> Self {
        Self::of_kind(QUEST, quests, flags)
    }

    /// A session in which every right answer is left to a person.
    pub fn open(quests: u32) -> Self {
        let kind = format!("open = true\n{QUEST}");
        let kind = kind.replace("verdict = \"PASS\"", "verdict = \"REVIEW\"");
        Self::of_kind(&kind, quests, &["--set=scan.pause-after=0"])
    }

    /// A session of quests of this kind.
    pub fn of_kind(kind: &str, quests: u32, flags: &[&str]) -> Self {
        let place = Place::new();
        let names: Vec<String> = (1..=quests).map(|n| format!("word {n}")).collect();
        place.write("list.txt", names.join("\n"));
        place.write("quest.toml", kind);
        let mut command = place.command();
        command.env("PATH", PATH);
        command.args(["scan", "list.txt", "--quest=quest.toml"]);
        Run::of(command.args(flags)).ok();
        Self { place }
    }

    /// `comail run` with these flags and this script as its agent. The script finds the number of
    /// its quest in `$id`.
    pub fn command(&self, flags: &[&str], script: &str) -> Command {
        let script = with_id(script);
        let mut command = self.place.command();
        command.env("PATH", PATH).arg("run").args(flags);
        command.args(["--", "sh", "-c", &script]);
        command
    }

    /// Writes the program of a known agent, and returns the PATH that finds it.
    pub fn program(&self, name: &str, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let bin = self.place.at("bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        self.place.write(&format!("bin/{name}"), script);
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join(name), all).expect("a program");
        format!("{}:{PATH}", bin.display())
    }

    /// `comail run --agent NAME`, with this script as its program.
    pub fn known(&self, name: &str, script: &str) -> Command {
        let path = self.program(name, script);
        let mut command = self.place.command();
        command.env("PATH", path);
        command.args(["run", &format!("--agent={name}"), "--set=backoff=1ms"]);
        command
    }

    pub fn drive(&self, flags: &[&str], script: &str) -> Run {
        Run::of(&mut self.command(flags, script))
    }

    /// Runs a script that does not finish the work, and expects this reason wherever the run says
    /// why it ended.
    #[track_caller]
    pub fn ends_for(&self, reason: &str, flags: &[&str], script: &str) {
        let flags = [flags, &["--json"]].concat();
        self.run_ends_for(reason, &mut self.command(&flags, script));
    }

    /// The same for a command that runs agents.
    #[track_caller]
    pub fn run_ends_for(&self, reason: &str, command: &mut Command) {
        let run = Run::of(command);
        let seen = format!("{run:?}");
        let text = run.exits(8);
        let ended = |line: &&str| {
            line.starts_with(r#"{"what":"ended""#)
                || line.starts_with("run ") && line.contains(" ended: ")
        };
        let last = text.lines().rev().find(ended);
        let last = last.unwrap_or_default();
        match serde_json::from_str::<Value>(last) {
            Ok(ended) => assert_eq!(ended["reason"], reason, "{seen}"),
            Err(_) => assert!(last.contains(&format!(" ended: {reason} (")), "{seen}"),
        }
        let ends = self.reasons("ended");
        assert_eq!(ends.last().map(String::as_str), Some(reason), "{seen}");
        let run = self.steps_of("ended").pop().expect("an end");
        let run = run["run"].as_str().expect("a name").to_owned();
        let report = self.place.at(&format!(".comail/runs/{run}/report.json"));
        let report = std::fs::read(report).expect("a report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["complete"], false, "{report:#}");
        assert_eq!(report["run"]["reason"], reason, "{report:#}");
        self.assert_free();
    }

    /// The steps of runs that the ledger holds, in order.
    pub fn steps(&self) -> Vec<Value> {
        self.place.events("run")
    }

    pub fn steps_of(&self, what: &str) -> Vec<Value> {
        let mut steps = self.steps();
        steps.retain(|step| step["what"] == what);
        steps
    }

    /// The reasons of the steps of this kind, in order.
    pub fn reasons(&self, what: &str) -> Vec<String> {
        let steps = self.steps_of(what);
        let reason = |step: &Value| step["reason"].as_str().expect("a reason").to_owned();
        steps.iter().map(reason).collect()
    }

    pub fn tally(&self, state: &str) -> u64 {
        let (_, status) = self.place.json(["status"]);
        status["tally"][state].as_u64().expect("a number")
    }

    /// Expects that nobody holds a quest.
    #[track_caller]
    pub fn assert_free(&self) {
        let (_, claims) = self.place.json(["claims"]);
        let held = claims["claims"].as_array().map_or(0, Vec::len);
        assert_eq!(held, 0, "{claims:#}");
    }
}

/// The processes whose command line holds `mark`.
#[cfg(target_os = "linux")]
pub fn alive(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("a list of processes");
    let lines = processes.filter_map(|entry| {
        let path = entry.ok()?.path().join("cmdline");
        let line = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(mark)).collect()
}
