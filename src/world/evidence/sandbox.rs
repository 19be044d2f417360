//! The questions about the tree and to commands, with their answers, whose bodies are stored
//! separately.
//!
//! ```json
//! {"sandbox": {"asked": {"file": "tests/test_a.py"},
//!   "answer": {"file": {"file": {"sha256": "9f86…", "bytes": 512}}}}}
//! {"sandbox": {"asked": {"run": {"name": "tests-pass", "argv": ["/usr/bin/python3", "-q"], …}},
//!   "answer": {"run": {"end": {"exited": 0}, "stdout": {"sha256": "…", "bytes": 0}, …}}}}
//! ```

use std::convert::{Infallible, identity};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Bodies, BodyRef};
use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, CommandResult, CommandSpec, FileSeen, RunPlace,
    Sandbox, Started,
};
use crate::world::tree::TreePath;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    File(TreePath),
    Pinned(TreePath),
    Changes,
    Run(Box<CommandSpec>),
    Call(Box<Call>),
    Service(String),
    /// A service over the tree of the control that passes.
    ControlService(String),
    Chat(Box<ChatOrder>),
    Nonce,
    /// The files of the write zones that came with the submission. No gate asks for all of them.
    Received,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "the file {path}"),
            Self::Pinned(path) => write!(f, "the pinned file {path}"),
            Self::Changes => f.write_str("what changed in the tree"),
            Self::Run(order) => write!(f, "what came of the command of `{}`", order.name),
            Self::Call(call) => write!(f, "what {} answers to {}", call.service, call.path),
            Self::Chat(order) => write!(f, "what the model {} says", order.model),
            Self::Service(name) | Self::ControlService(name) => {
                write!(f, "where the service {name} listens")
            }
            Self::Nonce => f.write_str("the random letters of the judgement"),
            Self::Received => f.write_str("the files that came with the answer"),
        }
    }
}

/// The answer to a question, with its bodies stored separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxAnswer {
    File(FileSeen<BodyRef>),
    Changes(Result<Vec<Changed>, String>),
    Run(Box<CommandResult<BodyRef>>),
    Call(Called<BodyRef>),
    Chat(Chatted<BodyRef>),
    Service(Started),
    Nonce(String),
    /// The patch, as JSON.
    Received(BodyRef),
}

impl SandboxAnswer {
    pub fn bodies(&self) -> Vec<&BodyRef> {
        match self {
            Self::File(FileSeen::File(body)) | Self::Received(body) => vec![body],
            Self::Call(Called::Answered(answer)) => vec![&answer.body],
            Self::Chat(Chatted::Said(said)) => vec![&said.text],
            Self::Run(ran) => {
                let reports = ran.reports.values().flatten();
                [&ran.stdout, &ran.stderr]
                    .into_iter()
                    .chain(reports)
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// An answer of a sandbox that can be stored as evidence.
pub(super) trait Kept: Clone {
    fn stored(self, keep: &mut dyn FnMut(Vec<u8>) -> BodyRef) -> SandboxAnswer;

    /// The stored answer; none if it has another type or a body is missing.
    fn read(told: &SandboxAnswer, bodies: &dyn Bodies) -> Option<Self>;

    /// The answer to a question that was never asked.
    fn absent(why: String) -> Self;
}

macro_rules! kept {
    ($answer:ident, $variant:ident, $absent:expr) => {
        impl Kept for $answer {
            fn stored(self, keep: &mut dyn FnMut(Vec<u8>) -> BodyRef) -> SandboxAnswer {
                let Ok(stored) = self.with_body(|body| Ok::<_, Infallible>(keep(body.into())));
                SandboxAnswer::$variant(stored.into())
            }

            fn read(told: &SandboxAnswer, bodies: &dyn Bodies) -> Option<Self> {
                let SandboxAnswer::$variant(stored) = told else {
                    return None;
                };
                let stored = $answer::<BodyRef>::clone(stored);
                let body = |body: BodyRef| {
                    let body = body.load(bodies).ok_or(())?;
                    body.try_into().map_err(drop)
                };
                stored.with_body(body).ok()
            }

            fn absent(why: String) -> Self {
                $absent(why)
            }
        }
    };
}

kept!(FileSeen, File, FileSeen::Other);
kept!(CommandResult, Run, never_ran);
kept!(Called, Call, Called::Unanswered);
kept!(Chatted, Chat, Chatted::Failed);

fn never_ran(why: String) -> CommandResult {
    CommandResult::not_started(&CommandSpec::default(), why)
}

macro_rules! kept_whole {
    ($answer:ty, $variant:ident, $absent:expr) => {
        impl Kept for $answer {
            fn stored(self, _: &mut dyn FnMut(Vec<u8>) -> BodyRef) -> SandboxAnswer {
                SandboxAnswer::$variant(self)
            }

            fn read(told: &SandboxAnswer, _: &dyn Bodies) -> Option<Self> {
                match told {
                    SandboxAnswer::$variant(answer) => Some(answer.clone()),
                    _ => None,
                }
            }

            fn absent(why: String) -> Self {
                $absent(why)
            }
        }
    };
}

kept_whole!(Result<Vec<Changed>, String>, Changes, Err);
kept_whole!(Started, Service, Started::Failed);
kept_whole!(String, Nonce, identity);

/// Answers the questions of a sandbox from the evidence, or by asking another sandbox.
pub(super) trait Answers {
    fn answer<T: Kept>(&self, asked: Question, ask: impl FnOnce(&dyn Sandbox) -> T) -> T;

    fn last(&self, command: &str) -> Option<CommandResult>;

    fn failed(&self) -> Option<String>;

    fn report(&self, why: String);
}

impl<A: Answers> Sandbox for A {
    fn file(&self, path: &TreePath) -> FileSeen {
        self.answer(Question::File(path.clone()), |sandbox| sandbox.file(path))
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.answer(Question::Pinned(path.clone()), |sandbox| {
            sandbox.pinned(path)
        })
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.answer(Question::Changes, |sandbox| sandbox.changes())
    }

    fn run(&self, order: &CommandSpec) -> CommandResult {
        let asked = Question::Run(Box::new(order.clone()));
        self.answer(asked, |sandbox| sandbox.run(order))
    }

    fn last_run(&self, name: &str) -> Option<CommandResult> {
        self.last(name)
    }

    fn call(&self, call: &Call) -> Called {
        let asked = Question::Call(Box::new(call.clone()));
        self.answer(asked, |sandbox| sandbox.call(call))
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        let asked = Question::Chat(Box::new(order.clone()));
        self.answer(asked, |sandbox| sandbox.chat(order))
    }

    fn service(&self, name: &str, place: RunPlace) -> Started {
        let asked = match place {
            RunPlace::Submission => Question::Service(name.to_owned()),
            RunPlace::Control => Question::ControlService(name.to_owned()),
        };
        self.answer(asked, |sandbox| sandbox.service(name, place))
    }

    fn nonce(&self) -> String {
        self.answer(Question::Nonce, |sandbox| sandbox.nonce())
    }

    fn failure(&self) -> Option<String> {
        self.failed()
    }

    fn report_failure(&self, why: String) {
        self.report(why);
    }
}
