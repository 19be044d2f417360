//! What made a rule fire no more.

use std::collections::BTreeSet;

use super::quote::{clipped, quoted};
use crate::base::text::Escaped;
use crate::quest::{FieldName, Fields, QuestId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flip {
    pub quest: QuestId,
    pub attempt: u32,
    pub changes: Vec<Change>,
    pub passed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub field: FieldName,
    pub from: Option<Box<str>>,
    pub to: Option<Box<str>>,
}

const MOST_CHANGES: usize = 2;

// If the field that the rule is about changed, that change alone explains the fix.
pub(super) fn changes(before: &Fields, after: &Fields, about: Option<&FieldName>) -> Vec<Change> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differ = |name: &&FieldName| before.get(*name) != after.get(*name);
    let mut changed: Vec<_> = names.into_iter().filter(differ).collect();
    if about.is_some_and(|about| changed.contains(&about)) {
        changed.retain(|name| Some(*name) == about);
    }
    let value = |fields: &Fields, name| fields.get(name).map(|text: &String| clipped(text));
    let shown = changed.into_iter().take(MOST_CHANGES);
    let told = shown.map(|name| Change {
        field: name.clone(),
        from: value(before, name),
        to: value(after, name),
    });
    told.collect()
}

impl Flip {
    pub(super) fn text(&self) -> String {
        let shown = |value: &Option<Box<str>>| value.as_deref().map_or("nothing".into(), quoted);
        let fields = self.changes.iter().map(|change| {
            let field = Escaped(change.field.as_str());
            format!(
                "{field} from {} to {}",
                shown(&change.from),
                shown(&change.to)
            )
        });
        let fields: Vec<_> = fields.collect();
        let end = if self.passed { ", and it passed" } else { "" };
        let place = format!("in quest {}, try {}", self.quest, self.attempt);
        if fields.is_empty() {
            format!("flipped {place}, with the same fields: what they name had changed{end}")
        } else {
            format!("flipped {place}, by {}{end}", fields.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&'static str, &str)]) -> Fields {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (FieldName::known(name), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn the_field_that_the_rule_is_about_tells_most() {
        let before = fields(&[("email", "a"), ("site", "s"), ("source", "x")]);
        let after = fields(&[("email", "b"), ("site", "s"), ("source", "y")]);
        let names = |about: Option<&'static str>| -> Vec<String> {
            let about = about.map(FieldName::known);
            let changes = changes(&before, &after, about.as_ref());
            changes.iter().map(|it| it.field.to_string()).collect()
        };
        assert_eq!(names(Some("source")), ["source"]);
        assert_eq!(
            names(Some("site")),
            ["email", "source"],
            "it did not change"
        );
        assert_eq!(names(None), ["email", "source"]);
        assert!(changes(&before, &before, None).is_empty());
    }

    #[test]
    fn says_what_changed() {
        let flip = Flip {
            quest: QuestId::FIRST,
            attempt: 1,
            changes: changes(&fields(&[]), &fields(&[("email", "b\"")]), None),
            passed: true,
        };
        assert_eq!(
            flip.text(),
            r#"flipped in quest 1, try 1, by email from nothing to "b\"", and it passed"#
        );
        let world = Flip {
            changes: Vec::new(),
            passed: false,
            ..flip
        };
        assert!(world.text().ends_with("what they name had changed"));
    }
}
