//! Forgetting an address: blotting it out of a session, and keeping it from coming back.
//!
//! [`mention`] finds every spelling of an address in a text, as decided by functions of values;
//! [`forget`] blots it out of ledger, evidence and the copy of the list; [`suppressed`] is what
//! a later submission is held against.

mod bodies;
mod copies;
mod json;
mod look;
pub mod mention;
mod remove;
mod spelt;
mod suppressed;

pub use json::masked_json;
pub use look::is_known;
pub use remove::{Done, NotForgotten, Request, forget};
pub(crate) use suppressed::unsaid;
pub use suppressed::{
    Masked, blotted, brings_back, holding_files, is_evidence_blotted, is_forgotten, is_masked,
    is_named, masked, names,
};

pub const MASK: &str = "[forgotten]";
