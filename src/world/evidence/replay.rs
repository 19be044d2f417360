//! Answers from evidence, without a network.

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use url::Url;

use super::sandbox::{Answers, Kept};
use super::{Bodies, Evidence, PageAnswer, Question};
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{CommandResult, Sandbox};
use crate::world::{
    EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Rendered, Request, Resolver, Response,
    Unanswered, UnansweredKind, UniqueValue, UniquenessIndex, World,
};

pub struct Replay<'a> {
    evidence: &'a Evidence,
    bodies: &'a dyn Bodies,
    missing: RefCell<Vec<String>>,
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
            sandbox: self,
        }
    }

    /// The questions so far without a recorded answer. A judgement with such a question differs from
    /// the recorded one.
    pub fn missing(&self) -> Vec<String> {
        self.missing.borrow().clone()
    }

    fn miss(&self, missing: String) -> Unanswered {
        let detail = format!("the evidence does not hold {missing}");
        self.missing.borrow_mut().push(missing);
        Unanswered::new(UnansweredKind::NotRecorded, detail)
    }
}

impl Fetcher for Replay<'_> {
    fn get(&self, request: &Request) -> Fetched {
        let Some(answer) = self.evidence.page(&request.url) else {
            return Fetched::Unanswered(self.miss(format!("the page {}", request.url)));
        };
        answer.fetched(self.bodies).unwrap_or_else(|| {
            Fetched::Unanswered(self.miss(match answer {
                PageAnswer::Response(response) => format!("the body {}", response.body.sha256),
                _ => format!("the page {}", request.url),
            }))
        })
    }

    /// The markup if no browser had shown the page.
    fn render(&self, url: &Url, _response: &Response) -> Rendered {
        let Some(known) = self.evidence.rendered(url) else {
            return Rendered::Markup;
        };
        let loaded = known
            .clone()
            .with_bodies(|body| body.load(self.bodies).ok_or(body));
        loaded.unwrap_or_else(|body| {
            Rendered::Unanswered(self.miss(format!("the body {}", body.sha256)))
        })
    }
}

impl Resolver for Replay<'_> {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let known = self.evidence.dns(name, kind).cloned();
        known.unwrap_or_else(|| {
            Looked::Unanswered(self.miss(format!("the {kind:?} records of {name}")))
        })
    }
}

impl UniquenessIndex for Replay<'_> {
    /// None if the session was not asked; [`Replay::missing`] then says so.
    fn holder(&self, value: &UniqueValue) -> Option<Key> {
        let known = self.evidence.holder(value);
        if known.is_none() {
            self.miss(match value {
                UniqueValue::Mailbox(mailbox) => format!("who holds {mailbox}"),
                UniqueValue::Domain(domain) => format!("who holds {domain}"),
                UniqueValue::Value { field, text } => format!("who holds {text:?} as {field}"),
            });
        }
        known.flatten().cloned()
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        let known = self.evidence.doubts();
        if known.is_none() {
            self.miss("what reviewers doubted before".to_owned());
        }
        known.unwrap_or_default().to_vec()
    }

    fn may_ask(&self) -> bool {
        let known = self.evidence.may_ask();
        if known.is_none() {
            self.miss("whether reviewers may be asked".to_owned());
        }
        known.unwrap_or_default()
    }
}

impl Answers for Replay<'_> {
    fn answer<T: Kept>(&self, asked: Question, _ask: impl FnOnce(&dyn Sandbox) -> T) -> T {
        let told = self.evidence.answer_to(&asked);
        let known = told.and_then(|told| T::read(told, self.bodies));
        known.unwrap_or_else(|| T::absent(self.miss(asked.to_string()).detail))
    }

    fn last(&self, command: &str) -> Option<CommandResult> {
        CommandResult::read(self.evidence.last_run(command)?, self.bodies)
    }

    fn failed(&self) -> Option<String> {
        None
    }

    /// Does nothing, because a judgement with a failure is never recorded.
    fn report(&self, _why: String) {}
}
