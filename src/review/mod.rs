//! The queue of REVIEWs and sampled PASSes that a person settles, at the terminal or in a workbook.

pub mod office;
mod queue;
mod sample;
mod settle;

pub use queue::{Again, Earlier, Group, History, Item, Queue, Remark, SeenFact, Viewer, Waiting};
pub use sample::{draw_sample, pool};
pub use settle::{
    NotSettled, Person, dispute, may_dispute, may_reopen, may_settle, reopen, settle,
};
