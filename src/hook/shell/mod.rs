//! Shell lines, taken apart into the commands that they run.
//!
//! What runs inside a substitution, a subshell or a here-document is a command like any other. A
//! line that is not understood to its end is not taken apart at all.

mod expansion;
mod heredoc;
mod part;
mod reader;
#[cfg(test)]
mod tests;

pub(super) use part::{Part, Script, Sight, Word};
pub(super) use reader::read;
