//! The quest file that a new one begins from: the worksheet of a good gate.

use super::document::is_kebab;

const STARTER: &str = include_str!("starter.toml");

#[must_use]
pub fn starter(name: &str) -> Option<String> {
    is_kebab(name).then(|| STARTER.replace("NAME-OF-THE-KIND", name))
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, schema_for};

    use super::*;
    use crate::gate::checks::schema::schema;
    use crate::quest::file::{
        ControlTable, FieldTable, FinalControlTable, FixerTable, InputTable, NegativeTable,
        PanelTable, PlantTable, QuestFile, QuestionTable, ReadyTable, ReviewerTable, ServiceTable,
        TreeTable,
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
    fn a_starter_has_the_name_that_it_was_asked_for() {
        let text = starter("unit-tests").unwrap();
        assert_eq!(QuestFile::parse(&text).unwrap().name, "unit-tests");
        assert_eq!(starter("Unit Tests"), None);
    }

    #[test]
    fn the_line_of_a_list_that_it_shows_has_its_columns() {
        let text = starter("letters").unwrap();
        let file = QuestFile::parse(&text).unwrap();
        let shown = STARTER.lines().find_map(|line| line.strip_prefix("#   {"));
        let row = format!("{{{}", shown.unwrap());
        let row: serde_json::Value = serde_json::from_str(&row).unwrap();
        let columns = file.input.key.iter().chain(&file.input.anchor);
        for column in columns {
            assert!(row[column.as_str()].is_string(), "{column}: {row}");
        }
    }

    #[test]
    fn what_is_switched_off_can_be_switched_on() {
        let text = switched_on();
        let file = QuestFile::parse(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        assert!(file.open && file.tree.is_some());
        assert_eq!((file.services.len(), file.controls.len()), (1, 5));
    }

    #[test]
    fn it_shows_every_key_that_there_is() {
        let top = schema()["properties"].as_object().unwrap().clone();
        let tables = ["check", "field", "service", "control", "input", "tree"];
        let tables = tables.into_iter().chain(["prompt", "example"]);
        let tables = tables.chain(["panel", "reviewer", "question", "plant", "fixer"]);
        let text = switched_on();
        let of_final = ["final.check", "final.control", "final.negative"];
        for table in tables.clone().chain(of_final) {
            let heads = [format!("\n[{table}]\n"), format!("\n[[{table}]]\n")];
            assert!(heads.iter().any(|head| text.contains(head)), "{table}");
        }
        let tables = tables.chain(["final"]);
        let top = top.keys().filter(|key| tables.clone().all(|it| it != *key));
        let head = crate::gate::checks::CheckHead::KEYS.iter();
        let all = top.cloned().chain(head.map(|key| (*key).to_owned()));
        let all = all.chain(keys::<InputTable>()).chain(keys::<TreeTable>());
        let all = all
            .chain(keys::<FieldTable>())
            .chain(keys::<ServiceTable>());
        let all = all
            .chain(keys::<ControlTable>())
            .chain(keys::<ReadyTable>());
        let all = all.chain(keys::<PanelTable>()).chain(keys::<PlantTable>());
        let all = all
            .chain(keys::<ReviewerTable>())
            .chain(keys::<QuestionTable>());
        let all = all.chain(keys::<FixerTable>());
        let all = all.chain(keys::<FinalControlTable>());
        let all = all.chain(keys::<NegativeTable>());
        for key in all {
            let shown = text.lines().any(|line| {
                line.starts_with(&format!("{key} = ")) || line.contains(&format!("{{ {key} = "))
            });
            assert!(shown, "{key}");
        }
    }
}
