//! The registry, and the schemas that it makes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

#[test]
fn every_document_has_a_name_and_a_place_of_its_own() {
    let names: BTreeSet<&str> = DOCUMENTS.iter().map(|document| document.name).collect();
    let places: BTreeSet<&str> = DOCUMENTS.iter().map(|document| document.place).collect();
    assert_eq!(
        (names.len(), places.len()),
        (DOCUMENTS.len(), DOCUMENTS.len())
    );
}

#[test]
fn what_is_left_out_is_never_null_and_what_is_always_there_may_be() {
    let of = |name: &str| {
        Document::named(name)
            .unwrap()
            .schema(&email::kind())
            .to_value()
    };
    let facts = &of("submit")["$defs"]["Fact"]["properties"];
    assert_eq!(facts["location"]["type"], "string");
    assert_eq!(facts["field"]["$ref"], "#/$defs/FieldName");
    let report = of("report");
    assert_eq!(
        report["properties"]["kind"]["type"],
        serde_json::json!(["string", "null"])
    );
}

/// Where `schema` leads out of itself.
fn leads_out(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(members) => {
            let self_call = members
                .iter()
                .filter(|(name, value)| {
                    *name == "$id"
                        || *name == "$ref"
                            && value.as_str().is_some_and(|it| !it.starts_with("#/$defs/"))
                })
                .map(|(name, value)| format!("{name}: {value}"));
            self_call
                .chain(members.values().flat_map(leads_out))
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(leads_out).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn every_schema_is_one_and_stands_alone() {
    for document in DOCUMENTS {
        let schema = document.schema(&email::kind()).to_value();
        // It panics where the schema is none.
        crate::quest::json::is_valid(&schema, &Value::Null);
        assert_eq!(leads_out(&schema), Vec::<String>::new(), "{document:?}");
        let draft = schema["$schema"].as_str().unwrap_or_default();
        assert!(draft.ends_with("2020-12/schema"), "{document:?}");
        assert!(schema["title"].is_string(), "{document:?}");
    }
}
