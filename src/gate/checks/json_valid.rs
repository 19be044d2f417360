//! `json-valid`: a text is JSON.

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::json_text::{json_lines, json_of};
use super::kind::Probe;
use super::kind::first_facts;
use super::kind::{Flaw, Shows, Source, Spec};
use super::subject::Subject;
use crate::gate::Cost;

/// `kind = "json-valid"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonValidSpec {
    /// The field whose text it is.
    field: Option<String>,
    /// In its place: the path of the file whose text it is, as a template.
    path: Option<String>,
    /// Whether each line is a value of its own.
    #[serde(default)]
    lines: bool,
}

#[derive(Debug)]
struct JsonValid {
    subject: Subject,
    lines: bool,
}

impl Spec for JsonValidSpec {
    const KIND: &'static str = "json-valid";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        Ok(Box::new(JsonValid {
            subject: Subject::new(source, self.field.as_deref(), self.path.as_deref())?,
            lines: self.lines,
        }))
    }
}

impl Probe for JsonValid {
    fn cost(&self) -> Cost {
        self.subject.cost()
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        match self.subject.read(context) {
            Ok(None) => Vec::new(),
            Err(found) => vec![found],
            Ok(Some(text)) if self.lines => {
                let wrong = json_lines(&text).filter_map(|(_, value)| value.err());
                first_facts(wrong.collect())
            }
            Ok(Some(text)) => json_of(&text).err().into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const FIELD: &str = "kind = \"json-valid\"\nfield = \"value\"";
    const LINES: &str = "kind = \"json-valid\"\npath = \"a.jsonl\"\nlines = true";

    #[test]
    fn json_passes_and_nothing_else() {
        for text in ["{}", "[1, 2.5e3, \"x\"]", " null\n"] {
            assert_eq!(
                Bench::of(FIELD).submit("value", text).fired(),
                [""; 0],
                "{text}"
            );
        }
        for text in ["{", "{} {}", "{'a': 1}", "NaN", "[1,]", "1e999"] {
            assert_eq!(
                Bench::of(FIELD).submit("value", text).fired(),
                ["it"],
                "{text}"
            );
        }
    }

    #[test]
    fn depth_overflows_nothing() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(Bench::of(FIELD).submit("value", &deep).fired(), ["it"]);
    }

    #[test]
    fn a_name_that_stands_twice_is_a_fault() {
        let twice = "{\n \"paid\": false,\n \"paid\": true}";
        let file = "kind = \"json-valid\"\npath = \"a.json\"";
        let fact = Bench::of(file).file("a.json", twice).only_fact();
        assert_eq!(fact.location.as_deref(), Some("a.json:3:7"));
        assert!(fact.actual.contains("\"paid\" twice"), "{fact:?}");
        let lines = Bench::of(LINES).file("a.jsonl", "{}\n{\"a\": 1, \"a\": 2}\n");
        let fact = lines.only_fact();
        assert_eq!(fact.location.as_deref(), Some("a.jsonl:2:12"));
        let apart = "{\"a\": {\"paid\": 1}, \"b\": {\"paid\": 2}}";
        assert_eq!(Bench::of(FIELD).submit("value", apart).fired(), [""; 0]);
    }

    #[test]
    fn a_fault_has_its_place() {
        let file = "kind = \"json-valid\"\npath = \"a.json\"";
        let fact = Bench::of(file)
            .file("a.json", "{\n  \"a\": 1,\n}")
            .only_fact();
        assert_eq!(fact.location.as_deref(), Some("a.json:3:1"));
    }

    #[test]
    fn lines_are_values_of_their_own() {
        let text = "{}\n\n[1]\n";
        assert_eq!(Bench::of(LINES).file("a.jsonl", text).fired(), [""; 0]);
        let fact = Bench::of(LINES).file("a.jsonl", "{}\n{\n[]").only_fact();
        assert_eq!(fact.location.as_deref(), Some("a.jsonl:2:1"));
        let many = Bench::of(LINES).file("a.jsonl", &"{\n".repeat(100)).facts();
        assert_eq!(many.len(), 20);
        assert_eq!(many.iter().map(|fact| fact.count).sum::<u32>(), 100);
    }
}
