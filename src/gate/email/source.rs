//! The step `source`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `source`.
pub struct Source;

impl Check<Context<'_>> for Source {
    fn name(&self) -> &'static str {
        "source"
    }

    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Finding> {
        Vec::new()
    }
}
