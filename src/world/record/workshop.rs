//! Keeps what a workshop answers.

use super::Recorder;
use crate::world::evidence::{Apart, Asked, Exchange, Recording, Told, WorkshopExchange};
use crate::world::tree::TreePath;
use crate::world::workshop::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Order, Ran, Started, Workshop,
};

impl Recorder<'_> {
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
        let asked = Asked::File(path.clone());
        let known = self.told(&asked, |told, kept| told.file(&kept.bodies));
        known.unwrap_or_else(|| {
            let seen = self.world.workshop.file(path);
            self.keep_told(asked, Told::of_file(seen.clone()));
            seen
        })
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        let asked = Asked::Pinned(path.clone());
        let known = self.told(&asked, |told, kept| told.file(&kept.bodies));
        known.unwrap_or_else(|| {
            let seen = self.world.workshop.pinned(path);
            self.keep_told(asked, Told::of_file(seen.clone()));
            seen
        })
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        let known = self.told(&Asked::Changes, |told, _| told.changes());
        known.unwrap_or_else(|| {
            let changes = self.world.workshop.changes();
            let told = match changes.clone() {
                Ok(changes) => Told::Changes(changes),
                Err(why) => Told::NoChanges(why),
            };
            self.keep_told(Asked::Changes, (told, Apart::new()));
            changes
        })
    }

    fn run(&self, order: &Order) -> Ran {
        let asked = Asked::Run(Box::new(order.clone()));
        let known = self.told(&asked, |told, kept| told.ran(&kept.bodies));
        known.unwrap_or_else(|| {
            let ran = self.world.workshop.run(order);
            self.keep_told(asked, Told::of_ran(ran.clone()));
            ran
        })
    }

    fn call(&self, call: &Call) -> Called {
        let asked = Asked::Call(Box::new(call.clone()));
        let known = self.told(&asked, |told, kept| told.called(&kept.bodies));
        known.unwrap_or_else(|| {
            let called = self.world.workshop.call(call);
            self.keep_told(asked, Told::of_call(called.clone()));
            called
        })
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
        let asked = Asked::Service(name.to_owned());
        let known = self.told(&asked, |told, _| told.started());
        known.unwrap_or_else(|| {
            let started = self.world.workshop.service(name);
            let told = match started.clone() {
                Started::Listening { port } => Told::Port(port),
                Started::Failed(why) => Told::NotStarted(why),
            };
            self.keep_told(asked, (told, Apart::new()));
            started
        })
    }

    fn failure(&self) -> Option<String> {
        self.world.workshop.failure()
    }
}
