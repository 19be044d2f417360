//! What the PASSes that a new session begins with have taken.

use std::collections::HashMap;

use crate::judge::accepted::mark;
use crate::quest::Key;
use crate::session::Mark;
use crate::world::{Accepted, Taken};

#[derive(Debug, Default)]
pub(super) struct Held(HashMap<Mark, Key>);

impl Held {
    pub(super) fn has_any(&self, marks: &[Mark]) -> bool {
        marks.iter().any(|mark| self.0.contains_key(mark))
    }

    pub(super) fn take(&mut self, marks: &[Mark], key: &Key) {
        let taken = marks.iter().map(|mark| (mark.clone(), key.clone()));
        self.0.extend(taken);
    }
}

impl Accepted for Held {
    fn holder(&self, taken: &Taken) -> Option<Key> {
        self.0.get(&mark(taken)).cloned()
    }
}
