//! The files that quests are about.
//!
//! A *baseline* is what a tree has when a session is made ([`baseline`]): a [`Listing`],
//! and contents that the session stores. A *snapshot* is what one judgement looks at: the
//! baseline, and over it the agent's files in the zones in which it may write ([`Snapshot`]).
//! What else an agent changes is told ([`Changes`]) and reaches no judgement.
//!
//! The agent may write in the tree at any time. So no link is ever followed, nothing but plain
//! files is opened, each file is read once, and what was read is what is listed.

pub mod baseline;
pub mod bounds;
pub mod path;
pub mod zones;

mod change;
mod entry;
mod error;
mod gathered;
mod links;
mod listing;
mod look;
mod met;
mod scratch;
mod snapshot;
mod walk;

pub use change::{Change, ChangeKind, Changes};
pub use entry::{Entry, Odd, Oddity};
pub use error::TreeError;
pub use gathered::Store;
pub use listing::{Clash, Listing};
pub use look::changes;
pub use path::{BadTreePath, TreePath};
pub use snapshot::{BadEdit, LeftOut, Load, Snapshot};
pub use zones::{BadGlob, Ignored, Zones};

#[cfg(test)]
mod test_tree;
