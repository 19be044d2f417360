//! The check that every quest file has first: each field has the shape that its table gives it.

use std::rc::Rc;

use super::context::Context;
use super::kind::Check;
use crate::base::text::{is_blank, truncate_with_size};
use crate::gate::{Cost, Fact, Level, Rule};
use crate::quest::field::{FieldKind, Shape};
use crate::quest::{Field, FieldName, QuestKind};
use crate::world::mailbox::Mailbox;
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

const MAX_SHOWN: usize = 200;

pub(super) const NAME: &str = "fields";

const FIELD_FORMAT: &str = "field-format";

pub(super) const OPEN_ENDED: &str = "open-ended";

pub(super) fn rules() -> Vec<Rule> {
    vec![Rule::known(
        FIELD_FORMAT,
        Level::Fail,
        "a field is missing, or its value does not have the required form",
        "submit a value of that form; `comail submit --help` describes each field",
    )]
}

/// The check of the fields of `kind`, except plain ones at which another check looks; none where
/// that leaves nothing to look at.
pub(super) fn check(others: Vec<FieldName>, kind: &QuestKind, has_tree: bool) -> Option<Check> {
    let is_left =
        move |field: &Field| field.shape == Shape::default() && others.contains(&field.name);
    if !kind.fields.is_empty() && kind.fields.iter().all(&is_left) {
        return None;
    }
    Some(Check {
        rules: rules(),
        run: Rc::new(move |context| {
            let fields = context.kind.fields.iter().filter(|field| !is_left(field));
            let facts = fields.filter_map(|field| {
                let (expected, actual) = unfit(field, context, has_tree)?;
                Some(Fact::new(FIELD_FORMAT, expected, actual).on(&field.name))
            });
            facts.collect()
        }),
        ..Check::named(NAME)
    })
}

/// What was expected in a field, and what is there instead; none where all is well.
fn unfit(field: &Field, context: &Context<'_>, has_tree: bool) -> Option<(String, String)> {
    let text = match context.case.submission.field(field.name.as_str()) {
        Some(text) if !is_blank(text) => text,
        _ if !field.required => return None,
        Some(_) => return Some((field.help.to_string(), String::from("a blank"))),
        None => return Some((field.help.to_string(), String::from("nothing"))),
    };
    let kind = field.shape.kind();
    let expected = misfit(kind, text).or_else(|| field.shape.misfit(text).map(Into::into));
    match expected {
        Some(expected) => Some((expected, shown(text))),
        None if kind == FieldKind::File && has_tree => no_file(text, context),
        None => None,
    }
}

/// What was expected at the path of a file, and what is there instead.
///
/// A program that is given a folder in place of a file may well end as if all were well.
fn no_file(text: &str, context: &Context<'_>) -> Option<(String, String)> {
    let path = TreePath::parse(text).ok()?;
    let sandbox = context.world.sandbox;
    let actual = match sandbox.file(&path) {
        FileSeen::File(_) => return None,
        FileSeen::Absent => String::from("nothing is there"),
        // Where the tree cannot be looked at it is not the field that is wrong.
        FileSeen::Other(what) => sandbox.changes().ok().map(|_| what)?,
    };
    let actual = format!("{}: {actual}", shown(text));
    Some((String::from("the path of a file that exists"), actual))
}

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
    truncate_with_size(text, MAX_SHOWN).into_owned()
}

/// Leaves every submission that nothing else refuses to a person.
pub(super) fn open_ended() -> Check {
    Check {
        // The dearest, so that it says nothing where another check has failed.
        cost: Cost::Heavy,
        rules: vec![Rule::known(
            OPEN_ENDED,
            Level::Review,
            "the quest file says that no machine can decide",
            "a person settles it",
        )],
        run: Rc::new(|_| {
            let expected = "a check that can decide";
            let actual = "the quest file leaves it to a person";
            vec![Fact::new(OPEN_ENDED, expected, actual)]
        }),
        ..Check::named(OPEN_ENDED)
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::tests::CheckCase;

    #[test]
    fn a_value_of_which_nothing_is_seen_is_none() {
        let matches = "kind = \"matches\"\nfield = \"value\"\npattern = 'a'";
        let told = "kind = \"contains\"\nfield = \"value\"\npath = \"doc.md\"";
        for blank in [" \n", "\u{200b}", "\u{3164}", "\u{2800}", "\u{301}"] {
            let optional = CheckCase::of(matches).submit("value", blank);
            optional.passes();
            let required = CheckCase::of(told).pinned("doc.md", "the truth").closed();
            let fact = required.submit("value", blank).only_fact();
            let said = (fact.rule.as_str(), &*fact.actual);
            assert_eq!(said, ("field-format", "a blank"), "{blank:?}");
        }
    }
}
