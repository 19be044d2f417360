//! The files that quests are about.

pub mod path;
pub mod zones;

pub use path::{BadTreePath, TreePath};
pub use zones::{BadGlob, Ignored, Zones};
