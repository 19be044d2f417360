//! What every command works with: the session, the output and the clock; and which quest a command
//! line means.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use itertools::Itertools as _;
use jiff::Timestamp;

use super::closing::{Closing, Results};
use super::exit::{UsageError, refuse};
use super::output::Output;
use super::progress::SessionBar;
use super::settings::Settings;
use super::shell_line::ShellLine;
use crate::base::clock::{Clock as _, Salt, SystemClock};
use crate::judge::{self, JudgeError};
use crate::quest::{Key, Nearest, QuestId, QuestKind, meant};
use crate::run::agent::AgentShell;
use crate::session;
use crate::session::{BadWorker, Projection, QuestRecord, Session, SessionError, Watch, Worker};

pub struct Context {
    /// The session directory: what `--session`, the environment or the user's file names.
    pub(super) dir: PathBuf,
    /// The address of a session in a database, whose mirror `dir` is.
    pub(super) address: Option<PathBuf>,
    /// What `--session` or the user's file names, so that printed command lines must name it too.
    pub(super) named_session: Option<PathBuf>,
    pub(super) named_worker: Option<String>,
    pub(super) parser: clap::Command,
    /// What the user's file says of this command's tables.
    pub(super) settings: Settings,
    /// How many of the session's repairs were reported.
    pub(super) repairs_reported: usize,
    pub output: Output,
}

pub(super) const DEFAULT_SESSION: &str = ".comail";

pub(super) const SESSION_VARIABLE: &str = "COMAIL_SESSION";

pub(super) const WORKER_VARIABLE: &str = "COMAIL_WORKER";

/// The session directory where nothing names one: `.comail` here or, like `.git`, in the nearest
/// parent directory that has one.
pub(super) fn nearest_session() -> PathBuf {
    let here = PathBuf::from(DEFAULT_SESSION);
    if here.exists() {
        return here;
    }
    let user = nix::unistd::geteuid().as_raw();
    // A session names programs that comail starts. In a shared parent such as /tmp, another user
    // could have placed one.
    let is_own = |dir: &PathBuf| {
        let found = fs::metadata(dir.join("session.json"));
        found.is_ok_and(|found| found.is_file() && found.uid() == user)
    };
    let working = std::env::current_dir().unwrap_or_default();
    let parents = working.ancestors().skip(1);
    let mut sessions = parents.map(|parent| parent.join(DEFAULT_SESSION));
    sessions.find(is_own).unwrap_or(here)
}

/// The flags that a printed command line needs to reach the same session as the same worker, without
/// those that environment variables set.
#[derive(Debug, Clone, Default)]
pub(super) struct Reaching {
    /// The path of this program, if a shell may not find it by name.
    pub(super) program: Option<PathBuf>,
    pub(super) session: Option<PathBuf>,
    pub(super) worker: Option<Worker>,
    /// The worktree that was made for the quest.
    pub(super) worktree: Option<PathBuf>,
}

impl Reaching {
    /// With the path of this program, because another shell may not find it by name.
    pub(super) fn with_path() -> Result<Self> {
        Ok(Self {
            program: Some(this_program()?),
            ..Self::default()
        })
    }

    /// The same for commands in this shell: a login shell may not find the program by name.
    pub(super) fn in_shell(self, shell: AgentShell) -> Result<Self> {
        Ok(match shell {
            AgentShell::Login => Self {
                program: Self::with_path()?.program,
                ..self
            },
            AgentShell::Inherited | AgentShell::Absent => self,
        })
    }
}

pub(super) fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find the path of comail itself")
}

/// A session, and the record of each of its quests by the whole ledger.
pub(super) struct Folded {
    pub(super) session: Session,
    pub(super) projection: Projection,
}

impl Context {
    /// The session, as messages name it.
    pub(super) fn place(&self) -> &Path {
        self.address.as_ref().unwrap_or(&self.dir)
    }

    /// The worker of the flag, or else of `COMAIL_WORKER`.
    pub(super) fn worker_of(&self, flag: Option<&Worker>) -> Result<Option<Worker>> {
        let Some(named) = self.named_worker.as_ref().filter(|_| flag.is_none()) else {
            return Ok(flag.cloned());
        };
        let worker = named.parse().map_err(|error: BadWorker| {
            UsageError(format!("{WORKER_VARIABLE}: {error}; nothing changed"))
        })?;
        Ok(Some(worker))
    }

    pub(super) fn reaching(&self, worker: Option<&Worker>) -> Reaching {
        Reaching {
            worktree: None,
            program: None,
            session: self.named_session.clone(),
            worker: worker.cloned(),
        }
    }

    /// The settings of `command`: those of the user's file, overridden by `--set`.
    pub(super) fn settings(&mut self, command: &str, set: &[String]) -> Result<Settings> {
        let file = std::mem::take(&mut self.settings);
        Ok(file.with(set, command, &self.parser)?)
    }

    pub fn open_session(&mut self) -> Result<Session> {
        let session = Session::open_watched(&self.dir, self.watch())?;
        session.log_opened();
        self.report_repairs(&session);
        Ok(session)
    }

    /// Opens the session and compares its index with the whole ledger. Use it for everything that a
    /// person bases a decision on.
    pub fn open_folded(&mut self) -> Result<Session> {
        let mut session = self.open_session()?;
        session.fold()?;
        self.report_repairs(&session);
        Ok(session)
    }

    pub(super) fn open_whole(&self) -> Result<Folded, SessionError> {
        let mut session = Session::open_watched(&self.dir, self.watch())?;
        let projection = session.fold()?;
        Ok(Folded {
            session,
            projection,
        })
    }

    /// Hints at the next steps for a person if no quest is TODO.
    pub(super) fn hint_at_closing(&mut self, session: &Session) {
        let named = self.named_session.as_deref();
        let closing = Closing::of(&session.totals(), &Results::of(session), named);
        if let Some(closing) = closing.filter(|_| !self.output.json) {
            for hint in closing.hints() {
                self.output.hint(&hint);
            }
        }
    }

    pub(super) fn note_behind(&mut self, why: &JudgeError) {
        let again = ShellLine::comail("tree branch", self.named_session.as_deref());
        self.output.note(&format!(
            "the answer is recorded, but its commit is not on the branch: {why}; `{}` makes the branch \
             again",
            again.text()
        ));
    }

    pub fn report_repairs(&mut self, session: &Session) {
        let repairs = session.repairs();
        for new in repairs.iter().skip(self.repairs_reported) {
            self.output.note(&new.to_string());
        }
        self.repairs_reported = repairs.len();
    }

    /// Shows the progress of long work on a session, and stops it after Ctrl-C.
    pub fn watch(&self) -> Box<dyn Watch> {
        Box::new(SessionBar::default())
    }
}

/// The time in milliseconds, the resolution of the ledger.
pub fn now() -> Timestamp {
    SystemClock::time()
}

pub fn salt() -> Salt {
    clock().salt()
}

pub fn clock() -> SystemClock {
    SystemClock
}

/// The quest that a person names by its number or, if no quest has that number, by its key. Numbers
/// are unique, so every quest can be named.
pub(super) fn find(store: &Session, name: &str) -> Result<QuestRecord> {
    // `007` is a key: numbers are printed without zeros in front.
    if let Ok(id) = name.parse::<QuestId>()
        && id.to_string() == name
        && let Some(record) = store.quest_record(id)?
    {
        return Ok(record);
    }
    let id = by_key(store, name, "")?;
    let record = store.quest_record(id)?;
    record.with_context(|| format!("the index has no quest {id}"))
}

/// Refuses an unknown key and suggests the nearest ones, and refuses a shared key with the ids of its
/// quests.
pub fn choose(
    store: &Session,
    id: Option<QuestId>,
    key: Option<&str>,
    unit: &str,
) -> Result<QuestId> {
    match (id, key) {
        (Some(id), None) if store.quest_record(id)?.is_some() => Ok(id),
        (Some(id), None) => {
            let total = store.totals().tally.total();
            no_quest(format!(
                "there is no quest {id}; quests are numbered 1 to {total}"
            ))
        }
        (None, Some(key)) => by_key(store, key, "--id "),
        (None, None) => refuse(which(unit)),
        (Some(_), Some(_)) => refuse(format!(
            "name the quest with --{unit} KEY or --id N, not both"
        )),
    }
}

pub fn which(unit: &str) -> String {
    format!("name the quest with --{unit} KEY or --id N")
}

fn no_quest<T>(why: String) -> Result<T> {
    Err(UsageError(why)
        .hint("`comail list` shows every quest")
        .into())
}

/// The quest with this key; `flag` comes before the number of a quest on the command line.
fn by_key(store: &Session, text: &str, flag: &str) -> Result<QuestId> {
    let key = Key::new(text).map_err(|error| UsageError(error.to_string()))?;
    let same_fold = store.named(&key.folded())?;
    let same_fold: Vec<_> = same_fold.into_iter().map(|s| (s.id, s.key)).collect();
    match meant(&key, &same_fold).as_slice() {
        [one] => Ok(*one),
        [] => no_quest(unknown(store, &key)?),
        several => {
            let ids = several.iter().map(|id| format!("{flag}{id}")).join(" or ");
            refuse(format!(
                "several quests have the key {text:?}; name one with {ids}"
            ))
        }
    }
}

fn unknown(store: &Session, key: &Key) -> Result<String, SessionError> {
    let mut nearest = Nearest::to(key);
    store.each_key(&mut |known| nearest.offer(known))?;
    let mut near = nearest.keys().map(|near| format!("{:?}", near.as_str()));
    let near = match near.join(", ") {
        none if none.is_empty() => none,
        some => format!(": did you mean {some}?"),
    };
    Ok(format!("there is no quest {:?}{near}", key.as_str()))
}

/// The quest kind of the session in `dir`, if one can be read there.
pub(super) fn kind_in(dir: &Path) -> Option<QuestKind> {
    let dir = session::locate(dir).ok()?;
    session::catch_up(&dir).ok()?;
    let (manifest, _) = session::read_manifest(&dir).ok()?;
    judge::kind_of(&manifest).ok()
}
