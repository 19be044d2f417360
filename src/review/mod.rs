//! The queue of REVIEWs that a person settles, at the terminal or in a workbook.

pub mod office;
mod queue;
mod settle;

pub use queue::{Again, Earlier, Group, History, Item, Queue, Remark, SeenFact, Viewer, Waiting};
pub use settle::{NotSettled, Person, dispute, may_dispute, settle};
