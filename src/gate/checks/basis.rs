//! What of an agent's work a check goes by.
//!
//! A check that goes by nothing of it says the same of every submission, and a field that no check
//! goes by is a claim that nobody verifies.

use std::collections::BTreeSet;

use super::orders::field_variable;
use crate::quest::file::{Mistake, QuestFile};
use crate::quest::{Field, FieldName, Sight};

/// What of an agent's work a check goes by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    named: BTreeSet<FieldName>,
    told: BTreeSet<FieldName>,
    sees_zone: bool,
}

impl Basis {
    /// Notes a field that the table names; where it was left out the check has nothing to show.
    pub fn name(&mut self, field: &FieldName) {
        self.named.insert(field.clone());
    }

    /// Notes a field that is told to a program, which sees whether it was left out.
    pub fn tell(&mut self, field: &FieldName) {
        self.told.insert(field.clone());
    }

    /// Notes that it looks where the agent may write.
    pub fn see_zone(&mut self) {
        self.sees_zone = true;
    }

    /// Whether it goes by nothing of an agent's work.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.named.is_empty() && self.told.is_empty() && !self.sees_zone
    }

    /// The field by leaving out which its fact can be avoided.
    #[must_use]
    pub fn avoidable(&self, fields: &[Field]) -> Option<&FieldName> {
        let mut named = self.named.iter();
        let optional = |name: &FieldName| fields.iter().any(|it| it.name == *name && !it.required);
        named.find(|name| optional(name))
    }

    /// The same for several checks.
    pub fn join(&mut self, other: Self) {
        self.named.extend(other.named);
        self.told.extend(other.told);
        self.sees_zone |= other.sees_zone;
    }

    /// That a check or a reviewer goes by each field of the file, or its author says that none does.
    ///
    /// # Errors
    ///
    /// The first field by which none goes.
    pub fn covers(&self, file: &QuestFile<'_>) -> Result<(), Mistake> {
        let reviewers = file.panel.iter().flat_map(|panel| &panel.reviewers);
        let seen: BTreeSet<_> = reviewers
            .flat_map(|reviewer| &reviewer.sees)
            .filter_map(|name| name.parse::<Sight>().ok()?.field().cloned())
            .collect();
        let goes_by = |name: &FieldName| {
            self.named.contains(name) || self.told.contains(name) || seen.contains(name)
        };
        let mut fields = file.placed_fields();
        let bare = fields.find(|(field, _)| !(field.unchecked || goes_by(&field.name)));
        match bare.filter(|_| !file.open) {
            Some((field, raw)) => {
                let what = unread(&field.name);
                Err(Mistake::at(file.text(), &raw.spot_of("name"), what))
            }
            None => Ok(()),
        }
    }
}

/// The fields that a script reads by its own text: those that it names, or all of what is
/// submitted, where it names none and goes through them.
pub fn read_by_script<'f>(text: &str, fields: &'f [Field]) -> Vec<&'f FieldName> {
    let all = fields.iter().map(|field| &field.name);
    let is_said = |name: &FieldName| says(text, name.as_str()) || says(text, &field_variable(name));
    let said: Vec<_> = all.clone().filter(|name| is_said(name)).collect();
    if said.is_empty() && says(text, "submission") {
        return all.collect();
    }
    said
}

/// The fields whose variables a text names.
pub fn read_by_variable<'f>(text: &str, fields: &'f [Field]) -> Vec<&'f FieldName> {
    let names = fields.iter().map(|field| &field.name);
    names
        .filter(|name| says(text, &field_variable(name)))
        .collect()
}

/// Whether `text` has `word`, and not as a part of another one.
fn says(text: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(of_word) && !after.is_some_and(of_word)
    })
}

/// Why a check is refused that says the same of every submission.
pub const SAME_FOR_ALL: &str = "it says the same of every submission: it names no field, and looks \
     at nothing that an agent may write. How would an agent cheese this quest? Name what it goes \
     by, as {{ field.NAME }} or by a key such as `field`, or say `write` in [tree] where the work \
     lies in files";

/// Why a file is refused whose facts an agent avoids by leaving a field out.
pub fn left_out(check: &str, field: &FieldName) -> String {
    format!(
        "no check shows a fact of every submission: `{check}` goes by the field `{field}`, which \
         may be left out, and then has nothing to show. Make the field required, or add a check \
         that goes by required fields alone, or say `open = true` to leave every answer to a person"
    )
}

/// Why a file is refused in which no check goes by a field.
fn unread(field: &FieldName) -> String {
    format!(
        "no check goes by the field `{field}`, so that nobody verifies what an agent says in it: \
         name it in a check, as {{{{ field.{field} }}}} or by a key such as `field`, or say \
         `unchecked = true` to take it as it comes"
    )
}

#[cfg(test)]
mod tests;
