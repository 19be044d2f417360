//! `unique`: no other quest has passed with the same value.

use schemars::JsonSchema;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use super::context::Context;
use super::fields::shown;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::quest::FieldName;
use crate::world::Taken;

/// `kind = "unique"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniqueSpec {
    /// The field of which no two quests may have the same value.
    field: String,
}

#[derive(Debug)]
struct Unique {
    field: FieldName,
}

impl Spec for UniqueSpec {
    const KIND: &'static str = "unique";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let field = source.field("field", &self.field)?;
        Ok(Box::new(Unique { field }))
    }
}

impl Probe for Unique {
    fn cost(&self) -> Cost {
        Cost::Wide
    }

    fn unique(&self) -> Option<&FieldName> {
        Some(&self.field)
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let text = context.field(&self.field);
        let Some((text, taken)) = text.and_then(|text| Some((text, taken(&self.field, text)?)))
        else {
            return Vec::new();
        };
        let Some(holder) = context.world.accepted.holder(&taken) else {
            return Vec::new();
        };
        let expected = "a value that no other quest has passed with";
        let actual = format!("{} passed with {}", holder, shown(text));
        vec![Detail::new(expected, actual).on(&self.field).wrong()]
    }
}

/// What a PASS with this value takes; nothing for a blank.
#[must_use]
pub fn taken(field: &FieldName, text: &str) -> Option<Taken> {
    let normal: String = text.nfkc().collect();
    let folded = normal.to_lowercase();
    let text = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| Taken::Value {
        field: field.clone(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::taken;
    use crate::gate::checks::bench::Bench;
    use crate::quest::FieldName;

    const CHECK: &str = "kind = \"unique\"\nfield = \"value\"";

    fn bench() -> Bench {
        let held = taken(&FieldName::known("value"), "Some  Name").unwrap();
        Bench::of(CHECK).taken(held, "Acme")
    }

    #[test]
    fn a_value_that_another_quest_has_is_refused_however_it_is_written() {
        for value in ["Some Name", "some\n name ", "ＳＯＭＥ ｎａｍｅ"] {
            let fact = bench().submit("value", value).only_fact();
            assert_eq!(fact.rule.as_str(), "it");
            assert!(fact.actual.contains("Acme"), "{fact:?}");
        }
    }

    #[test]
    fn another_value_or_another_field_is_free() {
        assert_eq!(bench().submit("value", "Some Other").fired(), [""; 0]);
        assert_eq!(bench().submit("other", "Some Name").fired(), [""; 0]);
        assert_eq!(bench().submit("value", " ").fired(), [""; 0]);
    }
}
