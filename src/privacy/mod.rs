//! Forgetting an address: blotting it out of a session, and keeping it from coming back.
//!
//! [`mention`] finds every spelling of an address in a text, as decided by functions of values;
//! [`forget`] blots it out of ledger, evidence and the copy of the list; [`suppressed`] is what
//! a later submission is held against.

mod copies;
pub mod mention;
mod remove;

pub(crate) use crate::judge::forgotten::unsaid;
pub use crate::judge::forgotten::{
    Masked, blotted, brings_back, holding_files, is_evidence_blotted, is_forgotten, is_masked,
    is_named, masked, names,
};
pub use copies::is_known;
pub use remove::masked_json;
pub use remove::{Done, NotForgotten, Request, forget};

pub const MASK: &str = "[forgotten]";
