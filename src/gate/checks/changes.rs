//! What checks of the tree's changes have in common.

use super::context::Context;
use super::orders::capped;
use super::probe::{Detail, Found};
use super::spec::{Flaw, Source};
use crate::world::sandbox::Changed;

/// Every change that `allowed` does not allow, as a fact.
pub fn forbidden(
    context: &Context<'_>,
    expected: &str,
    allowed: impl Fn(&Changed) -> bool,
) -> Vec<Found> {
    let changes = match context.world.workshop.changes() {
        Ok(changes) => changes,
        Err(why) => return vec![Detail::new(expected, why).unconfirmed()],
    };
    let found = changes.iter().filter(|changed| !allowed(changed));
    let found: Vec<_> = found
        .map(|changed| {
            Detail::new(expected, &*changed.how)
                .at(&*changed.path)
                .wrong()
        })
        .collect();
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    capped(found, total)
}

/// That the quest file has a tree.
pub fn needs_tree(source: &Source<'_>) -> Result<(), Flaw> {
    let what = "it looks at the files of a tree, and the quest file has no [tree]";
    source
        .file
        .tree
        .as_ref()
        .map(drop)
        .ok_or_else(|| Flaw::new("kind", what))
}
