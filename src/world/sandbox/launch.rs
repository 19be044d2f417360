//! Starting the confined child, and ending it with all that it started.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::confined::{CONFINED, ENVIRONMENT};
use super::confinement::{Confinement, Means};
use super::order::Order;
use super::prepare;
use super::told::{Captured, Keep};
use crate::base::process::Supervised;

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
            Some(dir) => prepare::temporary(dir),
            None => prepare::beside(&scratch),
        }?;
        let instructions =
            prepare::instructions(launcher.means, order, &scratch, temporary.path())?;
        let setting = prepare::setting(
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
