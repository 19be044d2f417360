//! Errors of judging a submission.

use std::io;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::judge::worktree::WorktreeError;
use crate::quest::file::Mistake;
use crate::quest::{Key, QuestId};
use crate::session::{SessionError, State, Worker};
use crate::world::Unanswered;
use crate::world::fetch::live::WorldError;
use crate::world::git::GitError;
use crate::world::tree::{AcceptedError, AuthoredConflict, BadGlob, BadPatch, TreeError};

#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("unknown quest kind {0:?}: the only built-in kind is `email`")]
    UnknownKind(String),
    #[error("cannot read the {part} settings of the session")]
    Settings {
        part: &'static str,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot read the quest file of the session; was it made by a newer comail?")]
    QuestFile(#[from] Faulty),
    #[error(transparent)]
    Glob(#[from] BadGlob),
    #[error("cannot find the comail program, which confines commands")]
    Launcher(#[source] io::Error),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Patch(#[from] BadPatch),
    #[error(transparent)]
    Accepted(#[from] AcceptedError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot write which commit the branch has")]
    Branch(#[source] io::Error),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(
        "accepted work has changed the same lines since this worktree was made: {}; make another \
         worktree with `comail next --worktree DIR`, or wait for the next start of the run, and \
         make the change there; nothing was recorded, and no try was used",
        .0.iter().join(", ")
    )]
    Conflicts(Vec<AuthoredConflict>),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("the quests of this session have no worktrees; set `worktrees = true` in [tree]")]
    NoWorktrees,
    #[error("the ledger has no event {0}; `comail log` prints them")]
    NoSuchEvent(u64),
    #[error(
        "each agent of this session works in a worktree of its own: make one with \
         `comail next --worktree DIR`, and submit with `--worktree DIR`; nothing changed"
    )]
    NeedsWorktree,
    /// Another answer was accepted while this one was judged.
    #[error("the accepted tree keeps changing; submit again; nothing was recorded")]
    TreeMoved,
    #[error("the files of the answer cannot be written to the tree; nothing was recorded")]
    NotWritten(#[source] TreeError),
    /// The sandbox failed, which is not the worker's fault.
    #[error("the gate could not run: {0}; nothing changed")]
    Sandbox(String),
    /// A lookup that comail could not even make says nothing about the answer.
    #[error("comail has no network here: {0}; nothing was recorded, and no try was used")]
    NoNetwork(Unanswered),
    #[error("comail was kept from asking: {0}; nothing was recorded, and no try was used")]
    NotAsked(Unanswered),
    #[error("the session's browser cannot be used: {0}; nothing was recorded, and no try was used")]
    NoBrowser(Unanswered),
    #[error(
        "the worker's name contains an address that was forgotten in this session: choose another \
         name; nothing changed"
    )]
    ForgottenWorker,
    #[error(
        "this idempotency key was already used for another quest, worker or answer; nothing changed"
    )]
    KeyUsed,
    #[error("only a run gives names such as {0}, and that run is not active; nothing changed")]
    NoSuchRun(Box<str>),
    /// Callers report the reason in their own words.
    #[error("the quest takes no answer now; nothing changed")]
    Refused(Refusal),
    /// One of several submissions that are judged at once.
    #[error("quest {quest}, {key}: {source}")]
    OfQuest {
        quest: QuestId,
        key: Key,
        source: Box<JudgeError>,
    },
    #[error("it cannot be judged again without the network: {0}; run `comail audit --live`")]
    NeedsNetwork(String),
    #[error("it cannot be judged again: {0}")]
    NotAgain(String),
    #[error("cannot write the attempt as JSON")]
    Json(#[from] serde_json::Error),
    #[error("cannot start a thread")]
    Threads(#[source] io::Error),
    #[error("{0} submissions were not judged because their threads ended early")]
    Deserted(usize),
}

#[derive(Debug, thiserror::Error)]
#[error("{path}:{mistake}")]
pub struct Faulty {
    pub path: String,
    pub mistake: Mistake,
}

/// Why an answer was not judged; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Refusal {
    /// The quest takes no submission.
    Locked {
        state: State,
    },
    /// The quest comes after one that has not passed.
    Waits {
        quest: QuestId,
        key: Key,
    },
    Claimed {
        worker: Worker,
    },
    /// Another answer to the quest was judged first.
    Overtaken,
    Paused {
        streak: u32,
    },
}

impl From<Refusal> for JudgeError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

pub(super) fn settings<T: DeserializeOwned>(
    part: &'static str,
    value: &serde_json::Value,
) -> Result<T, JudgeError> {
    T::deserialize(value).map_err(|source| JudgeError::Settings { part, source })
}
