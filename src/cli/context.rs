//! What every command works with: the session, the output, the clock and randomness; and which
//! session and quest a command line means.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use jiff::Timestamp;

use super::config;
use super::exit::UsageError;
use super::output::Output;
use super::progress::SessionBar;
use crate::base::clock::{Clock as _, Salt, SystemClock};
use crate::quest::{Key, Nearest, QuestId, QuestKind, email, meant};
use crate::session::{BadWorker, Session, SessionError, Store, Watch, Worker};
use crate::world::evidence::recorded::RecordedWorld;
use crate::{judge, session};

pub struct Context {
    session_dir: PathBuf,
    named_session: Option<PathBuf>,
    named_worker: Option<String>,
    /// How many of the session's repairs were reported.
    told: usize,
    /// A recorded world in place of the live one.
    recorded: Option<Rc<RecordedWorld>>,
    pub output: Output,
}

pub(super) const DEFAULT_SESSION: &str = ".comail";

pub(super) const SESSION_VARIABLE: &str = "COMAIL_SESSION";

pub(super) const WORKER_VARIABLE: &str = "COMAIL_WORKER";

/// The flags that a printed command line needs to reach the same session as the same worker. What
/// an environment variable sets is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Reaching {
    pub(super) session: Option<PathBuf>,
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

    /// The same call on a recorded world. No argument and no environment variable leads here.
    #[must_use]
    pub(super) fn before(self, world: Rc<RecordedWorld>) -> Self {
        Self {
            recorded: Some(world),
            ..self
        }
    }

    #[must_use]
    pub(super) fn by_worker(self, name: Option<String>) -> Self {
        Self {
            named_worker: name,
            ..self
        }
    }

    /// The worker of the flag, or else of `COMAIL_WORKER`.
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

    #[must_use]
    pub(super) fn reaching(&self, worker: Option<&Worker>) -> Reaching {
        Reaching {
            session: self.named_session.clone(),
            worker: worker.cloned(),
        }
    }

    #[must_use]
    pub(super) fn recorded_world(&self) -> Option<&RecordedWorld> {
        self.recorded.as_deref()
    }

    #[must_use]
    pub fn session_dir(&self) -> &Path {
        &self.session_dir
    }

    /// The session directory if `--session` names it, so that printed command lines must name it
    /// too.
    #[must_use]
    pub fn named_session(&self) -> Option<&Path> {
        self.named_session.as_deref()
    }

    /// Opens the session, and reports repairs on stderr.
    pub fn open_session(&mut self) -> Result<Session> {
        let session = Session::open_watched(&self.session_dir, self.watch())?;
        session.tell();
        self.report_mended(&session);
        Ok(session)
    }

    /// Opens the session and compares its index with the whole ledger. Use it for everything that
    /// a person decides by.
    pub fn open_folded(&mut self) -> Result<Session> {
        let mut session = self.open_session()?;
        session.fold()?;
        self.report_mended(&session);
        Ok(session)
    }

    /// Reports the repairs of `session` on stderr, each once.
    pub fn report_mended(&mut self, session: &Session) {
        let mended = session.mended();
        for new in mended.iter().skip(self.told) {
            self.output.note(&new.to_string());
        }
        self.told = mended.len();
    }

    /// Shows the progress of long work on a session, and stops it after Ctrl-C.
    #[must_use]
    pub fn watch(&self) -> Box<dyn Watch> {
        Box::new(SessionBar::default())
    }
}

/// The time in milliseconds, the resolution of the ledger.
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

/// Finds the quest that `id` or `key` names.
///
/// # Errors
///
/// A usage error that names the nearest keys, or the ids that share the key.
pub fn choose(
    store: &dyn Store,
    id: Option<QuestId>,
    key: Option<&str>,
    unit: &str,
) -> Result<QuestId> {
    let usage = |text: String| anyhow::Error::new(UsageError(text));
    match (id, key) {
        (Some(id), None) if store.standing(id)?.is_some() => Ok(id),
        (Some(id), None) => Err(usage(format!(
            "there is no quest {id}; quests are numbered 1 to {}",
            store.totals().tally.total()
        ))),
        (None, Some(key)) => by_key(store, key)?.map_err(usage),
        (None, None) => Err(usage(which(unit))),
        (Some(_), Some(_)) => Err(usage(format!(
            "name the quest with --{unit} KEY or --id N, not both"
        ))),
    }
}

#[must_use]
pub fn which(unit: &str) -> String {
    format!("name the quest with --{unit} KEY or --id N")
}

fn by_key(store: &dyn Store, text: &str) -> Result<Result<QuestId, String>, SessionError> {
    let key = match Key::new(text) {
        Ok(key) => key,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let same_fold = store.named(&key.folded())?;
    let same_fold: Vec<_> = same_fold.into_iter().map(|s| (s.id, s.key)).collect();
    Ok(match meant(&key, &same_fold).as_slice() {
        [one] => Ok(*one),
        [] => Err(unknown(store, &key)?),
        several => {
            let ids: Vec<_> = several.iter().map(|id| format!("--id {id}")).collect();
            Err(format!(
                "several quests have the key {text:?}; name one with {}",
                ids.join(" or ")
            ))
        }
    })
}

fn unknown(store: &dyn Store, key: &Key) -> Result<String, SessionError> {
    let mut nearest = Nearest::to(key);
    store.each_key(&mut |known| nearest.offer(known))?;
    let near: Vec<_> = nearest
        .keys()
        .map(|near| format!("{:?}", near.as_str()))
        .collect();
    let suggestion = if near.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", near.join(", "))
    };
    Ok(format!("there is no quest {:?}{suggestion}", key.as_str()))
}

/// The quest kind of the session that `args` name, or the built-in one if there is no session.
///
/// `submit` has a flag for each field of the kind, so it has to be known before clap parses `args`.
pub(super) fn kind_of_args(args: &[OsString]) -> QuestKind {
    let kind = submits(args).then(|| kind_in(&dir_of_args(args))).flatten();
    kind.unwrap_or_else(email::kind)
}

/// Why `submit` may not know a flag: without a session it has the fields of the e-mail quest.
pub(super) fn without_session(args: &[OsString]) -> Option<String> {
    let dir = dir_of_args(args);
    let lacks = submits(args) && kind_in(&dir).is_none();
    lacks.then(|| {
        format!(
            "no session found in {}; without one, `submit` has only the fields of the e-mail quest",
            dir.display()
        )
    })
}

fn submits(args: &[OsString]) -> bool {
    args.iter().any(|arg| arg == "submit")
}

pub(super) fn kind_in(dir: &Path) -> Option<QuestKind> {
    let (manifest, _) = session::read_manifest(dir).ok()?;
    judge::kind_of(&manifest).ok()
}

/// The session directory that `args` name, before clap parses them.
pub(super) fn dir_of_args(args: &[OsString]) -> PathBuf {
    let named = || {
        let pairs = args.iter().zip(args.iter().skip(1));
        let mut pairs = pairs.filter(|(arg, _)| *arg == "--session");
        pairs.next().map(|(_, value)| PathBuf::from(value))
    };
    let joined = || args.iter().find_map(|arg| joined_value(arg));
    let environment = || {
        let value = std::env::var_os(SESSION_VARIABLE)?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    };
    named()
        .or_else(joined)
        .or_else(environment)
        .or_else(config::user_session)
        .unwrap_or_else(|| DEFAULT_SESSION.into())
}

fn joined_value(arg: &OsStr) -> Option<PathBuf> {
    let value = arg.to_str()?.strip_prefix("--session=")?;
    Some(PathBuf::from(value))
}
