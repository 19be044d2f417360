//! The check that every quest file has first: each field has the shape that its table gives it.

use super::context::Context;
use crate::base::text::{is_blank, truncate_with_size};
use crate::gate::{Check, Cost, Fact, Level, Rule};
use crate::quest::field::{FieldKind, Shape};
use crate::quest::{Field, FieldName, QuestKind};
use crate::world::mailbox::Mailbox;
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

/// The most characters of a value that a fact shows.
const MOST_SHOWN: usize = 200;

const RULES: &[Rule] = &[Rule::known(
    "field-format",
    Level::Fail,
    "a field is missing, or has not the shape that belongs in it",
    "submit a value of that shape; `comail submit --help` says what belongs in each field",
)];

/// Whether each field has its shape, and names a file where it must.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    others: Vec<FieldName>,
    has_tree: bool,
}

impl Fields {
    /// The check of the fields of `kind`, but for plain ones at which another check looks; none
    /// where that leaves nothing to look at.
    pub(super) fn without(
        others: Vec<FieldName>,
        kind: &QuestKind,
        has_tree: bool,
    ) -> Option<Self> {
        let check = Self { others, has_tree };
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

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let mut findings = Vec::new();
        let fields = context.kind.fields.iter();
        for field in fields.filter(|field| !self.leaves(field)) {
            let text = context.case.submission.field(field.name.as_str());
            let (expected, actual) = match text {
                None if field.required => (field.help.to_string(), String::from("nothing")),
                None => continue,
                Some(text) if is_blank(text) && !field.required => continue,
                Some(text) if is_blank(text) => (field.help.to_string(), String::from("a blank")),
                Some(text) => {
                    let shape = &field.shape;
                    let bad = misfit(shape.kind(), text)
                        .or_else(|| shape.misfit(text).map(Into::into))
                        .map(|expected| (expected, shown(text)));
                    match bad.or_else(|| self.no_file(shape.kind(), text, context)) {
                        Some(bad) => bad,
                        None => continue,
                    }
                }
            };
            findings.push(Fact::new("field-format", expected, actual).on(field.name.clone()));
        }
        findings
    }
}

impl Fields {
    /// What was expected at the path of a file, and what is there instead.
    ///
    /// A program that is given a folder in place of a file may well end as if all were well.
    fn no_file(
        &self,
        kind: FieldKind,
        text: &str,
        context: &Context<'_>,
    ) -> Option<(String, String)> {
        if kind != FieldKind::File || !self.has_tree {
            return None;
        }
        let path = TreePath::parse(text).ok()?;
        let workshop = context.world.workshop;
        let actual = match workshop.file(&path) {
            FileSeen::File(_) => return None,
            FileSeen::Absent => String::from("nothing is there"),
            // Where the tree cannot be looked at it is not the field that is wrong.
            FileSeen::Other(what) => workshop.changes().ok().map(|_| what)?,
        };
        let actual = format!("{}: {actual}", shown(text));
        Some((String::from("a path at which there is a file"), actual))
    }
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
    truncate_with_size(text, MOST_SHOWN).into_owned()
}

const OPEN_ENDED: &[Rule] = &[Rule::known(
    "open-ended",
    Level::Review,
    "the quest file says that no machine can decide",
    "nothing: a person settles it",
)];

/// Leaves every submission that nothing else refuses to a person.
#[derive(Debug, Clone, Copy)]
pub struct OpenEnded;

impl Check<Context<'_>> for OpenEnded {
    fn name(&self) -> &'static str {
        "open-ended"
    }

    fn cost(&self) -> Cost {
        // The dearest, so that it says nothing where another check has failed.
        Cost::Heavy
    }

    fn rules(&self) -> &[Rule] {
        OPEN_ENDED
    }

    fn run(&self, _context: &Context<'_>) -> Vec<Fact> {
        let expected = "a machine that can decide";
        let actual = "a quest file that leaves it to a person";
        vec![Fact::new("open-ended", expected, actual)]
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    #[test]
    fn a_value_of_which_nothing_is_seen_is_none() {
        let matches = "kind = \"matches\"\nfield = \"value\"\npattern = 'a'";
        let told = "kind = \"contains\"\nfield = \"value\"\npath = \"doc.md\"";
        for blank in [" \n", "\u{200b}", "\u{3164}", "\u{2800}", "\u{301}"] {
            let optional = Bench::of(matches).submit("value", blank);
            assert_eq!(optional.fired(), [""; 0], "{blank:?}");
            let required = Bench::of(told).pinned("doc.md", "the truth").closed();
            let fact = required.submit("value", blank).only_fact();
            let said = (fact.rule.as_str(), fact.actual.as_str());
            assert_eq!(said, ("field-format", "a blank"), "{blank:?}");
        }
    }
}
