//! The files that quests are about.
//!
//! A *baseline* is what a tree has when a session is made ([`listing`]): a [`Listing`],
//! and contents that the session stores. A *snapshot* is what one judgement looks at: the
//! baseline, and over it the agent's files in the zones in which it may write ([`Snapshot`]).
//! What else an agent changes is told ([`Changes`]) and reaches no judgement.
//!
//! The agent may write in the tree at any time. So no link is ever followed, nothing but plain
//! files is opened, each file is read once, and what was read is what is listed.

pub mod listing;
pub mod look;
pub mod path;
pub mod zones;

mod error;
mod snapshot;

pub use error::TreeError;
pub use listing::{Change, ChangeKind, Changes, Clash, Entry, Listing, Odd, Oddity};
pub use look::changes;
pub use path::{BadTreePath, TreePath};
pub use snapshot::{BadEdit, LeftOut, Load, Snapshot, Store};
pub use zones::{BadGlob, Ignored, Zones};

#[cfg(test)]
mod test_tree;
