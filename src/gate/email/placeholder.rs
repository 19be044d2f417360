//! The step `placeholder`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `placeholder`.
pub struct Placeholder;

impl Check<Context<'_>> for Placeholder {
    fn name(&self) -> &'static str {
        "placeholder"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Finding> {
        Vec::new()
    }
}
