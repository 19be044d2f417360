//! The step `mail`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `mail`.
pub struct Mail;

impl Check<Context<'_>> for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn cost(&self) -> Cost {
        Cost::Dns
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Finding> {
        Vec::new()
    }
}
