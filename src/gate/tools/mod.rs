//! Reads what tools print: complaints and coverage, as plain values.
//!
//! Everything here is a function from bytes to values. What a tool prints may have been written
//! by whoever wrote the code that it ran, so every reader bounds what it keeps and none trusts a
//! total that it can count itself.

mod adapter;
mod cargo_json;
mod complaint;
mod coverage;
mod go_test;
mod junit;
mod lines;
mod sarif;

#[cfg(test)]
mod tests;

pub use adapter::Adapter;
pub use complaint::{Complaint, Complaints, MOST_KEPT, Seen, Unread};
pub use coverage::{Coverage, LineCover, LineRuns, Lines};
pub use lines::{BadPattern, Pattern};
