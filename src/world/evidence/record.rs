//! Keeps every answer of the world as evidence.

mod workshop;

use std::cell::RefCell;

use super::{DnsExchange, Exchange, PageAnswer, PageExchange, Recording, SessionExchange};
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::{
    Accepted, EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Request, Resolver, Taken, World,
};

/// A world that asks another, each question once, and keeps what it says.
///
/// One judgement sees one answer to one question, so its evidence replays to the same end.
pub struct Recorder<'a> {
    world: World<'a>,
    recording: RefCell<Recording>,
}

impl<'a> Recorder<'a> {
    /// Records what `world` says.
    #[must_use]
    pub fn new(world: World<'a>) -> Self {
        Self {
            world,
            recording: RefCell::default(),
        }
    }

    /// Continues a recording, by a world that may have changed since.
    #[must_use]
    pub fn resume(world: World<'a>, recording: Recording) -> Self {
        Self {
            world,
            recording: RefCell::new(recording),
        }
    }

    /// The world that is recorded.
    #[must_use]
    pub fn world(&self) -> World<'_> {
        World {
            fetcher: self,
            resolver: self,
            accepted: self,
            workshop: self,
        }
    }

    /// What was asked and answered.
    #[must_use]
    pub fn finish(self) -> Recording {
        self.recording.into_inner()
    }

    fn keep(&self, exchange: Exchange) {
        self.recording
            .borrow_mut()
            .evidence
            .exchanges
            .push(exchange);
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
            self.keep(Exchange::Get(PageExchange {
                url: request.url.clone(),
                answer,
            }));
            fetched
        })
    }
}

impl Resolver for Recorder<'_> {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let known = self.recording.borrow().evidence.dns(name, kind).cloned();
        known.unwrap_or_else(|| {
            let answer = self.world.resolver.lookup(name, kind);
            self.keep(Exchange::Dns(DnsExchange {
                name: name.clone(),
                kind,
                answer: answer.clone(),
            }));
            answer
        })
    }
}

impl Accepted for Recorder<'_> {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        let known = {
            let recording = self.recording.borrow();
            recording.evidence.holder(taken).map(Option::<&Key>::cloned)
        };
        known.unwrap_or_else(|| {
            let holder = self.world.accepted.holder(taken);
            self.keep(Exchange::Session(SessionExchange {
                taken: taken.clone(),
                holder: holder.clone(),
            }));
            holder
        })
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        let known = {
            let recording = self.recording.borrow();
            recording.evidence.doubts().map(<[_]>::to_vec)
        };
        known.unwrap_or_else(|| {
            let doubts = self.world.accepted.doubts();
            self.keep(Exchange::Doubts(doubts.clone()));
            doubts
        })
    }

    fn may_ask(&self) -> bool {
        let known = self.recording.borrow().evidence.may_ask();
        known.unwrap_or_else(|| {
            let may = self.world.accepted.may_ask();
            self.keep(Exchange::MayAsk(may));
            may
        })
    }
}
