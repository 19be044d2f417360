//! Running git so that a repository cannot make it run anything else.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::git::GitError;

/// The bytes of git's complaints that are told.
const COMPLAINT_BYTES: u64 = 2048;

/// What a repository may not set: `-c` weighs more than its own configuration.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    // Nothing of it is run, so it does not matter whose it is.
    "safe.directory=*",
];

/// All that git's environment has.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    // A repository that has not all its objects would start a program to fetch them.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// git, to be run in `root`; the subcommand is still to be said.
pub(super) fn command(git: &Path, root: &Path) -> Command {
    let mut command = Command::new(git);
    command.current_dir(root).env_clear().envs(ENVIRONMENT);
    command.args(["--no-replace-objects", "--no-pager"]);
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// All that a short run of git says.
pub(super) fn read_from(command: Command, doing: &'static str) -> Result<String, GitError> {
    let mut running = Running::start(command, Stdio::null(), doing)?;
    let mut said = String::new();
    let read = running.stdout(doing)?.read_to_string(&mut said);
    read.map_err(GitError::run(doing))?;
    running.finish(doing)?;
    Ok(said)
}

/// A git under way; it does not outlive this.
pub(super) struct Running {
    child: Child,
    complaints: File,
}

impl Running {
    pub(super) fn start(
        mut command: Command,
        stdin: Stdio,
        doing: &'static str,
    ) -> Result<Self, GitError> {
        // A file and not a pipe: nobody reads it while git speaks.
        let complaints = tempfile::tempfile().map_err(GitError::run(doing))?;
        let stderr = complaints.try_clone().map_err(GitError::run(doing))?;
        command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        Ok(Self {
            child: command.spawn().map_err(GitError::run(doing))?,
            complaints,
        })
    }

    pub(super) fn stdout(&mut self, doing: &'static str) -> Result<ChildStdout, GitError> {
        self.child.stdout.take().ok_or_else(|| silent(doing))
    }

    pub(super) fn stdin(&mut self, doing: &'static str) -> Result<ChildStdin, GitError> {
        self.child.stdin.take().ok_or_else(|| silent(doing))
    }

    /// Waits for git's end, which must be a good one.
    pub(super) fn finish(mut self, doing: &'static str) -> Result<(), GitError> {
        let status = self.child.wait().map_err(GitError::run(doing))?;
        if status.success() {
            return Ok(());
        }
        let said = self.complaint().map_err(GitError::run(doing))?;
        let said = if said.is_empty() {
            status.to_string()
        } else {
            said
        };
        Err(GitError::Refused { doing, said })
    }

    fn complaint(&mut self) -> io::Result<String> {
        let mut said = Vec::new();
        self.complaints.rewind()?;
        let mut first = (&self.complaints).take(COMPLAINT_BYTES);
        first.read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless what it says is not wanted any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn silent(doing: &'static str) -> GitError {
    GitError::run(doing)(io::Error::from(io::ErrorKind::BrokenPipe))
}
