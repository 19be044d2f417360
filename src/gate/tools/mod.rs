//! Reads what tools print: complaints, coverage and patches, as plain values.
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
mod line_list;
mod located;
mod patch;
mod pattern;
mod pytest;
mod sarif;
mod similar;
mod tap;
mod text;
mod unread;
mod xml;

#[cfg(test)]
mod tests;

pub use adapter::Adapter;
pub use complaint::{Complaint, Complaints, MOST_KEPT, Seen};
pub use coverage::{Coverage, CoverageFormat, LineCover, LineRuns, Lines, NoFile};
pub use patch::{Change, FilePatch, Patch, Rejected};
pub use pattern::{BadPattern, Pattern};
pub use similar::{BadLikeness, Likeness, closest};
pub use unread::Unread;
