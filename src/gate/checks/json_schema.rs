//! `json-schema`: a JSON text is as a schema says.

use crate::gate::Fact;
use jsonschema::{PatternOptions, ValidationError, Validator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::context::Context;
use super::fields::shown;
use super::json_text::{json_lines, json_of};
use super::kind::Probe;
use super::kind::first_facts;
use super::kind::{Flaw, Shows, Source, Spec};
use super::subject::{Subject, brief};
use crate::gate::Cost;

/// What is escaped of a JSON pointer in a URI's fragment.
const IN_POINTER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'~');

/// `kind = "json-schema"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonSchemaSpec {
    /// The field whose text is looked at.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// The schema: a file beside the quest file, or a table. What it refers to outside itself is
    /// not looked for.
    schema: SchemaText,
    /// Whether each line is a value of its own.
    #[serde(default)]
    lines: bool,
}

/// Where a schema stands.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum SchemaText {
    /// In a file beside the quest file.
    Beside(String),
    /// Here.
    Inline(Map<String, Value>),
}

#[derive(Debug)]
struct SchemaCheck {
    subject: Subject,
    schema: JsonRules,
    lines: bool,
}

/// A schema that can be held against values.
#[derive(Debug)]
pub(super) struct JsonRules(Validator);

impl Spec for JsonSchemaSpec {
    const KIND: &'static str = "json-schema";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let schema = match self.schema {
            SchemaText::Beside(name) => JsonRules::beside(source, "schema", &name)?,
            SchemaText::Inline(table) => JsonRules::new("schema", &Value::Object(table))?,
        };
        Ok(Box::new(SchemaCheck {
            subject: Subject::new(source, self.field.as_deref(), self.path.as_deref())?,
            schema,
            lines: self.lines,
        }))
    }
}

impl JsonRules {
    /// The schema in the file of this name beside the quest file.
    pub(super) fn beside(source: &Source<'_>, key: &'static str, name: &str) -> Result<Self, Flaw> {
        Self::new(key, &json_beside(source, key, name)?)
    }

    /// The schema that stands at `pointer` (RFC 6901) of a document such as an `OpenAPI` file; what
    /// it refers to may stand elsewhere in it.
    pub(super) fn at(key: &'static str, document: &Value, pointer: &str) -> Result<Self, Flaw> {
        let (Some(_), Some(members)) = (document.pointer(pointer), document.as_object()) else {
            let what = format!("there is no schema at `{}`", shown(pointer));
            return Err(Flaw::new(key, what));
        };
        let mut whole = members.clone();
        let place = utf8_percent_encode(pointer, IN_POINTER);
        whole.insert("$ref".to_owned(), format!("#{place}").into());
        Self::new(key, &Value::Object(whole))
    }

    fn new(key: &'static str, schema: &Value) -> Result<Self, Flaw> {
        let built = jsonschema::options()
            .offline()
            // Its time grows with the text alone, whatever the pattern.
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(true)
            .build(schema);
        built.map(Self).map_err(|error| {
            let place = error.instance_path().to_string();
            Flaw::new(
                key,
                format!("not a schema: {place} {}", shown(&error.to_string())),
            )
        })
    }

    /// What of `value` is not as the schema says: each place in it, with what was expected.
    pub(super) fn misfits(&self, value: &Value) -> Vec<(String, Fact)> {
        let errors = self.0.iter_errors(value);
        errors
            .map(|error| (error.instance_path().to_string(), detail(&error)))
            .collect()
    }
}

/// The JSON in the file of this name beside the quest file.
pub(super) fn json_beside(
    source: &Source<'_>,
    key: &'static str,
    name: &str,
) -> Result<Value, Flaw> {
    let text = source.beside(key, name)?;
    serde_json::from_str(&text)
        .map_err(|error| Flaw::new(key, format!("{name} is not JSON: {error}")))
}

/// What the keyword expected, and what stands there.
fn detail(error: &ValidationError<'_>) -> Fact {
    let said = error.masked_with("it").to_string();
    let place = error.schema_path().to_string();
    let expected = format!(
        "what the schema says at {}: {}",
        shown(&place),
        shown(&said)
    );
    Fact::wrong(expected, brief(error.instance()))
}

impl Probe for SchemaCheck {
    fn cost(&self) -> Cost {
        self.subject.cost()
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let values: Vec<_> = if self.lines {
            let lines = json_lines(&text).map(|(line, value)| (format!("{line}:"), value));
            lines.collect()
        } else {
            vec![(String::new(), json_of(&text))]
        };
        let mut found = Vec::new();
        for (line, value) in values {
            match value {
                Err(wrong) => found.push(wrong),
                Ok(value) => found.extend(self.schema.misfits(&value).into_iter().map(
                    |(place, detail)| {
                        let place =
                            format!("{line}{}", if place.is_empty() { "/" } else { &place });
                        text.detail(detail, &place)
                    },
                )),
            }
        }
        first_facts(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const FILE: &str = "kind = \"json-schema\"\nfield = \"value\"\nschema = \"s.json\"";
    const ITEMS: &str = r#"{"type": "object", "required": ["items"], "properties": {"items":
        {"type": "array", "items": {"type": "object", "properties": {"price":
        {"type": "number", "minimum": 0}, "code": {"pattern": "^[A-Z]{2}$"}}}}}}"#;

    fn items(value: &str) -> Bench {
        Bench::of(FILE)
            .asset("s.json", ITEMS)
            .submit("value", value)
    }

    #[test]
    fn each_fault_is_told_with_its_place() {
        assert_eq!(items(r#"{"items": [{"price": 1}]}"#).fired(), [""; 0]);
        let facts = items(r#"{"items": [{"price": 1}, {"price": -2, "code": "x"}, 3]}"#).facts();
        let places: Vec<_> = facts
            .iter()
            .filter_map(|it| it.location.as_deref())
            .collect();
        assert_eq!(places, ["/items/1/code", "/items/1/price", "/items/2"]);
        assert!(facts[1].expected.contains("minimum"), "{:?}", facts[1]);
        assert_eq!(facts[1].actual, "-2");
        assert_eq!(items("{}").only_fact().location.as_deref(), Some("/"));
        assert_eq!(items("not json").fired(), ["it"]);
    }

    #[test]
    fn a_name_that_stands_twice_is_a_fault() {
        let twice = r#"{"items": [{"price": -1, "price": 1}]}"#;
        let fact = items(twice).only_fact();
        assert!(fact.actual.contains("\"price\" twice"), "{fact:?}");
    }

    #[test]
    fn many_faults_are_counted() {
        let many = vec![r#"{"price": -1}"#; 100].join(",");
        let facts = items(&format!("{{\"items\": [{many}]}}")).facts();
        assert_eq!(facts.len(), 20);
        assert_eq!(facts.iter().map(|it| it.count).sum::<u32>(), 100);
    }

    #[test]
    fn a_schema_may_stand_in_the_table() {
        let check = "kind = \"json-schema\"\nfield = \"value\"\n[check.schema]\ntype = \"integer\"";
        assert_eq!(Bench::of(check).submit("value", "3").fired(), [""; 0]);
        assert_eq!(Bench::of(check).submit("value", "\"3\"").fired(), ["it"]);
    }

    #[test]
    fn a_schema_that_is_none_is_a_mistake() {
        for schema in [
            "{",
            r#"{"type": 3}"#,
            r#"{"type": "nothing"}"#,
            r#"{"pattern": "("}"#,
            r#"{"$ref": "https://example.com/s.json"}"#,
            r##"{"$ref": "#/nowhere"}"##,
            r#"{"$ref": "file:///etc/passwd"}"#,
        ] {
            let mistake = Bench::of(FILE).asset("s.json", schema).mistake();
            assert!(
                mistake.contains("schema") || mistake.contains("JSON"),
                "{mistake}"
            );
        }
        assert!(Bench::of(FILE).mistake().contains("s.json"));
    }

    #[test]
    fn patterns_are_quick_and_depth_overflows_nothing() {
        let slow = r#"{"type": "string", "pattern": "^(a+)+$"}"#;
        let bench = Bench::of(FILE).asset("s.json", slow);
        let text = format!("\"{}!\"", "a".repeat(50_000));
        assert_eq!(bench.submit("value", &text).fired(), ["it"]);
        let look_ahead = Bench::of(FILE).asset("s.json", r#"{"pattern": "(?=a)"}"#);
        assert!(look_ahead.mistake().contains("schema"));
        let tree = r##"{"type": "array", "items": {"$ref": "#"}}"##;
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let bench = Bench::of(FILE).asset("s.json", tree);
        assert_eq!(bench.clone().submit("value", &deep(120)).fired(), [""; 0]);
        assert_eq!(bench.submit("value", &deep(100_000)).fired(), ["it"]);
    }

    #[test]
    fn a_schema_that_is_itself_ends() {
        let bench = Bench::of(FILE).asset("s.json", r##"{"$ref": "#"}"##);
        let _ = bench.submit("value", "{}").fired();
    }
}
