//! Keeps what commands print, by the check that ran them, so that reviewers can be shown it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, FileSeen, Order, Ran, Started, Workshop,
};
use crate::world::tree::TreePath;

pub(super) struct CommandOutputs<'a> {
    workshop: &'a dyn Workshop,
    ran: RefCell<BTreeMap<String, Ran>>,
}

impl<'a> CommandOutputs<'a> {
    pub(super) fn new(workshop: &'a dyn Workshop) -> Self {
        Self {
            workshop,
            ran: RefCell::default(),
        }
    }

    /// What the last command of this check printed; none where it ran none to its end.
    pub(super) fn printed(&self, check: &str) -> Option<Vec<u8>> {
        let ran = self.ran.borrow();
        let ran = ran.get(check).filter(|ran| ran.end.is_success());
        ran.map(|ran| ran.stdout.clone())
    }
}

impl Workshop for CommandOutputs<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        self.workshop.file(path)
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        self.workshop.pinned(path)
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.workshop.changes()
    }

    fn run(&self, order: &Order) -> Ran {
        let ran = self.workshop.run(order);
        let mut known = self.ran.borrow_mut();
        known.insert(order.name.clone(), ran.clone());
        ran
    }

    fn call(&self, call: &Call) -> Called {
        self.workshop.call(call)
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        self.workshop.chat(order)
    }

    fn service(&self, name: &str) -> Started {
        self.workshop.service(name)
    }

    fn failure(&self) -> Option<String> {
        self.workshop.failure()
    }
}
