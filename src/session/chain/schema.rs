//! The JSON Schema of a ledger line, beside the code that writes one.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Digest, Event, Head, Line};

impl JsonSchema for Line<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Line".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut line = Head::json_schema(generator);
        let redacted = json!({
            "description": "The digest of salt and body as they stand here, where the body was \
                            blotted out.",
            "$ref": generator.subschema_for::<Digest>().get("$ref"),
        });
        let properties = line.get_mut("properties").and_then(Value::as_object_mut);
        if let Some(properties) = properties {
            properties.insert("redacted".to_owned(), redacted);
        }
        let events = Event::json_schema(generator);
        line.insert("oneOf".to_owned(), json!(events.get("oneOf")));
        line.insert(
            "description".to_owned(),
            json!("A line of the ledger: an event, bound to the line before it."),
        );
        line
    }
}
