//! Why what a tool printed cannot be read.

/// Bytes that are not what they were said to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Nothing of the format is in them.
    #[error("no {format} in it")]
    Nothing {
        /// What was looked for.
        format: &'static str,
    },
    /// They begin as the format does, and then break its rules or end.
    #[error("the {format} is damaged: {why}")]
    Damaged {
        /// What was looked for.
        format: &'static str,
        /// What is wrong, with its place where that is known.
        why: String,
    },
}

impl Unread {
    pub(super) fn damaged(format: &'static str, why: &(impl ToString + ?Sized)) -> Self {
        let why = super::text::brief(&why.to_string());
        Self::Damaged { format, why }
    }
}
