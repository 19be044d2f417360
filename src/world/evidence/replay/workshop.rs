//! Answers for a workshop from evidence: no file is read, and no command is run.

use std::collections::BTreeMap;

use super::{Checked, Missing, Replay};
use crate::world::evidence::{Asked, Bodies, Told};
use crate::world::sandbox::{
    Call, Called, Changed, ChatOrder, Chatted, Confinement, End, FileSeen, Order, Ran, Started,
    Workshop,
};
use crate::world::tree::TreePath;

impl Replay<'_> {
    fn told<T>(
        &self,
        asked: Asked,
        read: impl Fn(&Told, &dyn Bodies) -> Option<T>,
        absent: impl FnOnce(String) -> T,
    ) -> T {
        let told = self.evidence.told(&asked);
        let known = told.and_then(|told| read(told, &Checked(self.bodies)));
        known.unwrap_or_else(|| absent(self.miss(Missing::Workshop(Box::new(asked))).detail))
    }
}

impl Workshop for Replay<'_> {
    fn file(&self, path: &TreePath) -> FileSeen {
        let asked = Asked::File(path.clone());
        self.told(asked, Told::file, FileSeen::Other)
    }

    fn pinned(&self, path: &TreePath) -> FileSeen {
        let asked = Asked::Pinned(path.clone());
        self.told(asked, Told::file, FileSeen::Other)
    }

    fn changes(&self) -> Result<Vec<Changed>, String> {
        self.told(Asked::Changes, |told, _| told.changes(), Err)
    }

    fn run(&self, order: &Order) -> Ran {
        let absent = |why| Ran {
            end: End::NotStarted(why),
            stdout: Vec::new(),
            stderr: Vec::new(),
            reports: BTreeMap::new(),
            confinement: Confinement::default(),
            millis: 0,
        };
        self.told(Asked::Run(Box::new(order.clone())), Told::ran, absent)
    }

    fn call(&self, call: &Call) -> Called {
        let asked = Asked::Call(Box::new(call.clone()));
        self.told(asked, Told::called, Called::Unanswered)
    }

    fn chat(&self, order: &ChatOrder) -> Chatted {
        let asked = Asked::Chat(Box::new(order.clone()));
        self.told(asked, Told::chatted, Chatted::Failed)
    }

    fn service(&self, name: &str) -> Started {
        let asked = Asked::Service(name.to_owned());
        self.told(asked, |told, _| told.started(), Started::Failed)
    }
}
