//! What was asked of the tree and of commands, and what came of it, with bodies kept apart.
//!
//! ```json
//! {"sandbox": {"asked": {"file": "tests/test_a.py"},
//!   "answer": {"file": {"sha256": "9f86…", "bytes": 512}}}}
//! {"sandbox": {"asked": {"run": {"name": "tests-pass", "argv": ["/usr/bin/python3", "-q"], …}},
//!   "answer": {"ran": {"end": {"exited": 0}, "stdout": {"sha256": "…", "bytes": 0}, …}}}}
//! ```

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Bodies, BodyRef};
use crate::base::Digest;
use crate::world::sandbox::{
    Call, CallAnswer, Called, Changed, ChatOrder, Chatted, CommandResult, CommandSpec, Confinement,
    End, FileSeen, Said, Started, Usage,
};
use crate::world::tree::TreePath;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    File(TreePath),
    Pinned(TreePath),
    Changes,
    Run(Box<CommandSpec>),
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
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Told {
    File(BodyRef),
    Absent,
    Other(String),
    Changes(Vec<Changed>),
    NoChanges(String),
    Ran(Box<StoredRan>),
    Answered {
        status: u16,
        headers: Vec<(String, String)>,
        body: BodyRef,
    },
    /// The service took the request, gave no answer to it, and goes on.
    Refused(String),
    Unanswered(String),
    Port(u16),
    NotStarted(String),
    Said {
        text: BodyRef,
        usage: Usage,
        millis: u64,
        tries: u32,
    },
    Unsaid(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRan {
    pub end: End,
    pub stdout: BodyRef,
    pub stderr: BodyRef,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<String, Option<BodyRef>>,
    pub confinement: Confinement,
    pub millis: u64,
}

impl Told {
    pub fn bodies(&self) -> Vec<&BodyRef> {
        match self {
            Self::File(body) | Self::Answered { body, .. } | Self::Said { text: body, .. } => {
                vec![body]
            }
            Self::Ran(stored) => {
                let reports = stored.reports.values().flatten();
                let outputs = [&stored.stdout, &stored.stderr];
                outputs.into_iter().chain(reports).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Default)]
pub(super) struct Apart(pub(super) Vec<(Digest, Vec<u8>)>);

impl Apart {
    fn put(&mut self, bytes: Vec<u8>) -> BodyRef {
        let named = BodyRef::of(&bytes);
        self.0.push((named.sha256, bytes));
        named
    }
}

/// An answer of a sandbox that evidence can hold.
pub(super) trait Kept: Clone {
    fn stored(self, apart: &mut Apart) -> Told;

    /// The answer that was stored; none when it is one to another question, or a body is missing.
    fn read(told: &Told, bodies: &dyn Bodies) -> Option<Self>;

    /// The answer to a question that was never asked.
    fn absent(why: String) -> Self;
}

impl Kept for FileSeen {
    fn stored(self, apart: &mut Apart) -> Told {
        match self {
            Self::File(bytes) => Told::File(apart.put(bytes)),
            Self::Absent => Told::Absent,
            Self::Other(what) => Told::Other(what),
        }
    }

    fn read(told: &Told, bodies: &dyn Bodies) -> Option<Self> {
        Some(match told {
            Told::File(body) => Self::File(bodies.body(&body.sha256)?),
            Told::Absent => Self::Absent,
            Told::Other(what) => Self::Other(what.clone()),
            _ => return None,
        })
    }

    fn absent(why: String) -> Self {
        Self::Other(why)
    }
}

impl Kept for Result<Vec<Changed>, String> {
    fn stored(self, _apart: &mut Apart) -> Told {
        self.map_or_else(Told::NoChanges, Told::Changes)
    }

    fn read(told: &Told, _bodies: &dyn Bodies) -> Option<Self> {
        Some(match told {
            Told::Changes(changes) => Ok(changes.clone()),
            Told::NoChanges(why) => Err(why.clone()),
            _ => return None,
        })
    }

    fn absent(why: String) -> Self {
        Err(why)
    }
}

impl Kept for CommandResult {
    fn stored(self, apart: &mut Apart) -> Told {
        let reports = self.reports.into_iter();
        let reports = reports.map(|(name, bytes)| (name, bytes.map(|bytes| apart.put(bytes))));
        let reports = reports.collect();
        Told::Ran(Box::new(StoredRan {
            end: self.end,
            stdout: apart.put(self.stdout),
            stderr: apart.put(self.stderr),
            reports,
            confinement: self.confinement,
            millis: self.millis,
        }))
    }

    fn read(told: &Told, bodies: &dyn Bodies) -> Option<Self> {
        let Told::Ran(stored) = told else {
            return None;
        };
        let reports = stored.reports.iter().map(|(name, body)| {
            let bytes = match body {
                Some(body) => Some(bodies.body(&body.sha256)?),
                None => None,
            };
            Some((name.clone(), bytes))
        });
        Some(Self {
            end: stored.end.clone(),
            stdout: bodies.body(&stored.stdout.sha256)?,
            stderr: bodies.body(&stored.stderr.sha256)?,
            reports: reports.collect::<Option<_>>()?,
            confinement: stored.confinement.clone(),
            millis: stored.millis,
        })
    }

    fn absent(why: String) -> Self {
        Self {
            end: End::NotStarted(why),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
        }
    }
}

impl Kept for Called {
    fn stored(self, apart: &mut Apart) -> Told {
        match self {
            Self::Answered(answer) => Told::Answered {
                status: answer.status,
                headers: answer.headers,
                body: apart.put(answer.body),
            },
            Self::Refused(why) => Told::Refused(why),
            Self::Unanswered(why) => Told::Unanswered(why),
        }
    }

    fn read(told: &Told, bodies: &dyn Bodies) -> Option<Self> {
        Some(match told {
            Told::Answered {
                status,
                headers,
                body,
            } => Self::Answered(CallAnswer {
                status: *status,
                headers: headers.clone(),
                body: bodies.body(&body.sha256)?,
            }),
            Told::Refused(why) => Self::Refused(why.clone()),
            Told::Unanswered(why) => Self::Unanswered(why.clone()),
            _ => return None,
        })
    }

    fn absent(why: String) -> Self {
        Self::Unanswered(why)
    }
}

impl Kept for Chatted {
    fn stored(self, apart: &mut Apart) -> Told {
        match self {
            Self::Said(said) => Told::Said {
                text: apart.put(said.text.into_bytes()),
                usage: said.usage,
                millis: said.millis,
                tries: said.tries,
            },
            Self::Failed(why) => Told::Unsaid(why),
        }
    }

    fn read(told: &Told, bodies: &dyn Bodies) -> Option<Self> {
        Some(match told {
            Told::Said {
                text,
                usage,
                millis,
                tries,
            } => Self::Said(Said {
                text: String::from_utf8(bodies.body(&text.sha256)?).ok()?,
                usage: *usage,
                millis: *millis,
                tries: *tries,
            }),
            Told::Unsaid(why) => Self::Failed(why.clone()),
            _ => return None,
        })
    }

    fn absent(why: String) -> Self {
        Self::Failed(why)
    }
}

impl Kept for Started {
    fn stored(self, _apart: &mut Apart) -> Told {
        match self {
            Self::Listening { port } => Told::Port(port),
            Self::Failed(why) => Told::NotStarted(why),
        }
    }

    fn read(told: &Told, _bodies: &dyn Bodies) -> Option<Self> {
        Some(match told {
            Told::Port(port) => Self::Listening { port: *port },
            Told::NotStarted(why) => Self::Failed(why.clone()),
            _ => return None,
        })
    }

    fn absent(why: String) -> Self {
        Self::Failed(why)
    }
}
