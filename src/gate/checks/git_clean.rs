//! `git-clean`: nothing of the tree is other than it was pinned.

use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::{forbidden, needs_tree};
use super::context::Context;
use super::probe::{Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;

/// `kind = "git-clean"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GitCleanSpec {}

#[derive(Debug)]
struct GitClean;

impl Spec for GitCleanSpec {
    const KIND: &'static str = "git-clean";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        needs_tree(source)?;
        Ok(Box::new(GitClean))
    }
}

impl Probe for GitClean {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        forbidden(context, "a tree in which nothing has changed", |_| false)
    }
}
