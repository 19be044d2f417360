//! What every command is given: the session's place, the world, the output, the clock and
//! randomness.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use jiff::Timestamp;

use super::exit::UsageError;
use super::output::Output;
use super::progress::SessionBar;
use crate::base::clock::{Clock as _, Salt, SystemClock};
use crate::session::{BadWorker, Session, Watch, Worker};
use crate::world::evidence::recorded::RecordedWorld;

/// What every command is given.
pub struct Context {
    session_dir: PathBuf,
    named_session: Option<PathBuf>,
    /// The worker that the environment names.
    named_worker: Option<String>,
    /// How many things mended were told of.
    told: usize,
    /// The world that stands in for the live one.
    recorded: Option<Rc<RecordedWorld>>,
    /// Where to write.
    pub output: Output,
}

/// Where a session lies when nothing names another place.
pub(super) const DEFAULT_SESSION: &str = ".comail";

/// The variable that names another place.
pub(super) const SESSION_VARIABLE: &str = "COMAIL_SESSION";

/// The variable that names the worker who calls.
pub(super) const WORKER_VARIABLE: &str = "COMAIL_WORKER";

/// What a command line must name to reach a session as a worker; what the environment names it
/// need not.
#[derive(Debug, Clone, Default)]
pub(super) struct Reaching {
    /// The session directory.
    pub(super) session: Option<PathBuf>,
    /// The worker.
    pub(super) worker: Option<Worker>,
}

impl Context {
    /// The context of one call.
    ///
    /// `flag` is the session that `--session` names, `environment` the one that
    /// `COMAIL_SESSION` does.
    #[must_use]
    pub fn new(flag: Option<PathBuf>, environment: Option<PathBuf>, output: Output) -> Self {
        let session_dir = flag
            .clone()
            .or(environment)
            .unwrap_or_else(|| DEFAULT_SESSION.into());
        Self {
            session_dir,
            named_session: flag,
            named_worker: None,
            told: 0,
            recorded: None,
            output,
        }
    }

    /// The same call, before a recorded world in place of the live one. No argument and no
    /// variable of the environment leads here.
    #[must_use]
    pub(super) fn before(self, world: Rc<RecordedWorld>) -> Self {
        Self {
            recorded: Some(world),
            ..self
        }
    }

    /// The same call, by the worker whom `COMAIL_WORKER` names.
    #[must_use]
    pub(super) fn by_worker(self, name: Option<String>) -> Self {
        Self {
            named_worker: name,
            ..self
        }
    }

    /// The worker who calls: the one of the flag, else that of `COMAIL_WORKER`.
    pub(super) fn worker_of(&self, flag: Option<&Worker>) -> Result<Option<Worker>> {
        let named = match (flag, &self.named_worker) {
            (Some(flag), _) => return Ok(Some(flag.clone())),
            (None, Some(named)) => named,
            (None, None) => return Ok(None),
        };
        let worker = named.parse().map_err(|error: BadWorker| {
            UsageError(format!("{WORKER_VARIABLE}: {error}; nothing changed"))
        })?;
        Ok(Some(worker))
    }

    /// What command lines must name that are to reach the same session as the same worker.
    #[must_use]
    pub(super) fn reaching(&self, worker: Option<&Worker>) -> Reaching {
        Reaching {
            session: self.named_session.clone(),
            worker: worker.cloned(),
        }
    }

    /// The world that stands in for the live one, where one does.
    #[must_use]
    pub(super) fn recorded_world(&self) -> Option<&RecordedWorld> {
        self.recorded.as_deref()
    }

    /// The session directory.
    #[must_use]
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// The session directory, where `--session` named it: a command line that is to reach the
    /// same session must name it too.
    #[must_use]
    pub fn named_session(&self) -> Option<&Path> {
        self.named_session.as_deref()
    }

    /// Opens the session, and says on stderr what was mended.
    pub fn open_session(&mut self) -> Result<Session> {
        let session = Session::open_watched(&self.session_dir, self.watch())?;
        session.tell();
        self.report_mended(&session);
        Ok(session)
    }

    /// The same, its index held against the whole ledger: for what a person goes by who decides.
    pub fn open_folded(&mut self) -> Result<Session> {
        let mut session = self.open_session()?;
        session.fold()?;
        self.report_mended(&session);
        Ok(session)
    }

    /// Says on stderr what was mended in `session`, each once.
    pub fn report_mended(&mut self, session: &Session) {
        let mended = session.mended();
        for new in mended.iter().skip(self.told) {
            self.output.note(&new.to_string());
        }
        self.told = mended.len();
    }

    /// Who is told how far long work on a session is; it ends once Ctrl-C was pressed.
    #[must_use]
    pub fn watch(&self) -> Box<dyn Watch> {
        Box::new(SessionBar::default())
    }
}

/// The time, to the millisecond.
#[must_use]
pub fn now() -> Timestamp {
    SystemClock::time()
}

/// A salt of the operating system's randomness.
#[must_use]
pub fn salt() -> Salt {
    clock().salt()
}

/// The clock that every change is recorded with.
#[must_use]
pub fn clock() -> SystemClock {
    SystemClock::default()
}
