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
    #[error("this session's quest kind is {0:?}, and this comail knows `email` alone")]
    UnknownKind(String),
    /// Frozen settings that do not read.
    #[error("the session's {part} settings do not read")]
    Settings {
        part: &'static str,
        #[source]
        source: serde_json::Error,
    },
    /// The quest file that the session froze does not read.
    #[error("the quest file that the session froze does not read: was it made by a newer comail?")]
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
    #[error("the gate cannot look: {0}; nothing changed")]
    Workshop(String),
    #[error(
        "the worker's name holds an address that a person had this session forget: take another \
         name; nothing changed"
    )]
    ForgottenWorker,
    /// A name that a run gives, and none that goes on does.
    #[error("names such as {0} are a run's to give, and no such run goes on; nothing changed")]
    NoSuchRun(Box<str>),
    /// A value cannot be written as JSON.
    #[error("cannot write the attempt as JSON")]
    Json(#[from] serde_json::Error),
    /// No thread can be had to judge on.
    #[error("the system gives no thread to judge on")]
    Threads(#[source] std::io::Error),
    #[error("{0} submissions were not judged: their threads ended early")]
    Deserted(usize),
}
