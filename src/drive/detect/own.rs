//! The calls of comail itself, as an agent makes them through a shell.

use crate::quest::Digest;

/// A call of comail by the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Own {
    /// `next`.
    Next,
    /// `status`.
    Status,
    /// `submit`, and the digest of what was submitted, however its flags were ordered.
    Submit(Digest),
}

impl Own {
    /// The call that a shell's command line makes, where it makes one; of several, the last.
    #[must_use]
    pub fn in_command(_line: &str) -> Option<Self> {
        None
    }

    /// The call that these arguments of the program make, the program's name left out.
    #[must_use]
    pub fn of_words<S: AsRef<str>>(_words: &[S]) -> Option<Self> {
        None
    }
}
