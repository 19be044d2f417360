//! Keeps what a workshop answers.

use super::Recorder;
use crate::world::evidence::{Apart, Asked, Exchange, Recording, Told, WorkshopExchange};
use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Order, Ran, Started, Workshop,
};
use crate::world::tree::TreePath;

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
