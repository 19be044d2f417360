//! Drives the built binary in a clean environment and a directory of its own.

pub mod email_net;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub use email_net::EmailNet;

/// A directory to work in, and the program.
pub struct Place {
    dir: TempDir,
}

/// What a run of the program ended with.
#[must_use]
#[derive(Debug)]
pub struct Run {
    /// The exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Place {
    /// An empty directory.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Self { dir }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::write(&path, bytes).expect("a file in a temporary directory");
        path
    }

    /// The program with an environment that holds nothing, to be run in the directory.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_comail"));
        command
            .env_clear()
            .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program with these arguments.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        Run::of(self.command().args(args))
    }

    /// Runs the program with these arguments and `--json`, and reads its one document.
    pub fn json<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> (i32, Value) {
        let run = Run::of(self.command().args(args).arg("--json"));
        let value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("no JSON document ({error}): {run:?}"));
        (run.code, value)
    }

    /// Scans a list of these company names, one a line, with these further arguments.
    pub fn scan(&self, names: &[&str], args: &[String]) {
        self.write("companies.txt", names.join("\n"));
        let mut command = self.command();
        let run = Run::of(command.args(["scan", "companies.txt"]).args(args));
        run.ok();
    }

    /// The ledger as it stands.
    pub fn ledger(&self) -> Vec<u8> {
        std::fs::read(self.at(".comail/ledger.jsonl")).expect("a ledger")
    }
}

impl Run {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        Self::from(command.output().expect("the program starts"))
    }

    /// Expects exit code 0 and returns stdout.
    #[track_caller]
    pub fn ok(self) -> String {
        self.exits(0)
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
