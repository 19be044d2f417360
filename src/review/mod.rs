//! What no machine decides: reviewers who may only raise doubt, and the queue that a person
//! settles.

pub mod panel;

mod settle;

pub use settle::{NotSettled, Person, dispute, settle};
