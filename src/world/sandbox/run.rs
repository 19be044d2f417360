//! Running one command to its end.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, io};

use tempfile::TempDir;

use super::confined::{CONFINED, ENVIRONMENT};
use super::order::{Confinement, End, Means, Order, Ran};
use super::{reports, wire};
use crate::base::process::{Exit, Pipe, ProcessState, Sink, Supervised};

/// Runs a command in a scratch copy and tells what became of it; nothing of it is left running.
#[must_use]
pub fn run(order: &Order, scratch: &Path, launcher: &Launcher) -> Ran {
    let began = Instant::now();
    let mut ran = match launch(order, scratch, launcher) {
        Ok(running) => watch(running, order),
        Err(error) => not_started(&error),
    };
    let read = |report: &String| (report.clone(), reports::read(scratch, report));
    ran.reports = match ran.end {
        End::NotStarted(_) => order.reports.iter().map(|r| (r.clone(), None)).collect(),
        _ => order.reports.iter().map(read).collect(),
    };
    ran.millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Its arguments and its environment may hold what nobody else is to know.
    tracing::info!(
        order = order.name,
        program = order.argv.first().map_or("", String::as_str),
        end = ?ran.end,
        ms = ran.millis,
        "ran a command"
    );
    ran
}

fn launch(order: &Order, scratch: &Path, launcher: &Launcher) -> std::io::Result<Running> {
    for report in &order.reports {
        reports::remove(scratch, report)?;
    }
    Running::start(launcher, order, scratch, Keep::Head(order.output_bytes))
}

fn not_started(error: &std::io::Error) -> Ran {
    Ran {
        end: End::NotStarted(error.to_string()),
        stdout: Vec::new(),
        stderr: Vec::new(),
        reports: BTreeMap::new(),
        confinement: Confinement::default(),
        millis: 0,
    }
}

// Waits for the end of the command; kills it when it takes too long or prints too much.
fn watch(mut running: Running, order: &Order) -> Ran {
    let seen = running.process.wait(order.timeout(), how_it_ended);
    if seen.is_none() {
        running.terminate();
    }
    let process = &mut running.process;
    process.end();
    let state = process.state();
    let end = match seen {
        None => End::TimedOut,
        Some(end @ End::NotStarted(_)) => end,
        // The rest of what it wrote may have come after the word of its end.
        Some(_) if state.output.too_much => End::TooMuchOutput,
        Some(end) => end,
    };
    let (stdout, stderr) = state.output.kept();
    Ran {
        end,
        stdout,
        stderr,
        reports: BTreeMap::new(),
        confinement: state.started.clone().unwrap_or_default(),
        millis: 0,
    }
}

/// How long a command that was asked to end may take over it.
const GRACE: Duration = Duration::from_millis(500);

/// What starts commands: a program that has [`confined`](super::confined()) in its `main`.
#[derive(Debug, Clone)]
pub struct Launcher {
    program: PathBuf,
    hidden: Vec<PathBuf>,
    means: Means,
    /// Where directories for temporary files are made; beside the scratch copy where it is not said.
    temporary: Option<PathBuf>,
}

/// A confined child that runs, and all that is known of it.
#[derive(Debug)]
pub(super) struct Running {
    pub process: Supervised<Confinement, Captured>,
    // Removed once the command is gone.
    _temporary: TempDir,
}

impl Launcher {
    /// This program itself.
    pub fn this() -> io::Result<Self> {
        std::env::current_exe().map(Self::new)
    }

    /// The program of this absolute path.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            hidden: Vec::new(),
            means: Means::ALL,
            temporary: None,
        }
    }

    /// Makes these directories look empty to commands, where they may have mounts of their own.
    ///
    /// One that holds a place where a command runs or may write is left as it is.
    #[must_use]
    pub fn hiding(mut self, hidden: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(hidden);
        self
    }

    /// Makes directories for temporary files here, for commands that run in no copy.
    #[must_use]
    pub fn temporary_in(self, dir: PathBuf) -> Self {
        Self {
            temporary: Some(dir),
            ..self
        }
    }

    /// Uses no more than these means, as if the kernel offered nothing else.
    #[must_use]
    pub fn with_means(mut self, means: Means) -> Self {
        self.means = means;
        self
    }
}

impl Running {
    /// Starts the child; whether it could start the command, it tells later.
    pub(super) fn start(
        launcher: &Launcher,
        order: &Order,
        scratch: &Path,
        keep: Keep,
    ) -> io::Result<Self> {
        let scratch = fs::canonicalize(scratch)?;
        let temporary = match &launcher.temporary {
            Some(dir) => wire::temporary(dir),
            None => wire::beside(&scratch),
        }?;
        let instructions = wire::instructions(launcher.means, order, &scratch, temporary.path())?;
        let setting = wire::setting(
            launcher.means,
            &launcher.hidden,
            order,
            &scratch,
            &instructions,
        );

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
        running.process.send(&setting)?;
        running.process.send(&instructions)?;
        Ok(running)
    }

    /// Asks the command to end, and waits a moment for that.
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

/// What is known of a command that runs.
pub(super) type CommandState = ProcessState<Confinement, Captured>;

/// What is kept of more output than there may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The beginning of both streams together: the command is killed for more.
    Head(u64),
    /// The end of each stream, half of this each.
    Tail(u64),
}

/// The output of a command, as far as it is kept.
#[derive(Debug)]
pub(super) struct Captured {
    pub stdout: VecDeque<u8>,
    pub stderr: VecDeque<u8>,
    /// Whether more was written than may be.
    pub too_much: bool,
    keep: Keep,
}

impl Captured {
    pub(super) fn new(keep: Keep) -> Self {
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

// No order can ask for more than fits into memory.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// How a command ended, once it has or has to be ended.
pub(super) fn how_it_ended(state: &CommandState) -> Option<End> {
    if state.output.too_much {
        return Some(End::TooMuchOutput);
    }
    if let Some(why) = &state.not_started {
        return Some(End::NotStarted(why.clone()));
    }
    // A supervisor that is gone without a word was killed, and all that it watched with it.
    let silent = || match state.started {
        Some(_) => End::Signalled(nix::sys::signal::Signal::SIGKILL as i32),
        None => End::NotStarted("the process that was to start it ended".to_owned()),
    };
    match state.ended {
        Some(Exit::Exited(code)) => Some(End::Exited(code)),
        Some(Exit::Signalled(signal)) => Some(End::Signalled(signal)),
        None => state.gone.map(|_| silent()),
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
