//! What an agent proposes for one quest.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::field::FieldKind;
use super::file::nearest;
use super::{Field, FieldName, QuestKind};
use crate::base::Digest;

pub type Fields = BTreeMap<FieldName, String>;

/// What an agent proposes for one quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Submission {
    /// An answer: every field as submitted, not repaired in any way.
    Fields(Fields),
    /// No answer, and why.
    None(String),
}

impl Submission {
    pub fn field(&self, name: &str) -> Option<&str> {
        match self {
            Self::Fields(fields) => fields.get(name).map(String::as_str),
            Self::None(_) => None,
        }
    }

    pub fn digest(&self) -> Digest {
        let canonical = serde_json::json!(self).to_string();
        Digest::of(canonical.as_bytes())
    }
}

pub fn submission_schema(kind: &QuestKind) -> Schema {
    let properties = kind.fields.iter().map(|field| {
        let mut schema = field.shape.schema();
        if !field.help.is_empty() {
            schema.insert("description".to_owned(), json!(field.help));
        }
        if field.has_example() {
            schema.insert("examples".to_owned(), json!([field.example]));
        }
        (field.name.to_string(), schema.to_value())
    });
    let properties: Map<String, Value> = properties.collect();
    let required = kind.fields.iter().filter(|field| field.required);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": format!("The answer to one quest of the kind `{}`.", kind.name),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[derive(Debug, thiserror::Error)]
pub enum BadFields {
    #[error("not a JSON object of texts: {0}")]
    Json(serde_json::Error),
    #[error("not a JSON object of texts: it is not an object")]
    NoObject,
    #[error("there is no field {name:?}; the fields are {known}{}", nearest.as_ref().map(|near| format!("; did you mean {near:?}?")).unwrap_or_default())]
    Unknown {
        name: String,
        nearest: Option<String>,
        known: String,
    },
    #[error("not a JSON object of texts: the field {0:?} is not a text")]
    NoText(String),
}

pub fn fields_of(kind: &QuestKind, value: Value) -> Result<Fields, BadFields> {
    let Value::Object(members) = value else {
        return Err(BadFields::NoObject);
    };
    let fields = members.into_iter().map(|(name, value)| {
        let field = kind.fields.iter().find(|field| field.name.as_str() == name);
        let Some(field) = field else {
            let known: Vec<_> = kind.fields.iter().map(|f| f.name.as_str()).collect();
            return Err(BadFields::Unknown {
                nearest: nearest(&name, known.iter().copied()).map(str::to_owned),
                known: known.join(", "),
                name,
            });
        };
        let text = text_of(field, value).ok_or(BadFields::NoText(name))?;
        Ok((field.name.clone(), text))
    });
    fields.collect()
}

pub fn missing<'a>(kind: &'a QuestKind, fields: &'a Fields) -> impl Iterator<Item = &'a FieldName> {
    let required = kind.fields.iter().filter(|field| field.required);
    let absent = required.filter(|field| !fields.contains_key(field.name.as_str()));
    absent.map(|field| &field.name)
}

fn text_of(field: &Field, value: Value) -> Option<String> {
    match (value, field.shape.kind()) {
        (Value::String(text), _) => Some(text),
        (Value::Number(number), FieldKind::Integer | FieldKind::Number) => Some(number.to_string()),
        (Value::Bool(truth), FieldKind::Bool) => Some(truth.to_string()),
        (value, FieldKind::Json) => Some(value.to_string()),
        _ => None,
    }
}

/// What a gate says of a submission.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[derive(strum::Display)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Verdict {
    Pass,
    /// A person must look: something could not be confirmed, or is ambiguous.
    Review,
    Fail,
}

/// What decides which part of a page a reader sees.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// A browser showed the page.
    Rendered,
    /// The page's own HTML and style rules, without a browser.
    Markup,
}

/// The schema of a map from the enum `K` to `V`.
///
/// If each variant of `K` has a description, the derived schema would allow any key.
pub fn map_schema<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<K>(),
        "additionalProperties": generator.subschema_for::<V>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::email;
    use crate::quest::{fields_of, missing};
    use serde_json::json;

    #[test]
    fn digest_ignores_the_order_of_fields() {
        let one: Submission = serde_json::from_str(r#"{"fields":{"a":"1","b":"2"}}"#).unwrap();
        let two: Submission = serde_json::from_str(r#"{"fields":{"b":"2","a":"1"}}"#).unwrap();
        assert_eq!(one.digest(), two.digest());
        let three: Submission = serde_json::from_str(r#"{"fields":{"a":"1","b":"3"}}"#).unwrap();
        assert_ne!(one.digest(), three.digest());
        assert_ne!(Submission::None("1".into()).digest(), one.digest());
    }

    #[test]
    fn schema_accepts_what_submit_accepts() {
        let kind = email::kind();
        let schema = submission_schema(&kind).to_value();
        let full = json!({
            "site": "https://a.test",
            "email": "info@a.test",
            "source": "https://a.test/contact",
        });
        let (mut short, mut long) = (full.clone(), full.clone());
        short.as_object_mut().unwrap().remove("email");
        long["mail"] = json!("info@a.test");
        for submission in [full, short, long] {
            let read = fields_of(&kind, submission.clone());
            let taken = read.is_ok_and(|fields| missing(&kind, &fields).next().is_none());
            assert_eq!(
                crate::quest::json::is_valid(&schema, &submission),
                taken,
                "{submission}"
            );
        }
    }

    #[test]
    fn accepts_only_an_object_of_texts() {
        let kind = email::kind();
        let fields = fields_of(&kind, json!({"email": "info@a.test"})).unwrap();
        assert_eq!(fields["email"], "info@a.test");
        let absent: Vec<_> = missing(&kind, &fields).map(FieldName::as_str).collect();
        assert_eq!(absent, ["site", "source"]);
        for (bad, why) in [
            (json!([]), "it is not an object"),
            (json!({"email": 1}), "the field \"email\" is not a text"),
            (
                json!({"emial": "a"}),
                "no field \"emial\"; the fields are site, email, source; did you mean \"email\"?",
            ),
            (
                json!({"zzz": "a"}),
                "no field \"zzz\"; the fields are site, email, source",
            ),
        ] {
            let error = fields_of(&kind, bad).unwrap_err().to_string();
            assert!(error.ends_with(why), "{error}");
        }
    }
}
