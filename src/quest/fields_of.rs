//! The fields of a submission, read from JSON.

use serde_json::Value;

use super::field_kind::FieldKind;
use super::file::nearest;
use super::{Field, FieldName, Fields, QuestKind};

/// Why JSON is no submission.
#[derive(Debug, thiserror::Error)]
pub enum BadFields {
    /// It does not read.
    #[error("not a JSON object of texts: {0}")]
    Json(serde_json::Error),
    /// It is no object.
    #[error("not a JSON object of texts: it is no object")]
    NoObject,
    /// It has a member that is no field.
    #[error("there is no field {name:?}; the fields are {known}{}", nearest.as_ref().map(|near| format!("; did you mean {near:?}?")).unwrap_or_default())]
    Unknown {
        /// The member.
        name: String,
        /// The field with the most similar name.
        nearest: Option<String>,
        /// The fields.
        known: String,
    },
    /// It has a field whose value is no text.
    #[error("not a JSON object of texts: the field {0:?} is none")]
    NoText(String),
}

/// The fields that the members of the object `value` are.
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

/// The required fields that are not among `fields`.
pub fn missing<'a>(kind: &'a QuestKind, fields: &'a Fields) -> impl Iterator<Item = &'a FieldName> {
    let required = kind.fields.iter().filter(|field| field.required);
    let absent = required.filter(|field| !fields.contains_key(field.name.as_str()));
    absent.map(|field| &field.name)
}

/// The text that a field's value stands for; of a field of text, a text alone.
fn text_of(field: &Field, value: Value) -> Option<String> {
    match (value, field.shape.kind()) {
        (Value::String(text), _) => Some(text),
        (Value::Number(number), FieldKind::Integer | FieldKind::Number) => Some(number.to_string()),
        (Value::Bool(truth), FieldKind::Bool) => Some(truth.to_string()),
        (value, FieldKind::Json) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::quest::email;

    #[test]
    fn an_object_of_texts_alone_is_a_submission() {
        let kind = email::kind();
        let fields = fields_of(&kind, json!({"email": "info@a.test"})).unwrap();
        assert_eq!(fields["email"], "info@a.test");
        let absent: Vec<_> = missing(&kind, &fields).map(FieldName::as_str).collect();
        assert_eq!(absent, ["site", "source"]);
        for (bad, why) in [
            (json!([]), "it is no object"),
            (json!({"email": 1}), "the field \"email\" is none"),
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
