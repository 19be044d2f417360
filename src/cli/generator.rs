//! How the JSON Schemas of comail's types are made.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// A generator of schemas as JSON Schema 2020-12, whose definitions are at this path.
pub(super) fn generator(definitions: &'static str) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|it| it.definitions_path = definitions.into());
    let settings = settings.with_transform(RecursiveTransform(never_null));
    settings.into_generator()
}

/// Removes null from optional members: comail leaves them out instead.
fn never_null(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned();
    let required = required.unwrap_or_default();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let properties = properties.into_iter().flatten();
    for (_, value) in properties.filter(|(name, _)| !required.iter().any(|it| it == *name)) {
        if let Some(types) = value.get_mut("type").and_then(Value::as_array_mut) {
            types.retain(|one| one != "null");
            if let [only] = &types[..] {
                value["type"] = only.clone();
            }
        } else if let Some(ways) = value.get_mut("anyOf").and_then(Value::as_array_mut) {
            ways.retain(|way| way["type"] != "null");
            if let [Value::Object(only)] = &ways[..] {
                let only = only.clone();
                let members = value.as_object_mut().into_iter();
                members.for_each(|members| {
                    members.remove("anyOf");
                    members.extend(only.clone());
                });
            }
        }
    }
}
