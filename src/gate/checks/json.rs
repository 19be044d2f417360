//! JSON values out of a text, places in them, and `json-schema`.

use std::error::Error;
use std::fmt;

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::shown;
use super::kind::{Check, CheckConfig, Flaw, Source};
use super::subject::{Subject, Text};
use crate::gate::Fact;
use crate::quest::json;

/// The value; one that nests deeper than 128 lists and objects, or says a name twice, is refused
/// by its reader.
pub(super) fn json_of(text: &Text) -> Result<Value, Fact> {
    json::value(&text.said).map_err(|error| {
        let place = format!("{}:{}", error.line(), error.column());
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why);
        text.detail(Fact::wrong("a JSON text", shown(why)), &place)
    })
}

const IN_POINTER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'~');

/// `kind = "json-schema"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonSchemaConfig {
    /// The field whose text is checked.
    field: Option<String>,
    /// Instead of `field`: the path of a file, as a template.
    path: Option<String>,
    /// The schema: a file next to the quest file, or a table; `{}` accepts any JSON. References to
    /// other documents are not resolved.
    schema: SchemaText,
}

/// Where a schema is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
enum SchemaText {
    /// In a file next to the quest file.
    Beside(String),
    /// Here.
    Inline(Map<String, Value>),
}

impl CheckConfig for JsonSchemaConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let schema = match self.schema {
            SchemaText::Beside(name) => json_asset(source, "schema", &name)?,
            SchemaText::Inline(table) => Value::Object(table),
        };
        let rules = JsonRules::new("schema", &schema)?;
        let subject = Subject::new(source, self.field.as_ref(), self.path.as_ref())?;
        Ok(source.check(subject.cost(), move |context| {
            let Some(text) = subject.read(context)? else {
                return Ok(Vec::new());
            };
            let misfits = rules.misfits(&json_of(&text)?).into_iter();
            Ok(misfits
                .map(|(place, fact)| text.detail(fact, &place))
                .collect())
        }))
    }
}

pub(super) struct JsonRules {
    schemas: Schemas,
    index: SchemaIndex,
}

/// Refuses whatever a schema refers to outside itself: neither a file nor a page is read for it.
struct Nothing;

impl UrlLoader for Nothing {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn Error>> {
        Err("it is not in this schema".into())
    }
}

const NAME: &str = "comail:///schema.json";

impl JsonRules {
    /// The schema at `pointer` (RFC 6901) of a document such as an `OpenAPI` file. Its references may
    /// point elsewhere in the document.
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

    pub(super) fn new(key: &'static str, schema: &Value) -> Result<Self, Flaw> {
        let flaw = |error: &dyn fmt::Display| {
            let what = shown(&format!("{error:#}"));
            Flaw::new(key, format!("not a schema: {what}"))
        };
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler.use_loader(Box::new(Nothing));
        let added = compiler.add_resource(NAME, schema.clone());
        added.map_err(|error| flaw(&error))?;
        let mut schemas = Schemas::new();
        let index = compiler.compile(NAME, &mut schemas);
        let index = index.map_err(|error| flaw(&error))?;
        Ok(Self { schemas, index })
    }

    /// Where `value` is not as the schema says: each place in it, with what was expected. The whole
    /// value is at `/`.
    pub(super) fn misfits(&self, value: &Value) -> Vec<(String, Fact)> {
        let mut found = Vec::new();
        if let Err(error) = self.schemas.validate(value, self.index) {
            collect_errors(&error, value, &mut found);
        }
        // The order in which the library looks is not always the same.
        found.sort_by(|(one, a), (other, b)| (one, &a.expected).cmp(&(other, &b.expected)));
        found.dedup();
        found
    }
}

fn collect_errors(error: &ValidationError<'_, '_>, value: &Value, found: &mut Vec<(String, Fact)>) {
    if !error.causes.is_empty() {
        for cause in &error.causes {
            collect_errors(cause, value, found);
        }
        return;
    }
    let place = error.instance_location.to_string();
    let keyword = error.kind.keyword_path();
    let keyword = keyword.map_or(String::new(), |path| path.to_string());
    let expected = format!(
        "what the schema says at {}/{keyword}: {}",
        shown(error.schema_url.trim_start_matches(NAME)),
        shown(&error.kind.to_string())
    );
    let actual = value
        .pointer(&place)
        .map_or_else(String::new, |value| shown(&value.to_string()));
    let place = if place.is_empty() {
        "/".to_owned()
    } else {
        place
    };
    found.push((place, Fact::wrong(expected, actual)));
}

pub(super) fn json_asset(
    source: &Source<'_>,
    key: &'static str,
    name: &str,
) -> Result<Value, Flaw> {
    let text = source.asset(key, name)?;
    serde_json::from_str(&text)
        .map_err(|error| Flaw::new(key, format!("{name} is not JSON: {error}")))
}

/// The JSON pointer that is the value of `key`, if it has one.
pub(super) fn pointer(key: &'static str, text: Option<String>) -> Result<Option<String>, Flaw> {
    match text {
        Some(text) if !text.is_empty() && !text.starts_with('/') => {
            let what =
                format!("`{text}`: expected a JSON pointer such as `/items/0` or `/items/*`");
            Err(Flaw::new(key, what))
        }
        text => Ok(text),
    }
}

/// The places that `pointer` names, as RFC 6901 writes them, each with its value; none where there
/// is nothing. A `*` matches every item or member.
pub(super) fn places<'v>(value: &'v Value, pointer: &str) -> Vec<(String, Option<&'v Value>)> {
    let mut stars = pointer.match_indices("/*").map(|(at, _)| at);
    let is_name = |at: &usize| matches!(pointer.as_bytes().get(at + 2), None | Some(b'/'));
    let Some(star) = stars.find(is_name) else {
        return vec![(pointer.to_owned(), value.pointer(pointer))];
    };
    let (before, after) = (&pointer[..star], &pointer[star + 2..]);
    let children: Vec<(String, &Value)> = match value.pointer(before) {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (index.to_string(), item))
            .collect(),
        Some(Value::Object(members)) => members
            .iter()
            .map(|(name, member)| (name.replace('~', "~0").replace('/', "~1"), member))
            .collect(),
        _ => return vec![(format!("{before}/*"), None)],
    };
    let found = children.into_iter().flat_map(|(name, child)| {
        let inside = places(child, after).into_iter();
        inside.map(move |(place, value)| (format!("{before}/{name}{place}"), value))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::checks::tests::CheckCase;

    const FIELD: &str = "kind = \"json-schema\"\nschema = {}\nfield = \"value\"";
    const PATH: &str = "kind = \"json-schema\"\nschema = {}\npath = \"a.json\"";

    #[test]
    fn json_passes_and_nothing_else() {
        for text in ["{}", "[1, 2.5e3, \"x\"]", " null\n"] {
            CheckCase::of(FIELD).submit("value", text).passes();
        }
        for text in ["{", "{} {}", "{'a': 1}", "NaN", "[1,]", "1e999"] {
            CheckCase::of(FIELD).submit("value", text).fails();
        }
    }

    #[test]
    fn a_fault_such_as_a_name_twice_has_its_place() {
        let twice = "{\n \"paid\": false,\n \"paid\": true}";
        let fact = CheckCase::of(PATH).file("a.json", twice).only_fact();
        assert_eq!(fact.location.as_deref(), Some("a.json:3:7"));
        assert!(fact.actual.contains("\"paid\" twice"), "{fact:?}");
        let comma = CheckCase::of(PATH).file("a.json", "{\n  \"a\": 1,\n}");
        assert_eq!(comma.only_fact().location.as_deref(), Some("a.json:3:1"));
        let apart = "{\"a\": {\"paid\": 1}, \"b\": {\"paid\": 2}}";
        CheckCase::of(FIELD).submit("value", apart).passes();
    }

    const FILE: &str = "kind = \"json-schema\"\nfield = \"value\"\nschema = \"s.json\"";
    const ITEMS: &str = r#"{"type": "object", "required": ["items"], "properties": {"items":
        {"type": "array", "items": {"type": "object", "properties": {"price":
        {"type": "number", "minimum": 0}, "code": {"pattern": "^[A-Z]{2}$"}}}}}}"#;

    fn items(value: &str) -> CheckCase {
        CheckCase::of(FILE)
            .asset("s.json", ITEMS)
            .submit("value", value)
    }

    #[test]
    fn each_fault_is_told_with_its_place() {
        items(r#"{"items": [{"price": 1}]}"#).passes();
        let facts = items(r#"{"items": [{"price": 1}, {"price": -2, "code": "x"}, 3]}"#).facts();
        let places: Vec<_> = facts
            .iter()
            .filter_map(|it| it.location.as_deref())
            .collect();
        assert_eq!(places, ["/items/1/code", "/items/1/price", "/items/2"]);
        assert!(facts[1].expected.contains("minimum"), "{:?}", facts[1]);
        assert_eq!(&*facts[1].actual, "-2");
        assert_eq!(items("{}").only_fact().location.as_deref(), Some("/"));
        items("not json").fails();
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
        CheckCase::of(check).submit("value", "3").passes();
        CheckCase::of(check).submit("value", "\"3\"").fails();
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
            let mistake = CheckCase::of(FILE).asset("s.json", schema).mistake();
            assert!(
                mistake.contains("schema") || mistake.contains("JSON"),
                "{mistake}"
            );
        }
        assert!(CheckCase::of(FILE).mistake().contains("s.json"));
    }

    #[test]
    fn patterns_are_quick_and_depth_overflows_nothing() {
        let slow = r#"{"type": "string", "pattern": "^(a+)+$"}"#;
        let bench = CheckCase::of(FILE).asset("s.json", slow);
        let text = format!("\"{}!\"", "a".repeat(50_000));
        bench.submit("value", &text).fails();
        let look_ahead = CheckCase::of(FILE).asset("s.json", r#"{"pattern": "(?=a)"}"#);
        assert!(look_ahead.mistake().contains("schema"));
        let tree = r##"{"type": "array", "items": {"$ref": "#"}}"##;
        let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let bench = CheckCase::of(FILE).asset("s.json", tree);
        bench.clone().submit("value", &deep(120)).passes();
        bench.submit("value", &deep(100_000)).fails();
    }

    #[test]
    fn a_schema_that_is_itself_ends() {
        let bench = CheckCase::of(FILE).asset("s.json", r##"{"$ref": "#"}"##);
        let _ = bench.submit("value", "{}").fired();
    }

    fn found(pointer: &str, value: &Value) -> Vec<(String, bool)> {
        let found = places(value, pointer).into_iter();
        found
            .map(|(place, value)| (place, value.is_some()))
            .collect()
    }

    #[test]
    fn finds_one_place_or_all_of_a_list() {
        let value = json!({"a/b": [{"x": 1}, {"y": 2}], "m~n": {"x": 0}});
        assert_eq!(found("", &value), [(String::new(), true)]);
        assert_eq!(found("/a~1b/0/x", &value), [("/a~1b/0/x".into(), true)]);
        assert_eq!(
            found("/a~1b/*/x", &value),
            [("/a~1b/0/x".into(), true), ("/a~1b/1/x".into(), false)]
        );
        assert_eq!(found("/m~0n/*", &value), [("/m~0n/x".into(), true)]);
    }

    #[test]
    fn what_is_not_there_is_said_to_be_missing() {
        let value = json!({"items": []});
        assert_eq!(found("/items/0", &value), [("/items/0".into(), false)]);
        assert_eq!(found("/items/00", &value), [("/items/00".into(), false)]);
        assert_eq!(found("/no/where", &value), [("/no/where".into(), false)]);
        assert_eq!(found("/items/*", &value), []);
        assert_eq!(found("/no/*", &value), [("/no/*".into(), false)]);
        assert!(pointer("pointer", Some("items".to_owned())).is_err());
    }
}
