//! Answers from evidence, without a network.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::fmt;

use url::Url;

use super::sandbox::Kept;
use super::{Asked, Bodies, Evidence, PageAnswer};
use crate::base::Digest;
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Order, Ran, Started, Workshop,
};
use crate::world::tree::TreePath;
use crate::world::{
    EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Request, Resolver, Unanswered,
    UnansweredKind, UniqueValue, UniquenessIndex, World,
};

/// A world that knows what was recorded, and nothing else.
pub struct Replay<'a> {
    evidence: &'a Evidence,
    bodies: &'a dyn Bodies,
    missing: RefCell<Vec<Missing>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    Page(Url),
    Body(Digest),
    Dns(HostName, RecordKind),
    Session(UniqueValue),
    Doubts,
    MayAsk,
    Workshop(Box<Asked>),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(url) => write!(f, "the page {url}"),
            Self::Body(digest) => write!(f, "the body {digest}"),
            Self::Dns(name, kind) => write!(f, "the {kind:?} records of {name}"),
            Self::Session(UniqueValue::Mailbox(mailbox)) => write!(f, "who holds {mailbox}"),
            Self::Session(UniqueValue::Domain(domain)) => write!(f, "who holds {domain}"),
            Self::Session(UniqueValue::Value { field, text }) => {
                write!(f, "who holds {text:?} as {field}")
            }
            Self::Doubts => f.write_str("what reviewers doubted before"),
            Self::MayAsk => f.write_str("whether reviewers may be asked"),
            Self::Workshop(asked) => write!(f, "{asked}"),
        }
    }
}

impl<'a> Replay<'a> {
    pub fn new(evidence: &'a Evidence, bodies: &'a dyn Bodies) -> Self {
        Self {
            evidence,
            bodies,
            missing: RefCell::default(),
        }
    }

    pub fn world(&self) -> World<'_> {
        self.world_with(self)
    }

    /// The recorded pages and DNS, with what the session knows now.
    pub fn world_with<'w>(&'w self, accepted: &'w dyn UniquenessIndex) -> World<'w> {
        World {
            fetcher: self,
            resolver: self,
            accepted,
            workshop: self,
        }
    }

    /// The questions so far that had no recorded answer. A judgement that asked one is not
    /// the judgement that was recorded.
    pub fn missing(&self) -> Vec<Missing> {
        self.missing.borrow().clone()
    }

    fn miss(&self, missing: Missing) -> Unanswered {
        let detail = format!("the evidence does not hold {missing}");
        self.missing.borrow_mut().push(missing);
        Unanswered::new(UnansweredKind::NotRecorded, detail)
    }
}

/// Bodies that are what their digest says.
struct Checked<'a>(&'a dyn Bodies);

impl Bodies for Checked<'_> {
    fn body(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.0
            .body(digest)
            .filter(|body| Digest::of(body) == *digest)
    }
}

impl Fetcher for Replay<'_> {
    fn get(&self, request: &Request) -> Fetched {
        let Some(answer) = self.evidence.page(&request.url) else {
            return Fetched::Unanswered(self.miss(Missing::Page(request.url.clone())));
        };
        answer.fetched(&Checked(self.bodies)).unwrap_or_else(|| {
            Fetched::Unanswered(self.miss(match answer {
                PageAnswer::Response(response) => Missing::Body(response.body.sha256),
                _ => Missing::Page(request.url.clone()),
            }))
        })
    }
}

impl Resolver for Replay<'_> {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let known = self.evidence.dns(name, kind).cloned();
        known.unwrap_or_else(|| Looked::Unanswered(self.miss(Missing::Dns(name.clone(), kind))))
    }
}

impl UniquenessIndex for Replay<'_> {
    /// Nobody, where the session was not asked; [`Replay::missing`] then says so.
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        let known = self.evidence.holder(taken);
        if known.is_none() {
            self.miss(Missing::Session(taken.clone()));
        }
        known.flatten().cloned()
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        let known = self.evidence.doubts();
        if known.is_none() {
            self.miss(Missing::Doubts);
        }
        known.unwrap_or_default().to_vec()
    }

    fn may_ask(&self) -> bool {
        let known = self.evidence.may_ask();
        if known.is_none() {
            self.miss(Missing::MayAsk);
        }
        known.unwrap_or_default()
    }
}

impl Replay<'_> {
    fn told<T: Kept>(&self, asked: Asked) -> T {
        let told = self.evidence.told(&asked);
        let known = told.and_then(|told| T::read(told, &Checked(self.bodies)));
        known.unwrap_or_else(|| T::absent(self.miss(Missing::Workshop(Box::new(asked))).detail))
    }
}

impl Workshop for Replay<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        self.told(Asked::File(path.clone()))
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.told(Asked::Pinned(path.clone()))
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.told(Asked::Changes)
    }

    fn run(&self, order: &Order) -> Ran {
        self.told(Asked::Run(Box::new(order.clone())))
    }

    fn call(&self, call: &Call) -> Called {
        self.told(Asked::Call(Box::new(call.clone())))
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        self.told(Asked::Chat(Box::new(order.clone())))
    }

    fn service(&self, name: &str) -> Started {
        self.told(Asked::Service(name.to_owned()))
    }
}
