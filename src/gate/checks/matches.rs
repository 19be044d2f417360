//! `matches`: a text matches a pattern, or does not. `unique`: no other quest has passed with it.

use itertools::Itertools as _;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::shown;
use super::kind::{Check, CheckConfig, Flaw, Source};
use super::takes::{Takes, taken};
use crate::base::text::visible;
use crate::gate::{Cost, Fact};

/// `kind = "matches"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchesConfig {
    /// The field that is looked at.
    field: String,
    /// What is looked for, anywhere in it.
    pattern: String,
    /// Whether the pattern must not be there: neither in the text as it came, nor in compatibility
    /// forms (NFKC) without invisible characters, as its reader sees it.
    #[serde(default)]
    never: bool,
}

impl CheckConfig for MatchesConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let field = source.field("field", &self.field)?.name;
        let pattern = source.pattern("pattern", &self.pattern)?;
        Ok(source.check(Cost::Local, move |context| {
            let Some(text) = context.field(&field) else {
                return Ok(Vec::new());
            };
            let (expected, actual) = match (found(&pattern, text, self.never), self.never) {
                (None, false) => (format!("a text that matches {pattern}"), shown(text)),
                (Some(found), true) => (
                    format!("a text in which nothing matches {pattern}"),
                    shown(&found),
                ),
                _ => return Ok(Vec::new()),
            };
            Err(Fact::wrong(expected, actual).on(&field))
        }))
    }
}

/// The part of the text that matches. Spelling cannot hide what must not be there.
fn found(pattern: &Regex, text: &str, never: bool) -> Option<String> {
    let find = |text: &str| pattern.find(text).map(|it| it.as_str().to_owned());
    let by_line = || text.lines().map(visible).join("\n");
    match (find(text), never) {
        (None, true) => find(&visible(text)).or_else(|| find(&by_line())),
        (found, _) => found,
    }
}

/// `kind = "unique"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniqueConfig {
    /// The field of which no two quests may have the same value.
    field: String,
}

impl CheckConfig for UniqueConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let field = source.field("field", &self.field)?;
        let takes = Some(Takes::Value(field.clone()));
        let check = source.check(Cost::Wide, move |context| {
            let text = context.field(&field.name).unwrap_or_default();
            let Some(value) = taken(&field, text) else {
                return Ok(Vec::new());
            };
            let Some(holder) = context.world.accepted.holder(&value) else {
                return Ok(Vec::new());
            };
            let expected = "a value that no other quest has passed with";
            let actual = format!("{holder} passed with {}", shown(text));
            Err(Fact::wrong(expected, actual).on(&field.name))
        });
        Ok(Check { takes, ..check })
    }
}

#[cfg(test)]
mod tests {
    use super::super::takes::taken;
    use crate::gate::checks::tests::CheckCase;
    use crate::quest::field::{FieldKind, Shape};
    use crate::quest::{Field, FieldName};

    #[test]
    fn what_must_not_be_there_is_not_hidden_by_how_it_is_written() {
        let check = "kind = \"matches\"\nfield = \"value\"\npattern = '(?m)^TODO'\n";
        let never = CheckCase::of(&format!("{check}never = true"));
        for text in ["TODO", "TO\u{200b}DO", "ＴＯＤＯ", "a\n\u{200b}TODO"] {
            never.clone().submit("value", text).fails();
        }
        let over_lines = check.replace("(?m)^TODO", "I think");
        let over_lines = CheckCase::of(&format!("{over_lines}never = true"));
        let broken = over_lines.submit("value", "so I\u{200b}\n ｔhink");
        broken.fails();
        never.submit("value", "done").passes();
        let must = CheckCase::of(check).submit("value", "TO\u{200b}DO");
        must.fails();
    }

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

    fn bench() -> CheckCase {
        let held = taken(&field(FieldKind::Text), "Some  Name").unwrap();
        CheckCase::of(CHECK).taken(held, "Acme")
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
        bench().submit("value", "Some Other").passes();
        bench().submit("other", "Some Name").passes();
        bench().submit("value", " ").passes();
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
