//! What is left where there is no Linux: a process group, and the word that it is no more.

use std::collections::BTreeSet;

use crate::world::sandbox::order::Namespace;
use crate::world::sandbox::wire::{Entered, Instructions, Setting};

/// There are no namespaces.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(in crate::world::sandbox) fn enter(_: &Setting) -> std::io::Result<Entered> {
    Ok(Entered::default())
}

/// Nobody becomes another.
pub(in crate::world::sandbox) fn ids() -> (u32, u32) {
    (0, 0)
}

/// Never comes to be, without a pid namespace.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(in crate::world::sandbox) fn settle_first(
    _: &BTreeSet<Namespace>,
    _: (u32, u32),
) -> std::io::Result<()> {
    Ok(())
}

/// There is no Landlock.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(in crate::world::sandbox) fn restrict(
    _: &Instructions,
    _: &BTreeSet<Namespace>,
) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(None)
}
