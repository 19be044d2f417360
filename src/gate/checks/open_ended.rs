//! The check of a quest file that says `open = true`: no machine can decide.

use super::context::Context;
use crate::gate::{Check, Cost, Fact, Level, Rule};

const RULES: &[Rule] = &[Rule::known(
    "open-ended",
    Level::Review,
    "the quest file says that no machine can decide",
    "nothing: a person settles it",
)];

/// Leaves every submission that nothing else refuses to a person.
#[derive(Debug, Clone, Copy)]
pub struct OpenEnded;

impl Check<Context<'_>> for OpenEnded {
    fn name(&self) -> &'static str {
        "open-ended"
    }

    fn cost(&self) -> Cost {
        // The dearest, so that it says nothing where another check has failed.
        Cost::Heavy
    }

    fn rules(&self) -> &[Rule] {
        RULES
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Fact> {
        let expected = "a machine that can decide";
        let actual = "a quest file that leaves it to a person";
        vec![Fact::new("open-ended", expected, actual)]
    }
}
