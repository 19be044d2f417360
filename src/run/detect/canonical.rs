//! The one digest of a JSON value, however its keys are ordered.

use serde_json::Value;

use crate::base::Digest;

#[must_use]
pub fn digest(value: &Value) -> Digest {
    let mut text = String::new();
    write_canonical(value, &mut text);
    Digest::of(text.as_bytes())
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in fields {
                write_canonical(&Value::from(key.as_str()), text);
                text.push(':');
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}
