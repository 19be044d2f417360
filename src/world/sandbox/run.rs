//! Runs one command in a confined child, to its end.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::command::{CommandResult, CommandSpec, Confinement, End, Means};
use super::reports;
use crate::base::process::{Exit, Pipe, ProcessState, Sink, Supervised};

/// The hidden first argument of a confined child.
pub(super) const CONFINED: &str = "__confined";

// The environment of the confined child itself, not of the command. A build that measures coverage
// would otherwise write its profile wherever it runs.
pub(super) const ENVIRONMENT: [(&str, &str); 1] = [("LLVM_PROFILE_FILE", "/dev/null")];

const GRACE: Duration = Duration::from_millis(500);

// No file that a command writes may become longer, unless its output may.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Everything that a confined child needs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub order: CommandSpec,
    pub scratch: PathBuf,
    /// The working directory.
    pub dir: PathBuf,
    pub writable: Vec<PathBuf>,
    /// Directories that are to appear empty.
    pub hidden: Vec<PathBuf>,
    pub means: Means,
}

impl Request {
    fn new(
        launcher: &Launcher,
        order: &CommandSpec,
        scratch: PathBuf,
        temporary: &Path,
    ) -> io::Result<Self> {
        let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if !order.argv.first().is_some_and(|path| path.starts_with('/')) {
            return refuse("the program is not given as an absolute path");
        }
        let dir = fs::canonicalize(scratch.join(&order.dir));
        let dir = dir.ok().filter(|dir| dir.starts_with(&scratch));
        let Some(dir) = dir.filter(|_| reports::is_beneath(&order.dir)) else {
            return refuse("the working directory is not in the scratch copy");
        };
        let mut writable = vec![scratch.clone(), temporary.to_owned()];
        for path in &order.writable {
            if !path.starts_with('/') {
                return refuse("a writable path is not absolute");
            }
            // A path that does not exist cannot be written to, and does not keep us from running.
            writable.extend(fs::canonicalize(path));
        }
        let mut order = order.clone();
        if !order.env.contains_key("TMPDIR") {
            let temporary = temporary.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
            order.env.insert("TMPDIR".to_owned(), temporary.to_owned());
        }
        let hidden = launcher.hidden.iter();
        Ok(Self {
            order,
            scratch,
            dir,
            writable,
            hidden: hidden.flat_map(fs::canonicalize).collect(),
            means: launcher.means,
        })
    }

    pub(super) fn max_file_bytes(&self) -> u64 {
        MAX_FILE_BYTES.max(self.order.output_bytes)
    }
}

/// Runs a command in a scratch copy. Nothing of it is left running.
pub fn run(order: &CommandSpec, scratch: &Path, launcher: &Launcher) -> CommandResult {
    let began = Instant::now();
    let removed = order
        .reports
        .iter()
        .try_for_each(|report| reports::remove(scratch, report));
    let keep = Keep::Head(order.output_bytes);
    let running = removed.and_then(|()| Running::start(launcher, order, scratch, keep));
    let mut ran = match running {
        Ok(running) => wait(running, order),
        Err(error) => CommandResult::not_started(order, error.to_string()),
    };
    if !matches!(ran.end, End::NotStarted(_)) {
        for (name, contents) in &mut ran.reports {
            *contents = reports::read(scratch, name);
        }
    }
    ran.millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Arguments and environment may hold secrets, so they are not logged.
    tracing::info!(
        order = order.name,
        program = order.argv.first().map_or("", String::as_str),
        end = ?ran.end,
        ms = ran.millis,
        "ran a command"
    );
    ran
}

// Waits for the end of the command; kills it if it takes too long or prints too much.
fn wait(mut running: Running, order: &CommandSpec) -> CommandResult {
    let seen = running.process.wait(order.timeout(), how_it_ended);
    if seen.is_none() {
        running.terminate();
    }
    running.process.end();
    let state = running.process.state();
    let end = match seen {
        None => End::TimedOut,
        Some(end @ End::NotStarted(_)) => end,
        // The last output may arrive after the report of its end.
        Some(_) if state.output.too_much => End::TooMuchOutput,
        Some(end) => end,
    };
    let (stdout, stderr) = state.output.kept();
    let reports = order.reports.iter().map(|name| (name.clone(), None));
    CommandResult {
        end,
        stdout,
        stderr,
        reports: reports.collect::<BTreeMap<_, _>>(),
        confinement: state.started.clone().unwrap_or_default(),
        millis: 0,
    }
}

/// Starts commands: a program whose `main` calls [`confined`](super::confined()).
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    hidden: Vec<PathBuf>,
    means: Means,
    // Where temporary directories are made; if none is set, next to the scratch copy.
    temporary: Option<PathBuf>,
}

impl Launcher {
    pub fn this() -> io::Result<Self> {
        std::env::current_exe().map(Self::new)
    }

    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            hidden: Vec::new(),
            means: Means::ALL,
            temporary: None,
        }
    }

    /// Makes these directories appear empty if commands have a mount namespace. A directory that
    /// contains a place where a command runs or may write is left as it is.
    pub fn hiding(mut self, hidden: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(hidden);
        self
    }

    /// Makes temporary directories here, for commands that run in the tree itself.
    pub fn temporary_in(self, dir: PathBuf) -> Self {
        Self {
            temporary: Some(dir),
            ..self
        }
    }

    /// Uses only these features, as if the kernel offered nothing else.
    pub fn with_means(mut self, means: Means) -> Self {
        self.means = means;
        self
    }
}

/// A confined child that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub process: Supervised<Confinement, Captured>,
    // Removed once the command is gone.
    _temporary: TempDir,
}

impl Running {
    /// Starts the child. It reports later whether it could start the command.
    pub(super) fn start(
        launcher: &Launcher,
        order: &CommandSpec,
        scratch: &Path,
        keep: Keep,
    ) -> io::Result<Self> {
        let scratch = fs::canonicalize(scratch)?;
        // Not in the scratch copy: a command that lists its tree must not find it.
        let beside = launcher.temporary.as_deref().or(scratch.parent());
        let beside = fs::canonicalize(beside.unwrap_or(&scratch))?;
        let temporary = tempfile::Builder::new().prefix("tmp-").tempdir_in(beside)?;
        let request = Request::new(launcher, order, scratch, temporary.path())?;
        let mut child = Command::new(&launcher.program);
        child
            .arg(CONFINED)
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/");
        let process = Supervised::spawn(&mut child, Captured::new(keep))?;
        let running = Self {
            process,
            _temporary: temporary,
        };
        // Two processes need it: the one that enters the namespaces, and the first process inside
        // them. Each reads a copy of its own; the environment must not appear in an argument.
        running.process.send(&request)?;
        running.process.send(&request)?;
        Ok(running)
    }

    pub(super) fn terminate(&self) {
        self.process
            .terminate(GRACE, |state| state.gone.is_some() || state.ended.is_some());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.process.end();
    }
}

/// What is kept of output that is longer than it may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The beginning of both streams together; the command is killed for more.
    Head(u64),
    /// The end of each stream, half of this each.
    Tail(u64),
}

/// The output of a command, as far as it is kept.
#[derive(Debug)]
pub(super) struct Captured {
    stdout: VecDeque<u8>,
    stderr: VecDeque<u8>,
    too_much: bool,
    keep: Keep,
}

impl Captured {
    fn new(keep: Keep) -> Self {
        Self {
            stdout: VecDeque::new(),
            stderr: VecDeque::new(),
            too_much: false,
            keep,
        }
    }

    pub(super) fn kept(&self) -> (Vec<u8>, Vec<u8>) {
        let bytes = |kept: &VecDeque<u8>| kept.iter().copied().collect();
        (bytes(&self.stdout), bytes(&self.stderr))
    }
}

impl Sink for Captured {
    fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        let in_memory = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let before = self.stdout.len() + self.stderr.len();
        let kept = match pipe {
            Pipe::Out => &mut self.stdout,
            Pipe::Err => &mut self.stderr,
        };
        match self.keep {
            Keep::Head(most) => {
                let room = in_memory(most).saturating_sub(before);
                kept.extend(&bytes[..room.min(bytes.len())]);
                self.too_much |= room < bytes.len();
            }
            Keep::Tail(most) => {
                kept.extend(bytes);
                let over = kept.len().saturating_sub(in_memory(most / 2));
                kept.drain(..over);
            }
        }
    }
}

/// How a command ended, or why it has to be ended.
pub(super) fn how_it_ended(state: &ProcessState<Confinement, Captured>) -> Option<End> {
    if state.output.too_much {
        return Some(End::TooMuchOutput);
    }
    if let Some(why) = &state.not_started {
        return Some(End::NotStarted(why.clone()));
    }
    match state.ended {
        Some(Exit::Exited(code)) => Some(End::Exited(code)),
        Some(Exit::Signalled(signal)) => Some(End::Signalled(signal)),
        // A supervisor that is gone without a report was killed, with everything below it.
        None => state.gone.map(|_| match state.started {
            Some(_) => End::Signalled(nix::sys::signal::Signal::SIGKILL as i32),
            None => End::NotStarted("the process that was to start it ended".to_owned()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_no_more_than_it_may() {
        for (keep, stdout, stderr, too_much) in [
            (Keep::Head(6), "abc", "def", false),
            (Keep::Head(4), "abc", "d", true),
            (Keep::Tail(4), "bc", "ef", false),
        ] {
            let mut captured = Captured::new(keep);
            captured.take(Pipe::Out, b"abc");
            captured.take(Pipe::Err, b"def");
            let expected = (stdout.into(), stderr.into());
            assert_eq!(captured.kept(), expected, "{keep:?}");
            assert_eq!(captured.too_much, too_much, "{keep:?}");
        }
    }
}
