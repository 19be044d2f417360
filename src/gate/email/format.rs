//! The step `format`.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Rule};

/// The step `format`.
pub struct Format;

impl Check<Context<'_>> for Format {
    fn name(&self) -> &'static str {
        "format"
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

/// Why a text is not a web URL that the gate takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a web URL")]
pub struct BadWebUrl;

/// The URL that `text` spells, without its fragment.
pub fn web_url(text: &str) -> Result<url::Url, BadWebUrl> {
    url::Url::parse(text).map_err(|_| BadWebUrl)
}
