//! What `submit --in` reads, as a JSON Schema: an object with a member for each field.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use super::QuestKind;

/// The schema of the fields that quests of this kind are answered with.
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{email, fields_of, missing};

    #[test]
    fn it_takes_what_submit_takes() {
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
                jsonschema::is_valid(&schema, &submission),
                taken,
                "{submission}"
            );
        }
    }
}
