//! The JSON Schema of quest files, for editors.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::kind::{CheckHead, Kind};
use super::kinds::KINDS;
use crate::quest::file::FileTable;

/// The schema of a whole quest file (JSON Schema 2020-12).
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut whole = FileTable::json_schema(&mut generator).to_value();
    let head = CheckHead::json_schema(&mut generator).to_value();
    let checks: Vec<Value> = KINDS
        .iter()
        .map(|kind| check(*kind, &head, kind.schema(&mut generator).to_value()))
        .collect();
    let mut definitions: Map<String, Value> =
        generator.take_definitions(true).into_iter().collect();
    definitions.insert("Check".to_owned(), json!({"oneOf": checks}));
    whole["$defs"] = Value::Object(definitions);
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    whole["title"] = json!("comail quest file");
    whole
}

/// The schema of a check's table: what every check says, and what this kind does.
fn check(kind: &dyn Kind, head: &Value, mut check: Value) -> Value {
    let empty = Map::new();
    let of_head = head["properties"].as_object().unwrap_or(&empty);
    let of_head = of_head.iter();
    for (key, value) in of_head.filter(|(key, _)| kind.head_keys().contains(&key.as_str())) {
        check["properties"][key] = value.clone();
    }
    check["properties"]["kind"] = json!({"const": kind.name()});
    let required = [&check["required"], &head["required"]].into_iter();
    let required: Vec<Value> = required
        .filter_map(Value::as_array)
        .flatten()
        .cloned()
        .collect();
    check["required"] = Value::Array(required);
    check["title"] = json!(kind.name());
    check
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;
    use crate::quest::file::{
        AgentTable, ControlTable, FieldTable, FinalControlTable, FixerTable, InputTable,
        NegativeTable, PanelTable, PlantTable, QuestionTable, ReadyTable, ReviewerTable,
        ServiceTable, TreeTable, starter,
    };

    fn switched_on() -> String {
        let text = starter("name-of-the-kind").unwrap();
        let lines = text.lines().map(|line| match line.strip_prefix('#') {
            Some(toml) if !toml.is_empty() && !toml.starts_with(' ') => toml,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn keys<T: JsonSchema>() -> Vec<String> {
        let schema = schema_for!(T).to_value();
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect()
    }

    #[test]
    fn every_kind_of_check_is_in_it() {
        let schema = schema();
        let checks = schema["$defs"]["Check"]["oneOf"].as_array().unwrap();
        let kinds: Vec<_> = checks
            .iter()
            .map(|it| it["properties"]["kind"]["const"].as_str().unwrap())
            .collect();
        let known: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
        assert_eq!(kinds, known);
        assert_eq!(schema["properties"]["name"]["type"], "string");
    }

    #[test]
    fn the_starter_shows_every_key_that_there_is() {
        let top = schema()["properties"].as_object().unwrap().clone();
        let tables = ["check", "field", "service", "control", "input", "tree"];
        let tables = tables.into_iter().chain(["prompt", "example", "run"]);
        let tables = tables.chain(["panel", "reviewer", "question", "plant", "fixer"]);
        let text = switched_on();
        let of_final = ["final.check", "final.control", "final.negative"];
        for table in tables.clone().chain(of_final) {
            let heads = [format!("\n[{table}]\n"), format!("\n[[{table}]]\n")];
            assert!(heads.iter().any(|head| text.contains(head)), "{table}");
        }
        let tables = tables.chain(["final"]);
        let top = top.keys().filter(|key| tables.clone().all(|it| it != *key));
        let head = CheckHead::KEYS.iter().map(|key| (*key).to_owned());
        let of_tables = [
            keys::<InputTable>(),
            keys::<AgentTable>(),
            keys::<TreeTable>(),
            keys::<FieldTable>(),
            keys::<ServiceTable>(),
            keys::<ControlTable>(),
            keys::<ReadyTable>(),
            keys::<PanelTable>(),
            keys::<PlantTable>(),
            keys::<ReviewerTable>(),
            keys::<QuestionTable>(),
            keys::<FixerTable>(),
            keys::<FinalControlTable>(),
            keys::<NegativeTable>(),
        ];
        let all = top.cloned().chain(head).chain(of_tables.concat());
        for key in all {
            let shown = text.lines().any(|line| {
                line.starts_with(&format!("{key} = ")) || line.contains(&format!("{{ {key} = "))
            });
            assert!(shown, "{key}");
        }
    }
}
