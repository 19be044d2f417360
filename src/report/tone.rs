//! What a colour means.

/// The meaning that a colour carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Proven.
    Good,
    /// For a person.
    Doubt,
    /// Wrong.
    Bad,
    /// A heading.
    Strong,
}
