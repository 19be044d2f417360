//! The check that every quest file has first: each field has the shape that its table gives it.

use super::context::Context;
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::quest::field_kind::{FieldKind, Shape};
use crate::quest::{Field, FieldName, QuestKind};
use crate::world::mailbox::Mailbox;
use crate::world::tree::TreePath;

/// The most characters of a value that a fact shows.
const MOST_SHOWN: usize = 200;

const RULES: &[Rule] = &[Rule::known(
    "field-format",
    Level::Fail,
    "a field is missing, or has not the shape that belongs in it",
    "submit a value of that shape; `comail submit --help` says what belongs in each field",
)];

/// Whether each field has its shape.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// The fields at which another check looks.
    others: Vec<FieldName>,
}

impl Fields {
    /// The check of the fields of `kind`, but for plain ones at which another check looks; none
    /// where that leaves nothing to look at.
    pub(super) fn without(others: Vec<FieldName>, kind: &QuestKind) -> Option<Self> {
        let check = Self { others };
        let is_empty = kind.fields.iter().all(|field| check.leaves(field));
        (!is_empty || check.others.is_empty()).then_some(check)
    }

    fn leaves(&self, field: &Field) -> bool {
        field.shape == Shape::default() && self.others.contains(&field.name)
    }
}

impl Check<Context<'_>> for Fields {
    fn name(&self) -> &'static str {
        "fields"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &[Rule] {
        RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let fields = context.kind.fields.iter();
        for field in fields.filter(|field| !self.leaves(field)) {
            let text = context.case.submission.field(field.name.as_str());
            let (expected, actual) = match text {
                None if field.required => (field.help.to_string(), String::from("nothing")),
                None => continue,
                Some(text) if text.trim().is_empty() && !field.required => continue,
                Some(text) if text.trim().is_empty() => {
                    (field.help.to_string(), String::from("a blank"))
                }
                Some(text) => match misfit(field.shape.kind(), text)
                    .or_else(|| field.shape.misfit(text).map(Into::into))
                {
                    Some(expected) => (expected, shown(text)),
                    None => continue,
                },
            };
            findings.push(Finding::new("field-format", expected, actual).on(field.name.clone()));
        }
        findings
    }
}

/// What was expected of a value whose kind the world knows how to read.
fn misfit(kind: FieldKind, text: &str) -> Option<String> {
    match kind {
        FieldKind::Email => Mailbox::parse(text)
            .err()
            .map(|_| String::from("an e-mail address such as info@acme.co.kr")),
        FieldKind::Path | FieldKind::File => TreePath::parse(text).err().map(|bad| bad.to_string()),
        _ => None,
    }
}

/// The value on one line, cut where it is long.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
