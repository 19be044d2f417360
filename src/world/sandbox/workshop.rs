//! What a gate asks of the tree, and of commands that run over a copy of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::chat::{ChatOrder, Chatted};
use super::order::Confinement;
use super::order::Order;
use super::order::{End, Ran};
use crate::world::tree::TreePath;

/// Looks at files of the tree, and runs commands over copies of it.
#[cfg_attr(test, mockall::automock)]
pub trait Workshop {
    /// What stands at `path` in what is judged: the tree as `scan` found it, with what the agent
    /// wrote in its zones.
    fn file(&self, path: &TreePath) -> FileSeen;

    /// What stood at `path` when the session was made.
    fn pinned(&self, path: &TreePath) -> FileSeen;

    /// What of the working tree is not as `scan` found it, in order of paths.
    fn changes(&self) -> Result<Vec<Changed>, String>;

    /// Runs a command in a scratch copy of its own.
    fn run(&self, order: &Order) -> Ran;

    /// Asks a service that runs for this judgement.
    fn call(&self, call: &Call) -> Called;

    /// Asks a model.
    fn chat(&self, order: &ChatOrder) -> Chatted;

    /// Starts the service of this name, once for this judgement, and says where it listens.
    fn service(&self, name: &str) -> Started;

    /// Why it could not look as it should have, by no fault of what is judged; none when it could.
    ///
    /// What was answered then is no ground for a judgement that stands.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// What came of starting a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// It is ready, on 127.0.0.1.
    Listening {
        /// Its port.
        port: u16,
    },
    /// It is not, and why.
    Failed(String),
}

/// What stands at a path of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSeen {
    /// A file of these bytes.
    File(Vec<u8>),
    /// Nothing.
    Absent,
    /// Something that is not read: a directory, a link, a device, a file that is too large.
    Other(String),
}

/// A path at which the working tree is not as `scan` found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The path; text, since what is odd may have a name that no tree path has.
    pub path: String,
    /// What became of it: `added`, `changed`, `removed`, `mode`, `odd`.
    pub how: String,
    /// Whether it lies in a zone in which the agent may write.
    pub inside: bool,
}

/// One request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The service's name.
    pub service: String,
    /// The method.
    pub method: String,
    /// The path and query, from `/`.
    pub path: String,
    /// The headers, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How long the answer may take, in milliseconds.
    pub timeout_ms: u64,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// The service answered.
    Answered(CallAnswer),
    /// It took the request and gave no answer to it that can be read, though it goes on, and why.
    Refused(String),
    /// It did not answer, and why.
    Unanswered(String),
}

/// The answer of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A workshop for gates that ask none.
#[derive(Debug, Clone, Copy)]
pub struct NoWorkshop;

const NONE: &str = "this quest kind has no tree";

impl Workshop for NoWorkshop {
    fn file(&self, _path: &TreePath) -> FileSeen {
        FileSeen::Other(NONE.to_owned())
    }

    fn pinned(&self, _path: &TreePath) -> FileSeen {
        FileSeen::Other(NONE.to_owned())
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        Err(NONE.to_owned())
    }

    fn run(&self, _order: &Order) -> Ran {
        Ran {
            end: End::NotStarted(NONE.to_owned()),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
        }
    }

    fn call(&self, _call: &Call) -> Called {
        Called::Unanswered(NONE.to_owned())
    }

    fn chat(&self, _order: &ChatOrder) -> Chatted {
        Chatted::Failed("this gate asks no models".to_owned())
    }

    fn service(&self, _name: &str) -> Started {
        Started::Failed(NONE.to_owned())
    }
}
