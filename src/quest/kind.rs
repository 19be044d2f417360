//! A quest kind: what turns a list into quests, but for the gate.

use std::borrow::Cow;

use super::{Field, FieldName};

/// What an agent is told about the quests of one kind, and what it fills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestKind {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What one quest is about, in the singular: `company`. Also the flag that names the key.
    pub unit: Cow<'static, str>,
    /// The prompt, a minijinja template over [`super::prompt::Task`].
    pub prompt: Cow<'static, str>,
    /// The columns of the list that the prompt and the gate name.
    pub columns: Vec<String>,
    /// A key that would look right, for the example.
    pub example_key: Cow<'static, str>,
    /// The fields of a submission, in the order in which people fill them in.
    pub fields: Vec<Field>,
    /// The field that the quest is about: results show it before the others.
    pub answer: Option<FieldName>,
}

impl QuestKind {
    /// The fields' names in the order in which results show them: the answer, then the others.
    #[must_use]
    pub fn result_fields(&self) -> Vec<FieldName> {
        let names = || self.fields.iter().map(|field| &field.name);
        let answer = names().filter(|name| Some(*name) == self.answer.as_ref());
        let others = names().filter(|name| Some(*name) != self.answer.as_ref());
        answer.chain(others).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::quest::email;

    #[test]
    fn results_show_the_answer_first() {
        let fields = email::kind().result_fields();
        assert_eq!(fields, [email::EMAIL, email::SITE, email::SOURCE]);
    }
}
