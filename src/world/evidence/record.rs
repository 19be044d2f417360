//! Keeps every answer of the world as evidence.

use std::cell::RefCell;

use super::{
    Apart, Asked, DnsExchange, Exchange, PageAnswer, PageExchange, Recording, SessionExchange,
    Told, WorkshopExchange,
};
use crate::quest::Key;
use crate::world::domain::HostName;
use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Order, Ran, Started, Workshop,
};
use crate::world::tree::TreePath;
use crate::world::{
    EarlierDoubt, Fetched, Fetcher, Looked, RecordKind, Request, Resolver, UniqueValue,
    UniquenessIndex, World,
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

    #[must_use]
    pub fn world(&self) -> World<'_> {
        World {
            fetcher: self,
            resolver: self,
            accepted: self,
            workshop: self,
        }
    }

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

impl UniquenessIndex for Recorder<'_> {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
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

impl Recorder<'_> {
    /// What `asked` was answered before, as `read`; else what `look` finds, kept as `stored`.
    fn once<T: Clone>(
        &self,
        asked: Asked,
        read: impl Fn(&Told, &Recording) -> Option<T>,
        look: impl FnOnce(&dyn Workshop) -> T,
        stored: impl FnOnce(T) -> (Told, Apart),
    ) -> T {
        self.told(&asked, read).unwrap_or_else(|| {
            let seen = look(self.world.workshop);
            self.keep_told(asked, stored(seen.clone()));
            seen
        })
    }

    /// What was answered to `asked` before.
    fn told<T>(&self, asked: &Asked, read: impl Fn(&Told, &Recording) -> Option<T>) -> Option<T> {
        let recording = self.recording.borrow();
        let told = recording.evidence.told(asked)?;
        read(told, &recording)
    }

    fn keep_told(&self, asked: Asked, (answer, apart): (Told, Apart)) {
        self.recording.borrow_mut().bodies.extend(apart);
        self.keep(Exchange::Workshop(WorkshopExchange { asked, answer }));
    }
}

impl Workshop for Recorder<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        self.once(
            Asked::File(path.clone()),
            |told, kept| told.file(&kept.bodies),
            |workshop| workshop.file(path),
            Told::of_file,
        )
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.once(
            Asked::Pinned(path.clone()),
            |told, kept| told.file(&kept.bodies),
            |workshop| workshop.pinned(path),
            Told::of_file,
        )
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        let stored = |changes| match changes {
            Ok(changes) => (Told::Changes(changes), Apart::new()),
            Err(why) => (Told::NoChanges(why), Apart::new()),
        };
        self.once(
            Asked::Changes,
            |told, _| told.changes(),
            |workshop| workshop.changes(),
            stored,
        )
    }

    fn run(&self, order: &Order) -> Ran {
        self.once(
            Asked::Run(Box::new(order.clone())),
            |told, kept| told.ran(&kept.bodies),
            |workshop| workshop.run(order),
            Told::of_ran,
        )
    }

    fn call(&self, call: &Call) -> Called {
        self.once(
            Asked::Call(Box::new(call.clone())),
            |told, kept| told.called(&kept.bodies),
            |workshop| workshop.call(call),
            Told::of_call,
        )
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        let asked = Asked::Chat(Box::new(order.clone()));
        let known = self.told(&asked, |told, kept| told.chatted(&kept.bodies));
        known.unwrap_or_else(|| {
            let chatted = self.world.workshop.chat(order);
            self.keep_told(asked, Told::of_chat(chatted.clone()));
            chatted
        })
    }

    fn service(&self, name: &str) -> Started {
        let stored = |started| match started {
            Started::Listening { port } => (Told::Port(port), Apart::new()),
            Started::Failed(why) => (Told::NotStarted(why), Apart::new()),
        };
        self.once(
            Asked::Service(name.to_owned()),
            |told, _| told.started(),
            |workshop| workshop.service(name),
            stored,
        )
    }

    fn failure(&self) -> Option<String> {
        self.world.workshop.failure()
    }
}
