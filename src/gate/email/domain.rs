//! The step `domain`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `domain`.
pub struct Domain;

impl Check<Context<'_>> for Domain {
    fn name(&self) -> &'static str {
        "domain"
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
