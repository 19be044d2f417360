//! What a kind of check does: it looks, and says what it found.

use super::context::Context;
use super::spec::Shows;
use crate::gate::Cost;
use crate::quest::{Field, FieldName};

/// The most facts that one check reports; the count says how many there are.
pub const MOST_FACTS: usize = 20;

/// The looking part of a check.
pub trait Probe {
    /// What looking costs.
    fn cost(&self) -> Cost;

    /// The field whose value a PASS takes for its quest alone, where there is one.
    fn unique(&self) -> Option<&Field> {
        None
    }

    /// The checks whose outcome it looks at: it is not run where one has failed.
    fn needs(&self) -> &[String] {
        &[]
    }

    /// What passing it shows, where its table makes that differ from what its kind shows.
    fn shows(&self) -> Option<Shows> {
        None
    }

    /// Looks, and returns what stands in the way; nothing means that the check passes.
    fn look(&self, context: &Context<'_>) -> Vec<Found>;
}

/// What stands in the way of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The fact does not hold.
    Wrong(Detail),
    /// The world could not say.
    Unconfirmed(Detail),
}

/// A finding in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The field that it is about.
    pub field: Option<FieldName>,
    /// Where it was found.
    pub location: Option<String>,
    /// What would have let the check pass.
    pub expected: String,
    /// What is so instead.
    pub actual: String,
    /// How many of its kind there are.
    pub count: u32,
    /// Whether nothing is known but that it failed: the check's own words then say more.
    pub wordless: bool,
}

impl Detail {
    /// A detail of one, with neither field nor place.
    #[must_use]
    pub fn new(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            field: None,
            location: None,
            expected: expected.into(),
            actual: actual.into(),
            count: 1,
            wordless: false,
        }
    }

    /// Names the field that it is about.
    #[must_use]
    pub fn on(mut self, field: &FieldName) -> Self {
        self.field = Some(field.clone());
        self
    }

    /// Names the place where it was found.
    #[must_use]
    pub fn at(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Says how many of its kind there are.
    #[must_use]
    pub fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }

    /// Says that nothing is known but that it failed.
    #[must_use]
    pub fn wordless(mut self) -> Self {
        self.wordless = true;
        self
    }

    /// The fact does not hold.
    #[must_use]
    pub fn wrong(self) -> Found {
        Found::Wrong(self)
    }

    /// The world could not say.
    #[must_use]
    pub fn unconfirmed(self) -> Found {
        Found::Unconfirmed(self)
    }
}
