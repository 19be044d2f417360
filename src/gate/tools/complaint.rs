//! What a tool complains of, and how many tests it says that it ran.

use serde::{Deserialize, Serialize};

use super::text::brief;

/// How many complaints are kept; all are counted.
pub const MOST_KEPT: usize = 20;

/// One thing that a tool complains of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// Where it is, such as `tests/test_a.py:12:5`.
    pub location: Option<String>,
    /// What should be.
    pub expected: String,
    /// What is instead.
    pub actual: String,
    /// The test or rule that says so.
    pub name: Option<String>,
}

impl Complaint {
    /// A complaint of a test that should pass.
    pub(super) fn test(name: &str, actual: &str) -> Self {
        Self::new("the test passes", actual).named(name)
    }

    /// A complaint of what should not be there.
    pub(super) fn rule(actual: &str) -> Self {
        Self::new("no complaint", actual)
    }

    pub(super) fn new(expected: &str, actual: &str) -> Self {
        Self {
            location: None,
            expected: brief(expected),
            actual: brief(actual),
            name: None,
        }
    }

    pub(super) fn named(self, name: &str) -> Self {
        let name = Some(brief(name)).filter(|name| !name.is_empty());
        Self { name, ..self }
    }

    pub(super) fn at(self, location: Option<&str>) -> Self {
        let location = location.map(brief).filter(|text| !text.is_empty());
        Self { location, ..self }
    }
}

/// How many tests there were.
///
/// An exit code of 0 says nothing of a runner that was told to skip everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Those that ran and passed.
    pub passed: u32,
    /// Those that ran and failed, and those that broke off.
    pub failed: u32,
    /// Those that were skipped, or allowed to fail and did.
    pub skipped: u32,
}

impl Seen {
    pub(super) fn pass(&mut self) {
        self.passed = self.passed.saturating_add(1);
    }

    pub(super) fn fail(&mut self) {
        self.failed = self.failed.saturating_add(1);
    }

    pub(super) fn skip(&mut self) {
        self.skipped = self.skipped.saturating_add(1);
    }

    /// How many tests ran.
    #[must_use]
    pub fn ran(self) -> u32 {
        self.passed.saturating_add(self.failed)
    }
}

/// All that a tool complains of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Complaints {
    /// The first ones, at most [`MOST_KEPT`].
    pub first: Vec<Complaint>,
    /// How many there are.
    pub count: u32,
    /// The tests that there were, of a format that tells.
    pub seen: Option<Seen>,
}

impl Complaints {
    pub(super) fn push(&mut self, complaint: Complaint) {
        if self.first.len() < MOST_KEPT {
            self.first.push(complaint);
        }
        self.count = self.count.saturating_add(1);
    }

    /// Says that the output tells of tests.
    pub(super) fn seeing(self, seen: Seen) -> Self {
        Self {
            seen: Some(seen),
            ..self
        }
    }
}
