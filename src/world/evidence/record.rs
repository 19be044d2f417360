//! Keeps every answer of the world as evidence.

use std::cell::RefCell;
use std::convert::Infallible;

use url::Url;

use super::sandbox::{Answers, Kept};
use super::{BodyRef, Evidence, Exchange, PageAnswer, Question, Recording};
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{CommandResult, Sandbox};
use crate::world::{
    EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Rendered, Request, Resolver, Response,
    UniqueValue, UniquenessIndex, World,
};

/// A world that asks another, each question once, and keeps what it says.
///
/// One judgement sees one answer to one question, so its evidence replays to the same end.
pub struct Recorder<'a> {
    world: World<'a>,
    recording: RefCell<Recording>,
}

impl<'a> Recorder<'a> {
    pub fn new(world: World<'a>) -> Self {
        Self {
            world,
            recording: RefCell::default(),
        }
    }

    /// Continues a recording, by a world that may have changed since.
    pub fn resume(world: World<'a>, recording: Recording) -> Self {
        Self {
            world,
            recording: RefCell::new(recording),
        }
    }

    pub fn world(&self) -> World<'_> {
        World {
            fetcher: self,
            resolver: self,
            accepted: self,
            sandbox: self,
        }
    }

    pub fn finish(self) -> Recording {
        self.recording.into_inner()
    }

    /// What `read` finds in the evidence; else what `ask` learns of the world, which is kept.
    fn once<T: Clone>(
        &self,
        read: impl FnOnce(&Evidence) -> Option<T>,
        ask: impl FnOnce(&World<'_>) -> T,
        exchange: impl FnOnce(T) -> Exchange,
    ) -> T {
        let known = read(&self.recording.borrow().evidence);
        known.unwrap_or_else(|| {
            let answer = ask(&self.world);
            self.keep(exchange(answer.clone()));
            answer
        })
    }

    fn keep(&self, exchange: Exchange) {
        let mut recording = self.recording.borrow_mut();
        recording.evidence.exchanges.push(exchange);
    }
}

impl Fetcher for Recorder<'_> {
    fn get(&self, request: &Request) -> Fetched {
        let known = {
            let Recording { evidence, bodies } = &*self.recording.borrow();
            evidence
                .page(&request.url)
                .and_then(|answer| answer.fetched(bodies))
        };
        known.unwrap_or_else(|| {
            let fetched = self.world.fetcher.get(request);
            let (answer, body) = PageAnswer::of(fetched.clone());
            self.recording.borrow_mut().bodies.extend(body);
            let url = request.url.clone();
            self.keep(Exchange::Get { url, answer });
            fetched
        })
    }

    fn render(&self, url: &Url, response: &Response) -> Rendered {
        let known = {
            let Recording { evidence, bodies } = &*self.recording.borrow();
            let known = evidence.rendered(url).cloned();
            known.and_then(|known| known.with_bodies(|body| body.load(bodies).ok_or(())).ok())
        };
        known.unwrap_or_else(|| {
            let rendered = self.world.fetcher.render(url, response);
            if rendered != Rendered::Markup {
                let Recording { evidence, bodies } = &mut *self.recording.borrow_mut();
                let Ok(answer) = rendered.clone().with_bodies(|bytes| {
                    let body = BodyRef::of(&bytes);
                    bodies.insert(body.sha256, bytes);
                    Ok::<_, Infallible>(body)
                });
                let url = url.clone();
                evidence.exchanges.push(Exchange::Rendered { url, answer });
            }
            rendered
        })
    }
}

impl Resolver for Recorder<'_> {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        self.once(
            |evidence| evidence.dns(name, kind).cloned(),
            |world| world.resolver.lookup(name, kind),
            |answer| Exchange::Dns {
                name: name.clone(),
                kind,
                answer,
            },
        )
    }
}

impl UniquenessIndex for Recorder<'_> {
    fn holder(&self, value: &UniqueValue) -> Option<Key> {
        self.once(
            |evidence| evidence.holder(value).map(Option::<&Key>::cloned),
            |world| world.accepted.holder(value),
            |holder| Exchange::Session {
                value: value.clone(),
                holder,
            },
        )
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.once(
            |evidence| evidence.doubts().map(<[_]>::to_vec),
            |world| world.accepted.doubts(),
            Exchange::Doubts,
        )
    }

    fn may_ask(&self) -> bool {
        self.once(
            Evidence::may_ask,
            |world| world.accepted.may_ask(),
            Exchange::MayAsk,
        )
    }
}

impl Answers for Recorder<'_> {
    fn answer<T: Kept>(&self, asked: Question, ask: impl FnOnce(&dyn Sandbox) -> T) -> T {
        let known = {
            let Recording { evidence, bodies } = &*self.recording.borrow();
            evidence
                .answer_to(&asked)
                .and_then(|told| T::read(told, bodies))
        };
        known.unwrap_or_else(|| {
            let seen = ask(self.world.sandbox);
            let answer = seen.clone().stored(&mut |bytes| {
                let body = BodyRef::of(&bytes);
                let bodies = &mut self.recording.borrow_mut().bodies;
                bodies.insert(body.sha256, bytes);
                body
            });
            self.keep(Exchange::Sandbox { asked, answer });
            seen
        })
    }

    fn last(&self, command: &str) -> Option<CommandResult> {
        let Recording { evidence, bodies } = &*self.recording.borrow();
        CommandResult::read(evidence.last_run(command)?, bodies)
    }

    fn failed(&self) -> Option<String> {
        self.world.sandbox.failure()
    }

    fn report(&self, why: String) {
        self.world.sandbox.report_failure(why);
    }
}
