//! The schema of a map whose keys are words of an enum.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema of a map from `K`, which is written as a word, to `V`.
///
/// Of an enum whose words are each described, the derived one would take any key.
pub fn map_schema<K: JsonSchema, V: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": generator.subschema_for::<K>(),
        "additionalProperties": generator.subschema_for::<V>(),
    })
}
