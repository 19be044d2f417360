//! A text of the submission, held against the one that it says anew.

use super::context::Context;
use super::first_facts::first_facts;
use super::origin::{Origin, Original};
use super::probe::Found;
use super::spec::{Flaw, Source};
use super::subject::{Subject, Text};
use crate::gate::Cost;

/// Where both texts come from.
#[derive(Debug)]
pub(super) struct HeldAgainst {
    origin: Origin,
    subject: Subject,
}

impl HeldAgainst {
    /// What the keys `of` and `of_path`, `field` and `path` of a table name.
    pub(super) fn new(
        source: &Source<'_>,
        [of, of_path]: [Option<&str>; 2],
        [field, path]: [Option<&str>; 2],
    ) -> Result<Self, Flaw> {
        Ok(Self {
            origin: Origin::new(source, of, of_path)?,
            subject: Subject::new(source, field, path)?,
        })
    }

    /// What reading both costs.
    pub(super) fn cost(&self) -> Cost {
        self.origin.cost().max(self.subject.cost())
    }

    /// The first facts that `compare` finds; none where there is nothing to be held.
    pub(super) fn look(
        &self,
        context: &Context<'_>,
        compare: impl FnOnce(&Original, &Text) -> Vec<Found>,
    ) -> Vec<Found> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        match self.origin.read(context) {
            Ok(original) => first_facts(compare(&original, &text)),
            Err(found) => vec![found],
        }
    }
}
