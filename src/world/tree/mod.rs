//! The files that quests are about.
//!
//! A *baseline* is what a tree contains when a session is made: a [`Listing`], and contents that
//! the session stores. A [`Snapshot`] is what one judgement sees: the baseline, and over it the
//! agent's files in the zones in which it may write. Whatever else the agent changes is reported
//! ([`Changed`]) and reaches no judgement.
//!
//! The agent may write in the tree at any time. So no link is ever followed, nothing but plain
//! files is opened, each file is read once, and what was read is what is listed.

mod accepted;
mod apply;
mod ignored;
mod listing;
mod merge;
mod patch;
mod snapshot;
mod walk;
mod zones;

pub use accepted::{AcceptedChange, AcceptedError, AcceptedTree, AuthoredConflict, Union};
pub use apply::{Applied, NotApplied};
pub use ignored::{Gitignores, IgnoreRule, Ignored};
pub use listing::TreeError;
pub use listing::{BadTreePath, TreePath};
pub use listing::{Changed, Clash, Entry, Listing, Odd, Oddity};
pub use merge::Conflict;
pub use patch::{BadPatch, GatherError, MAX_PATCH_BYTES, PatchBase, TreePatch};
pub use snapshot::{Load, Snapshot, Store, take_baseline};
pub use walk::{BOUNDS, list_paths, read_gitignores};
pub use zones::{BadGlob, Zones};

#[cfg(test)]
mod tests;
