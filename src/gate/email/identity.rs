//! The step `identity`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `identity`.
pub struct Identity;

impl Check<Context<'_>> for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn cost(&self) -> Cost {
        Cost::Wide
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Finding> {
        Vec::new()
    }
}
