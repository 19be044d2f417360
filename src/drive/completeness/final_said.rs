//! What the checks over the whole result said.

/// What the checks over the whole result said, as far as completeness goes by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum FinalSaid {
    /// There are none.
    #[default]
    None,
    /// They passed.
    Passed,
    /// They did not, and what they found.
    Refused(Vec<String>),
    /// They were not judged, and why.
    Unjudged(String),
}
