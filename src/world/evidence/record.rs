//! Records every answer of the world as evidence.

use std::cell::RefCell;
use std::convert::Infallible;

use url::Url;

use super::sandbox::{Answers, Kept};
use super::{BodyRef, Evidence, Exchange, Question, Recording};
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{CommandResult, Sandbox};
use crate::world::{
    EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Rendered, Request, Resolver, Response,
    UniqueValue, UniquenessIndex, World,
};

/// A world that passes each question once to another world, and records the answer.
///
/// A judgement gets only one answer to each question, so that its evidence replays to the same result.
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

    /// Continues a recording with a world that may have changed since.
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

    /// What `read` finds in the recording. Otherwise asks the world, and keeps the answer as
    /// `exchange` says.
    fn once<T: Clone>(
        &self,
        read: impl FnOnce(&Recording) -> Option<T>,
        ask: impl FnOnce(&World<'_>) -> T,
        exchange: impl FnOnce(T, &mut Keep<'_>) -> Option<Exchange>,
    ) -> T {
        let known = read(&self.recording.borrow());
        known.unwrap_or_else(|| {
            let answer = ask(&self.world);
            let Recording { evidence, bodies } = &mut *self.recording.borrow_mut();
            let mut keep = |bytes: Vec<u8>| {
                let body = BodyRef::of(&bytes);
                bodies.insert(body.sha256, bytes);
                body
            };
            let kept = exchange(answer.clone(), &mut keep);
            evidence.exchanges.extend(kept);
            answer
        })
    }

    /// The same for an answer without a body.
    fn plain<T: Clone>(
        &self,
        read: impl FnOnce(&Evidence) -> Option<T>,
        ask: impl FnOnce(&World<'_>) -> T,
        exchange: impl FnOnce(T) -> Exchange,
    ) -> T {
        let read = |recording: &Recording| read(&recording.evidence);
        self.once(read, ask, |answer, _| Some(exchange(answer)))
    }
}

/// Stores a body separately from its answer.
type Keep<'a> = dyn FnMut(Vec<u8>) -> BodyRef + 'a;

impl Fetcher for Recorder<'_> {
    fn get(&self, request: &Request) -> Fetched {
        self.once(
            |Recording { evidence, bodies }| evidence.page(&request.url)?.fetched(bodies),
            |world| world.fetcher.get(request),
            |fetched, keep| {
                let url = request.url.clone();
                let Ok(answer) = fetched.with_body(|bytes| Ok::<_, Infallible>(keep(bytes)));
                Some(Exchange::Get { url, answer })
            },
        )
    }

    fn render(&self, url: &Url, response: &Response) -> Rendered {
        self.once(
            |Recording { evidence, bodies }| {
                let known = evidence.rendered(url)?.clone();
                known.with_bodies(|body| body.load(bodies).ok_or(())).ok()
            },
            |world| world.fetcher.render(url, response),
            |rendered, keep| {
                let url = url.clone();
                let Ok(answer) = rendered.with_bodies(|bytes| Ok::<_, Infallible>(keep(bytes)));
                (answer != Rendered::Markup).then_some(Exchange::Rendered { url, answer })
            },
        )
    }
}

impl Resolver for Recorder<'_> {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        self.plain(
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
        self.plain(
            |evidence| evidence.holder(value).map(Option::<&Key>::cloned),
            |world| world.accepted.holder(value),
            |holder| Exchange::Session {
                value: value.clone(),
                holder,
            },
        )
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.plain(
            |evidence| evidence.doubts().map(<[_]>::to_vec),
            |world| world.accepted.doubts(),
            Exchange::Doubts,
        )
    }

    fn may_ask(&self) -> bool {
        self.plain(
            Evidence::may_ask,
            |world| world.accepted.may_ask(),
            Exchange::MayAsk,
        )
    }
}

impl Answers for Recorder<'_> {
    fn answer<T: Kept>(&self, asked: Question, ask: impl FnOnce(&dyn Sandbox) -> T) -> T {
        self.once(
            |Recording { evidence, bodies }| T::read(evidence.answer_to(&asked)?, bodies),
            |world| ask(world.sandbox),
            |seen, keep| {
                let answer = seen.stored(keep);
                let asked = asked.clone();
                Some(Exchange::Sandbox { asked, answer })
            },
        )
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
