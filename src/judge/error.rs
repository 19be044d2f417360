//! What can go wrong while a submission is judged.

use crate::judge::prove::ProveError;
use crate::judge::quest_file::{BenchError, Faulty};
use crate::session::SessionError;
use crate::world::fetch::live::WorldError;

/// What can go wrong while a submission is judged; nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The quest kind is none of this program's.
    #[error("unknown quest kind {0:?}: the only built-in kind is `email`")]
    UnknownKind(String),
    /// Frozen settings that do not read.
    #[error("cannot read the {part} settings of the session")]
    Settings {
        part: &'static str,
        #[source]
        source: serde_json::Error,
    },
    /// The quest file that the session froze does not read.
    #[error("cannot read the quest file of the session; was it made by a newer comail?")]
    QuestFile(#[from] Faulty),
    /// Nothing can be run for the session.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// The controls of a quest file cannot be run.
    #[error(transparent)]
    Prove(#[from] ProveError),
    /// The network settings that the session froze cannot be used.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The gate's own side failed while it looked.
    #[error("the gate could not run: {0}; nothing changed")]
    Workshop(String),
    #[error(
        "the worker's name contains an address that was forgotten in this session: choose another \
         name; nothing changed"
    )]
    ForgottenWorker,
    /// A name that a run gives, and none that goes on does.
    #[error("only a run gives names such as {0}, and that run is not active; nothing changed")]
    NoSuchRun(Box<str>),
    /// A value cannot be written as JSON.
    #[error("cannot write the attempt as JSON")]
    Json(#[from] serde_json::Error),
    /// No thread can be had to judge on.
    #[error("cannot start a thread")]
    Threads(#[source] std::io::Error),
    #[error("{0} submissions were not judged because their threads ended early")]
    Deserted(usize),
}
