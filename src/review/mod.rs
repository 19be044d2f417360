//! What no machine decides: reviewers who may only raise doubt, and the queue that a person
//! settles.

mod excerpt;
mod glance;
mod history;
mod item;
mod marks;
pub mod office;
mod queue;
pub mod screen;
mod seen;

mod settle;

pub use excerpt::{Excerpt, ExcerptLine};
pub use glance::{Bounds, Glance, Glancer};
pub use history::{Again, Disputing, Earlier, History, Settling, histories};
pub use item::{Item, SeenFact, Viewer};
pub use queue::{Group, Queue, Waiting};
pub use seen::{SeenPage, pages};
pub use settle::{NotSettled, Person, dispute, may_dispute, settle};
