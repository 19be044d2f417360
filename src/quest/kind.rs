//! A quest kind: what turns a list into quests, but for the gate.

use std::borrow::Cow;

use super::Field;

/// What an agent is told about the quests of one kind, and what it fills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestKind {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What one quest is about, in the singular: `company`. Also the flag that names the key.
    pub unit: Cow<'static, str>,
    /// The prompt, a minijinja template over [`super::prompt::Task`].
    pub prompt: Cow<'static, str>,
    /// A key that would look right, for the example.
    pub example_key: Cow<'static, str>,
    /// The fields of a submission, in the order in which people read them.
    pub fields: Vec<Field>,
}
