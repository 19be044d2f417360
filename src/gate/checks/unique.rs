//! `unique`: no other quest has passed with the same value.

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Probe, Shows, Source, Spec};
use super::takes::taken;
use crate::gate::Cost;
use crate::quest::Field;

/// `kind = "unique"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniqueSpec {
    /// The field of which no two quests may have the same value.
    field: String,
}

#[derive(Debug)]
struct Unique {
    field: Field,
}

impl Spec for UniqueSpec {
    const KIND: &'static str = "unique";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let field = source.whole_field("field", &self.field)?;
        Ok(Box::new(Unique { field }))
    }
}

impl Probe for Unique {
    fn cost(&self) -> Cost {
        Cost::Wide
    }

    fn unique(&self) -> Option<&Field> {
        Some(&self.field)
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let text = context.field(&self.field.name);
        let Some((text, taken)) = text.and_then(|text| Some((text, taken(&self.field, text)?)))
        else {
            return Vec::new();
        };
        let Some(holder) = context.world.accepted.holder(&taken) else {
            return Vec::new();
        };
        let expected = "a value that no other quest has passed with";
        let actual = format!("{} passed with {}", holder, shown(text));
        vec![Fact::wrong(expected, actual).on(&self.field.name)]
    }
}

#[cfg(test)]
mod tests {
    use super::taken;
    use crate::gate::checks::bench::Bench;
    use crate::quest::field::{FieldKind, Shape};
    use crate::quest::{Field, FieldName};

    const CHECK: &str = "kind = \"unique\"\nfield = \"value\"";

    fn field(kind: FieldKind) -> Field {
        Field {
            name: FieldName::known("value"),
            help: "".into(),
            example: "".into(),
            required: true,
            shape: Shape::new(kind, None, (None, None), &[]).unwrap(),
            unchecked: false,
        }
    }

    fn bench() -> Bench {
        let held = taken(&field(FieldKind::Text), "Some  Name").unwrap();
        Bench::of(CHECK).taken(held, "Acme")
    }

    #[test]
    fn a_value_that_another_quest_has_is_refused_however_it_is_written() {
        for value in [
            "Some Name",
            "some\n name ",
            "ＳＯＭＥ ｎａｍｅ",
            "So\u{200b}me\u{2800}Name",
        ] {
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

    #[test]
    fn values_that_mean_the_same_take_the_same() {
        use FieldKind::{Integer, Json, Number, Text, Url};
        for (kind, one, other, same) in [
            (Text, "Straße", "STRASSE", true),
            (Text, "1.0", "1", false),
            (Url, "https://ACME.com:443/a#b", "https://acme.com/a", true),
            (Url, "https://acme.com", "https://acme.com/", true),
            (Url, "https://acme.com/?a", "https://acme.com/", false),
            (Number, "1.50", "01.5", true),
            (Number, "-0", "0.0", true),
            (Number, ".5", "0.50", true),
            (Integer, "010", "10", true),
            (Integer, "-1", "1", false),
            (Json, r#"{"a":1, "b":"\u0041"}"#, r#"{"b":"A","a":1}"#, true),
            (Json, "[1,2]", "[2,1]", false),
        ] {
            let of = |text| taken(&field(kind), text);
            assert_eq!(of(one) == of(other), same, "{one} {other}");
        }
        for blank in ["\u{200b}\u{2800}", "\u{301}", "\u{1}"] {
            assert_eq!(taken(&field(Text), blank), None, "{blank:?}");
        }
    }
}
