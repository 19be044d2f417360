//! A check: one step of a gate.

use super::{Rule, RuleId};
use crate::quest::FieldName;

/// What a check costs; dearer checks run only when no cheaper one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Looks at the submission alone.
    Local,
    /// Looks at files of the tree.
    Tree,
    /// Reads pages.
    Page,
    /// Asks DNS.
    Dns,
    /// Reads further pages, or what the session knows.
    Wide,
    /// Runs a command.
    Command,
    /// Runs commands again and again.
    Heavy,
}

/// One step of a gate. `C` is what the gate's steps share about the case in hand.
pub trait Check<C> {
    /// The step's name, in kebab-case.
    fn name(&self) -> &str;

    /// What running it costs.
    fn cost(&self) -> Cost;

    /// Every rule that it can fire.
    fn rules(&self) -> &[Rule];

    /// The checks that come before it; where one has failed or was not run, it is not run.
    fn needs(&self) -> &[String] {
        &[]
    }

    /// Runs the step and returns what fired; nothing fired means that it passed.
    ///
    /// A step whose input an earlier step could not parse returns nothing: the earlier step
    /// has said why.
    fn run(&self, context: &C) -> Vec<Finding>;
}

/// A rule that fired, before its level is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
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
}

impl Finding {
    /// A finding of one, with neither field nor place.
    #[must_use]
    pub fn new(rule: &'static str, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self::of(&RuleId::known(rule), expected, actual)
    }

    /// A finding of this rule, with neither field nor place.
    #[must_use]
    pub fn of(rule: &RuleId, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: rule.clone(),
            field: None,
            location: None,
            expected: expected.into(),
            actual: actual.into(),
            count: 1,
        }
    }

    /// Names the field that it is about.
    #[must_use]
    pub fn on(mut self, field: FieldName) -> Self {
        self.field = Some(field);
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
}
