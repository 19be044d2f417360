//! Starting the confined child, and ending it with all that it started.

use std::fs;
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use tempfile::TempDir;

use super::confined::{CONFINED, ENVIRONMENT};
use super::confinement::Means;
use super::order::Order;
use super::prepare;
use super::told::{Keep, Stream, Told};
use super::wire::{self, TERMINATE};

/// How long a command that was asked to end may take over it.
const GRACE: Duration = Duration::from_millis(500);

/// How long is waited for what the kernel has been told to end.
const PATIENCE: Duration = Duration::from_secs(5);

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
    told: Arc<Told>,
    child: Child,
    socket: UnixStream,
    /// Removed when this is dropped, which is after all that could write there has ended.
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

        let (mut socket, theirs) = UnixStream::pair()?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let mut child = Command::new(&launcher.program)
            .arg(CONFINED)
            .env_clear()
            .envs(ENVIRONMENT)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let told = Arc::new(Told::new(keep));
        listen(&told, &mut child, socket.try_clone()?);
        let sent =
            wire::send(&mut socket, &setting).and_then(|()| wire::send(&mut socket, &instructions));
        let running = Self {
            told,
            child,
            socket,
            _temporary: temporary,
        };
        sent.map(|()| running)
    }

    /// The child, which descends to all that the command starts.
    pub(super) fn first(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// What is known of it.
    pub(super) fn told(&self) -> &Told {
        &self.told
    }

    /// Asks the command to end, and waits a little for it.
    pub(super) fn terminate(&mut self) {
        if self.socket.write_all(&[TERMINATE]).is_ok() {
            self.told.wait(in_future(GRACE), |known| {
                (known.gone || known.ended.is_some()).then_some(())
            });
        }
    }

    /// Ends the child and with it all that the command has started.
    pub(super) fn end(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
        let gone = self
            .told
            .wait(in_future(PATIENCE), |known| known.gone.then_some(()));
        if gone.is_none() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        self.told
            .wait(in_future(PATIENCE), |known| (known.open == 0).then_some(()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The moment that far from now, unless that is further than there are moments.
pub(super) fn in_future(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// Reads, each in a thread of its own, what the child tells and what the command writes.
fn listen(told: &Arc<Told>, child: &mut Child, socket: UnixStream) {
    let teller = Arc::clone(told);
    thread::spawn(move || teller.listen(socket));
    if let Some(stdout) = child.stdout.take() {
        let told = Arc::clone(told);
        thread::spawn(move || told.drain(Stream::Out, stdout));
    }
    if let Some(stderr) = child.stderr.take() {
        let told = Arc::clone(told);
        thread::spawn(move || told.drain(Stream::Err, stderr));
    }
}
