//! The step `freemail`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `freemail`.
pub struct Freemail;

impl Check<Context<'_>> for Freemail {
    fn name(&self) -> &'static str {
        "freemail"
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
