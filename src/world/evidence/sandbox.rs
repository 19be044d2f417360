//! What was asked of the tree and of commands, and what came of it, with bodies kept apart.
//!
//! ```json
//! {"workshop": {"asked": {"file": "tests/test_a.py"},
//!   "answer": {"file": {"sha256": "9f86…", "bytes": 512}}}}
//! {"workshop": {"asked": {"run": {"name": "tests-pass", "argv": ["/usr/bin/python3", "-q"], …}},
//!   "answer": {"ran": {"end": {"exited": 0}, "stdout": {"sha256": "…", "bytes": 0}, …}}}}
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Bodies, BodyRef};
use crate::base::Digest;
use crate::world::sandbox::{
    Call, CallAnswer, Called, Changed, ChatOrder, Chatted, Confinement, End, FileSeen, Order, Ran,
    Said, Started, Usage,
};
use crate::world::tree::TreePath;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkshopExchange {
    pub asked: Asked,
    pub answer: Told,
}

/// What can be asked of a workshop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    File(TreePath),
    Pinned(TreePath),
    /// What of the working tree is not as it was.
    Changes,
    Run(Box<Order>),
    Call(Box<Call>),
    Service(String),
    Chat(Box<ChatOrder>),
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "the file {path}"),
            Self::Pinned(path) => write!(f, "the pinned file {path}"),
            Self::Changes => f.write_str("what changed in the tree"),
            Self::Run(order) => write!(f, "what came of the command of `{}`", order.name),
            Self::Call(call) => write!(f, "what {} answers to {}", call.service, call.path),
            Self::Chat(order) => write!(f, "what the model {} says", order.model),
            Self::Service(name) => write!(f, "where the service {name} listens"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    File(BodyRef),
    Absent,
    Other(String),
    /// What is not as it was.
    Changes(Vec<Changed>),
    /// That it cannot be told what is not as it was.
    NoChanges(String),
    Ran(Box<StoredRan>),
    Answered(StoredCall),
    /// That it took the request, gave no answer to it, and goes on.
    Refused(String),
    Unanswered(String),
    Port(u16),
    /// That it could not be started.
    NotStarted(String),
    Said(StoredSaid),
    Unsaid(String),
}

/// What came of a command, its outputs apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRan {
    pub end: End,
    pub stdout: BodyRef,
    pub stderr: BodyRef,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Option<BodyRef>>,
    pub confinement: Confinement,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// What a service answered, its body apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredCall {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: BodyRef,
}

/// What a model said, its words apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredSaid {
    pub text: BodyRef,
    pub usage: Usage,
    /// How long it took, in milliseconds.
    pub millis: u64,
    pub tries: u32,
}

/// Bodies that an answer names, with their bytes.
pub type Apart = Vec<(Digest, Vec<u8>)>;

fn put(apart: &mut Apart, bytes: Vec<u8>) -> BodyRef {
    let named = BodyRef::of(&bytes);
    apart.push((named.sha256, bytes));
    named
}

impl Told {
    /// The answer in stored form, and the bodies that it names.
    #[must_use]
    pub fn of_file(seen: FileSeen) -> (Self, Apart) {
        let mut apart = Apart::new();
        let told = match seen {
            FileSeen::File(bytes) => Self::File(put(&mut apart, bytes)),
            FileSeen::Absent => Self::Absent,
            FileSeen::Other(what) => Self::Other(what),
        };
        (told, apart)
    }

    #[must_use]
    pub fn of_ran(ran: Ran) -> (Self, Apart) {
        let mut apart = Apart::new();
        let reports = ran.reports.into_iter().map(|(name, bytes)| {
            let named = bytes.map(|bytes| put(&mut apart, bytes));
            (name, named)
        });
        let reports = reports.collect();
        let stored = StoredRan {
            end: ran.end,
            stdout: put(&mut apart, ran.stdout),
            stderr: put(&mut apart, ran.stderr),
            reports,
            confinement: ran.confinement,
            millis: ran.millis,
        };
        (Self::Ran(Box::new(stored)), apart)
    }

    #[must_use]
    pub fn of_call(called: Called) -> (Self, Apart) {
        let mut apart = Apart::new();
        let told = match called {
            Called::Answered(answer) => Self::Answered(StoredCall {
                status: answer.status,
                headers: answer.headers,
                body: put(&mut apart, answer.body),
            }),
            Called::Refused(why) => Self::Refused(why),
            Called::Unanswered(why) => Self::Unanswered(why),
        };
        (told, apart)
    }

    #[must_use]
    pub fn of_chat(chatted: Chatted) -> (Self, Apart) {
        let mut apart = Apart::new();
        let told = match chatted {
            Chatted::Said(said) => Self::Said(StoredSaid {
                text: put(&mut apart, said.text.into_bytes()),
                usage: said.usage,
                millis: said.millis,
                tries: said.tries,
            }),
            Chatted::Failed(why) => Self::Unsaid(why),
        };
        (told, apart)
    }

    /// The answer to a question about a file; none when it is another, or a body is missing.
    #[must_use]
    pub fn file(&self, bodies: &dyn Bodies) -> Option<FileSeen> {
        Some(match self {
            Self::File(body) => FileSeen::File(bodies.body(&body.sha256)?),
            Self::Absent => FileSeen::Absent,
            Self::Other(what) => FileSeen::Other(what.clone()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn ran(&self, bodies: &dyn Bodies) -> Option<Ran> {
        let Self::Ran(stored) = self else {
            return None;
        };
        let reports = stored.reports.iter().map(|(name, body)| {
            let bytes = match body {
                Some(body) => Some(bodies.body(&body.sha256)?),
                None => None,
            };
            Some((name.clone(), bytes))
        });
        Some(Ran {
            end: stored.end.clone(),
            stdout: bodies.body(&stored.stdout.sha256)?,
            stderr: bodies.body(&stored.stderr.sha256)?,
            reports: reports.collect::<Option<_>>()?,
            confinement: stored.confinement.clone(),
            millis: stored.millis,
        })
    }

    #[must_use]
    pub fn called(&self, bodies: &dyn Bodies) -> Option<Called> {
        Some(match self {
            Self::Answered(stored) => Called::Answered(CallAnswer {
                status: stored.status,
                headers: stored.headers.clone(),
                body: bodies.body(&stored.body.sha256)?,
            }),
            Self::Refused(why) => Called::Refused(why.clone()),
            Self::Unanswered(why) => Called::Unanswered(why.clone()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn chatted(&self, bodies: &dyn Bodies) -> Option<Chatted> {
        Some(match self {
            Self::Said(stored) => Chatted::Said(Said {
                text: String::from_utf8(bodies.body(&stored.text.sha256)?).ok()?,
                usage: stored.usage,
                millis: stored.millis,
                tries: stored.tries,
            }),
            Self::Unsaid(why) => Chatted::Failed(why.clone()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn changes(&self) -> Option<Result<Vec<Changed>, String>> {
        Some(match self {
            Self::Changes(changes) => Ok(changes.clone()),
            Self::NoChanges(why) => Err(why.clone()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn started(&self) -> Option<Started> {
        Some(match self {
            Self::Port(port) => Started::Listening { port: *port },
            Self::NotStarted(why) => Started::Failed(why.clone()),
            _ => return None,
        })
    }

    #[must_use]
    pub fn bodies(&self) -> Vec<&BodyRef> {
        match self {
            Self::File(body) => vec![body],
            Self::Answered(stored) => vec![&stored.body],
            Self::Said(stored) => vec![&stored.text],
            Self::Ran(stored) => {
                let reports = stored.reports.values().flatten();
                [&stored.stdout, &stored.stderr]
                    .into_iter()
                    .chain(reports)
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
