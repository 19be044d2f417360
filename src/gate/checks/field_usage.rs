//! Which fields the checks of a quest file use. A field that none uses is a claim that nobody
//! verifies.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::quest::file::{Mistake, QuestFile};
use crate::quest::{Field, FieldName, ReviewInput};

pub const PREFIX: &str = "COMAIL_";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldUsage {
    /// Those that its table names: where one was left out, the check has nothing to verify.
    pub named: BTreeSet<FieldName>,
    /// Those that a command or a script can read.
    pub given: BTreeSet<FieldName>,
}

impl FieldUsage {
    /// The optional field that the check names: leaving it out avoids the check.
    pub fn avoidable(&self, fields: &[Field]) -> Option<&FieldName> {
        let optional = |name: &FieldName| fields.iter().any(|it| it.name == *name && !it.required);
        self.named.iter().find(|name| optional(name))
    }

    /// Refuses a file with a field that no check or reviewer uses, unless its author says so.
    pub fn covers(&self, file: &QuestFile<'_>) -> Result<(), Mistake> {
        let reviewers = file.panel.iter().flat_map(|panel| &panel.reviewers);
        let seen: BTreeSet<_> = reviewers
            .flat_map(|reviewer| &reviewer.sees)
            .filter_map(|name| name.parse::<ReviewInput>().ok()?.field().cloned())
            .collect();
        let used = |name: &FieldName| {
            self.named.contains(name) || self.given.contains(name) || seen.contains(name)
        };
        let mut fields = file
            .fields
            .iter()
            .map(|field| (&field.name, field.unchecked));
        let unused = fields.find(|(name, unchecked)| !(*unchecked || used(name)));
        let Some((field, _)) = unused.filter(|_| !file.open) else {
            return Ok(());
        };
        let what = format!(
            "no check uses the field `{field}`, so nobody verifies what an agent says in it: name \
             it in a check, as {{{{ field.{field} }}}} or by a key such as `field`, or set \
             `unchecked = true` to accept it unverified"
        );
        Err(file.mistake_in_field(field, what))
    }
}

pub fn field_variable(field: &FieldName) -> String {
    format!("{PREFIX}FIELD_{}", as_variable(field.as_str()))
}

pub fn as_variable(name: &str) -> String {
    name.to_uppercase()
        .replace(|letter: char| !letter.is_alphanumeric(), "_")
}

/// The fields that a script reads by its own text: those that it names, or all of what is
/// submitted, where it names none and goes through them.
pub fn read_by_script(text: &str, fields: &[Field]) -> Vec<FieldName> {
    let said = among(fields, |name| {
        says(text, name.as_str()) || says(text, &field_variable(name))
    });
    if said.is_empty() && says(text, "submission") {
        return among(fields, |_| true);
    }
    said
}

pub fn read_by_variable(text: &str, fields: &[Field]) -> Vec<FieldName> {
    among(fields, |name| says(text, &field_variable(name)))
}

fn among(fields: &[Field], is_read: impl Fn(&FieldName) -> bool) -> Vec<FieldName> {
    let names = fields.iter().map(|field| &field.name);
    names.filter(|name| is_read(name)).cloned().collect()
}

fn says(text: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(of_word) && !after.is_some_and(of_word)
    })
}

pub fn left_out(check: &str, field: &FieldName) -> String {
    format!(
        "no check shows a fact of every submission: `{check}` uses the field `{field}`, which may be \
         left out, and then has nothing to verify. Make the field required, add a check that uses \
         only required fields, or set `open = true` to leave every answer to a person"
    )
}
