//! `count`: there are enough, and not too many, of what a text is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::json::{json_of, places, pointer};
use super::kind::{Check, CheckConfig, Flaw, Found, Source};
use super::subject::{Subject, Text};
use crate::base::text::visible;
use crate::gate::Fact;

/// `kind = "count"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountConfig {
    /// The field whose text is counted.
    field: Option<String>,
    /// Instead of `field`: the path of a file, as a template.
    path: Option<String>,
    /// What is counted.
    of: Counted,
    /// Where in a JSON text: a JSON pointer (RFC 6901), in which `*` matches every item or member.
    /// Each match is counted by itself.
    pointer: Option<String>,
    /// The fewest.
    min: Option<usize>,
    /// The most.
    max: Option<usize>,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Counted {
    /// Items of a JSON list, or members of an object.
    Items,
    /// Lines that are not blank.
    Lines,
    /// Words between white space.
    Words,
    /// Characters that a reader sees, runs of white space as one.
    Characters,
}

impl CheckConfig for CountConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        if self.min.is_none() && self.max.is_none() {
            return Err(Flaw::new("of", "say `min` or `max`"));
        }
        if self.min > self.max.or(self.min) {
            return Err(Flaw::new("min", "it is greater than `max`"));
        }
        let subject = Subject::new(source, self.field.as_ref(), self.path.as_ref())?;
        let pointer = pointer("pointer", self.pointer.clone())?;
        // The items of a whole text are those of its JSON.
        let whole = (self.of == Counted::Items).then(String::new);
        let pointer = pointer.or(whole);
        Ok(source.check(subject.cost(), move |context| {
            let Some(text) = subject.read(context)? else {
                return Ok(Vec::new());
            };
            if let Some(pointer) = &pointer {
                return self.at_pointer(&text, pointer);
            }
            let misfit = self.misfit(self.of.of_text(&text.said));
            Ok(Vec::from_iter(misfit.map(|fact| text.detail(fact, ""))))
        }))
    }
}

impl Counted {
    fn name(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Lines => "lines that are not blank",
            Self::Words => "words",
            Self::Characters => "characters",
        }
    }

    fn of_text(self, text: &str) -> Option<usize> {
        let lines = || text.lines().filter(|line| !visible(line).is_empty());
        match self {
            Self::Items => None,
            Self::Lines => Some(lines().count()),
            Self::Words => Some(visible(text).split_whitespace().count()),
            Self::Characters => Some(visible(text).chars().count()),
        }
    }

    fn of_json(self, value: &Value) -> Option<usize> {
        match (self, value) {
            (Self::Items, Value::Array(items)) => Some(items.len()),
            (Self::Items, Value::Object(members)) => Some(members.len()),
            (_, Value::String(text)) => self.of_text(text),
            _ => None,
        }
    }
}

impl CountConfig {
    fn misfit(&self, count: Option<usize>) -> Option<Fact> {
        let (min, max) = (self.min.unwrap_or(0), self.max.unwrap_or(usize::MAX));
        if count.is_some_and(|count| (min..=max).contains(&count)) {
            return None;
        }
        let what = self.of.name();
        let bound = match (min, max) {
            (min, usize::MAX) => format!("at least {min} {what}"),
            (0, max) => format!("at most {max} {what}"),
            (min, max) => format!("{min} to {max} {what}"),
        };
        let actual = count.map_or("nothing that can be counted".to_owned(), |it| {
            it.to_string()
        });
        Some(Fact::wrong(bound, actual))
    }

    fn at_pointer(&self, text: &Text, pointer: &str) -> Found {
        let value = json_of(text)?;
        let places = places(&value, pointer);
        // A list without items must not be a way around what each item owes.
        if let Some(fact) = self
            .misfit(None)
            .filter(|_| places.is_empty() && self.min > Some(0))
        {
            return Err(text.detail(fact, "/"));
        }
        let misfits = places.into_iter().filter_map(|(place, value)| {
            let count = value.and_then(|value| self.of.of_json(value));
            let fact = self.misfit(count)?;
            Some(text.detail(fact, if place.is_empty() { "/" } else { &place }))
        });
        Ok(misfits.collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::tests::CheckCase;

    fn counted(of: &str, text: &str, min: usize, max: usize) -> Vec<String> {
        let check =
            format!("kind = \"count\"\nfield = \"value\"\nof = \"{of}\"\nmin = {min}\nmax = {max}");
        CheckCase::of(&check).submit("value", text).fired()
    }

    fn is(of: &str, text: &str, count: usize) {
        assert_eq!(counted(of, text, count, count), [""; 0], "{of} of {text:?}");
        assert_eq!(
            counted(of, text, count + 1, count + 1),
            ["it"],
            "{of} of {text:?}"
        );
    }

    #[test]
    fn counts_what_it_is_told_to() {
        is("lines", "a\n\n \u{200b} \nb\n", 2);
        is("words", " one two\u{200b}three\nfour ", 3);
        is("words", "one \u{200b} two", 2);
        is("characters", "a  b\u{200b}\n", 3);
        is("items", "[1, 2, 3]", 3);
        is("items", r#"{"a": 1}"#, 1);
    }

    #[test]
    fn places_in_json_are_counted_each() {
        let check = "kind = \"count\"\npath = \"r.json\"\nof = \"items\"\nmin = 2\n\
            pointer = \"/weeks/*/done\"";
        let report = r#"{"weeks": [{"done": [1, 2]}, {"done": [1]}, {}]}"#;
        let facts = CheckCase::of(check).file("r.json", report).facts();
        let places: Vec<_> = facts
            .iter()
            .filter_map(|it| it.location.as_deref())
            .collect();
        assert_eq!(places, ["r.json:/weeks/1/done", "r.json:/weeks/2/done"]);
        assert_eq!(&*facts[0].actual, "1");
        let good = r#"{"weeks": [{"done": [1, 2]}]}"#;
        CheckCase::of(check).file("r.json", good).passes();
        CheckCase::of(check)
            .file("r.json", r#"{"weeks": []}"#)
            .fails();
        CheckCase::of(check).file("r.json", "no json").fails();
        let twice = r#"{"weeks": [], "weeks": [{"done": [1, 2]}]}"#;
        CheckCase::of(check).file("r.json", twice).fails();
    }

    #[test]
    fn a_count_that_cannot_be_meant_is_a_mistake() {
        let check = "kind = \"count\"\nfield = \"value\"\nof = \"words\"\n";
        assert!(CheckCase::of(check).mistake().contains("min"));
        assert!(
            CheckCase::of(&format!("{check}min = 3\nmax = 2"))
                .mistake()
                .contains("greater")
        );
        let pointer = format!("{check}min = 3\npointer = \"items\"");
        assert!(CheckCase::of(&pointer).mistake().contains("JSON pointer"));
    }
}
