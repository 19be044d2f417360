//! Drives the built binary in a clean environment and a directory of its own.

pub mod agents;
pub mod audited;
#[cfg(target_os = "linux")]
pub mod bench;
pub mod case;
pub mod email_net;
pub mod follower;
pub mod forge;
pub mod forgotten;
pub mod letters;
pub mod made;
pub mod pdf;
pub mod pictured;
pub mod poll;
pub mod postgres;
pub mod quest_play;
pub mod replayed;
#[cfg(target_os = "linux")]
pub mod reviewed;
pub mod scale;
pub mod schemas;
pub mod served;
#[cfg(target_os = "linux")]
pub mod shell_quest;
#[cfg(target_os = "linux")]
pub mod terminal;
pub mod tmux;
pub mod tools;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

pub use email_net::EmailNet;
pub use poll::until;
use postgres::Cluster;

/// Where trees are copied for commands: the directory for temporary files, and memory, which all tests
/// share.
pub fn copies(temporary: &Path) -> Vec<PathBuf> {
    let places = [temporary, Path::new("/dev/shm")].into_iter();
    let entries = places.filter_map(|place| std::fs::read_dir(place).ok());
    let entries = entries.flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// A directory to work in, and the program.
pub struct Place {
    dir: TempDir,
    /// The server that has the session, if all sessions are in a database. It lives as long as this.
    cluster: Option<Arc<Cluster>>,
}

#[must_use]
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let mut place = Self::on_disk();
        if postgres::holds_all_sessions() {
            let cluster = Cluster::shared();
            cluster.hold_session_of(place.path());
            place.cluster = Some(cluster);
        }
        place
    }

    /// A place whose session is a directory, wherever those of other places are.
    pub fn on_disk() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir, cluster: None }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::write(&path, bytes).expect("a file in a temporary directory");
        path
    }

    /// The program with an environment that holds nothing, to be run in the directory.
    pub fn command(&self) -> Command {
        self.clean(env!("CARGO_BIN_EXE_comail"))
    }

    /// The POSIX shell with a script that finds the program as `comail`.
    pub fn shell(&self, script: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_comail"));
        let own = program.parent().map(Path::to_owned);
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = own.into_iter().chain(std::env::split_paths(&inherited));
        let path = std::env::join_paths(path).expect("the paths of a PATH");
        let mut command = self.clean("sh");
        command.args(["-c", script]).env("PATH", path);
        command
    }

    fn clean(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(profile_file().map(|file| ("LLVM_PROFILE_FILE", file)))
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.command().args(args))
    }

    /// Runs the program with these arguments and `--json`, and reads its one document.
    pub fn json<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> (i32, Value) {
        Run::of(self.command().args(args).arg("--json")).json()
    }

    /// Starts the program with these arguments and `--json`, for [`Run::of_child`] to wait for.
    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.command();
        let piped = command.args(args).arg("--json").stdout(Stdio::piped());
        piped.stderr(Stdio::piped()).spawn().expect("it starts")
    }

    /// Scans a list of these company names, one a line, with these further arguments.
    pub fn scan(&self, names: &[&str], args: &[String]) {
        self.write("companies.txt", names.join("\n"));
        let mut command = self.command();
        let run = Run::of(command.args(["scan", "companies.txt"]).args(args));
        run.ok();
    }

    /// Submits that nothing was found for quest `id`, and returns the exit code.
    pub fn give_up(&self, id: u32) -> i32 {
        let id = id.to_string();
        self.run(["submit", "--id", &id, "--none", "looked everywhere"])
            .code
    }

    /// The attempts that the ledger holds: quest and number, in order.
    pub fn attempts(&self) -> Vec<(u64, u64)> {
        let attempts = self.events("attempt").into_iter();
        let number = |body: &Value, name: &str| body[name].as_u64().expect("a number");
        attempts
            .map(|body| (number(&body, "quest"), number(&body, "number")))
            .collect()
    }

    /// The bodies of the ledger's lines of this type, in order.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["type"] == kind);
        lines.iter_mut().map(|line| line["body"].take()).collect()
    }

    /// The lines of the ledger, without one that is still being written.
    pub fn lines(&self) -> Vec<Value> {
        let ledger = String::from_utf8(self.ledger()).expect("a ledger is UTF-8");
        ledger
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).expect("a ledger line is JSON"))
            .collect()
    }

    pub fn ledger(&self) -> Vec<u8> {
        std::fs::read(self.at(".comail/ledger.jsonl")).expect("a ledger")
    }
}

/// Where a program that is built for coverage writes its counts: a few files that all runs share,
/// since a file for each of thousands of runs would fill the disk.
fn profile_file() -> Option<String> {
    let pattern = std::env::var("LLVM_PROFILE_FILE").ok()?;
    Some(pattern.replace("%p", "runs").replace("%m", "%4m"))
}

impl Run {
    /// Runs a command to its end, and checks the JSON that it prints against its schema.
    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the program starts");
        schemas::check(command, &output.stdout);
        Self::from(output)
    }

    pub fn of_child(child: Child) -> Self {
        Self::from(child.wait_with_output().expect("it ends"))
    }

    /// Expects exit code 0 and returns stdout.
    #[track_caller]
    pub fn ok(self) -> String {
        self.exits(0)
    }

    /// Its exit code and its one document.
    #[track_caller]
    pub fn json(self) -> (i32, Value) {
        let value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON document ({error}): {self:?}"));
        (self.code, value)
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        assert!(self.stderr.contains(words), "{words:?} in {}", self.stderr);
    }

    /// Expects this exit code and returns stdout.
    #[track_caller]
    pub fn exits(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:?}");
        self.stdout
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}
