//! What a gate can ask about the tree, and about commands and services that run over copies of it.

use serde::{Deserialize, Serialize};

use super::chat::{ChatOrder, Chatted};
use super::command::{CommandResult, CommandSpec};
use crate::world::tree::{Changed, TreePath};

#[cfg_attr(test, mockall::automock)]
pub trait Sandbox {
    /// The file at `path` in what is judged: the tree as `scan` found it, with the agent's files in
    /// the zones.
    fn file(&self, path: &TreePath) -> FileSeen;

    /// The file at `path` when the session was made.
    fn pinned(&self, path: &TreePath) -> FileSeen;

    /// How the working tree differs from what `scan` found, sorted by path.
    fn changes(&self) -> Result<Vec<Changed>, String>;

    /// Runs a command in a scratch copy of its own.
    fn run(&self, order: &CommandSpec) -> CommandResult;

    /// What the last command of this name did; none where that is not kept.
    fn last_run(&self, _name: &str) -> Option<CommandResult> {
        None
    }

    fn call(&self, call: &Call) -> Called;

    fn chat(&self, order: &ChatOrder) -> Chatted;

    /// Starts the service of this name, once for each judgement.
    fn service(&self, name: &str) -> Started;

    /// What failed on comail's side, through no fault of the submission. If there is something, the
    /// answers are no basis for a verdict.
    fn failure(&self) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Started {
    /// It is ready, on this port of 127.0.0.1.
    Listening {
        port: u16,
    },
    Failed(String),
}

/// What is at a path. `B` is the content: its bytes, or in evidence the digest by which it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSeen<B = Vec<u8>> {
    File(B),
    Absent,
    /// A directory, a link, a device, or a file that is too large.
    Other(String),
}

impl<B> FileSeen<B> {
    pub fn with_body<C, E>(
        self,
        convert: impl FnOnce(B) -> Result<C, E>,
    ) -> Result<FileSeen<C>, E> {
        Ok(match self {
            Self::File(body) => FileSeen::File(convert(body)?),
            Self::Absent => FileSeen::Absent,
            Self::Other(what) => FileSeen::Other(what),
        })
    }
}

/// One request to a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub service: String,
    pub method: String,
    /// The path and query, from `/`.
    pub path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub timeout_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Called<B = Vec<u8>> {
    Answered(CallAnswer<B>),
    /// It accepted the request and is still running, but sent no answer that can be read.
    Refused(String),
    Unanswered(String),
}

impl<B> Called<B> {
    pub fn with_body<C, E>(self, convert: impl FnOnce(B) -> Result<C, E>) -> Result<Called<C>, E> {
        Ok(match self {
            Self::Answered(answer) => Called::Answered(CallAnswer {
                status: answer.status,
                headers: answer.headers,
                body: convert(answer.body)?,
            }),
            Self::Refused(why) => Called::Refused(why),
            Self::Unanswered(why) => Called::Unanswered(why),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallAnswer<B = Vec<u8>> {
    pub status: u16,
    /// In order; the names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: B,
}

/// For gates that ask nothing of it.
#[derive(Debug, Clone, Copy)]
pub struct NoSandbox;

const NO_TREE: &str = "this quest kind has no tree";

impl Sandbox for NoSandbox {
    fn file(&self, _path: &TreePath) -> FileSeen {
        FileSeen::Other(NO_TREE.to_owned())
    }

    fn pinned(&self, _path: &TreePath) -> FileSeen {
        FileSeen::Other(NO_TREE.to_owned())
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        Err(NO_TREE.to_owned())
    }

    fn run(&self, order: &CommandSpec) -> CommandResult {
        CommandResult::not_started(order, NO_TREE)
    }

    fn call(&self, _call: &Call) -> Called {
        Called::Unanswered(NO_TREE.to_owned())
    }

    fn chat(&self, _order: &ChatOrder) -> Chatted {
        Chatted::Failed("this gate asks no models".to_owned())
    }

    fn service(&self, _name: &str) -> Started {
        Started::Failed(NO_TREE.to_owned())
    }
}
