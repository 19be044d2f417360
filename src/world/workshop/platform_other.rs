//! What is left where there is no Linux: a process group, and the word that it is no more.

use std::collections::BTreeSet;

use nix::unistd::Pid;

use super::confinement::Namespace;
use super::wire::{Instructions, Setting};

/// There are no namespaces.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn enter(_: &Setting) -> std::io::Result<BTreeSet<Namespace>> {
    Ok(BTreeSet::new())
}

/// Nobody becomes another.
pub(super) fn ids() -> (u32, u32) {
    (0, 0)
}

/// Never comes to be, without a pid namespace.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn settle_first(_: &BTreeSet<Namespace>, _: (u32, u32)) -> std::io::Result<()> {
    Ok(())
}

/// Orphans go to the system's first process.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn adopt_orphans() -> nix::Result<()> {
    Ok(())
}

/// There is no Landlock.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn restrict(
    _: &Instructions,
    _: &BTreeSet<Namespace>,
) -> Result<Option<u32>, Box<dyn std::error::Error + Send + Sync>> {
    Ok(None)
}

/// Nobody lists them; the process group is all that is known.
pub(super) fn descendants() -> Vec<Pid> {
    Vec::new()
}
