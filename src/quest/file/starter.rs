//! The template of a new quest file, with instructions for a good gate.

use super::read::is_kebab;

const STARTER: &str = include_str!("starter.toml");

pub fn starter(name: &str) -> Option<String> {
    is_kebab(name).then(|| STARTER.replace("NAME-OF-THE-KIND", name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::file::QuestFile;

    fn switched_on() -> String {
        let text = starter("name-of-the-kind").unwrap();
        let lines = text.lines().map(|line| match line.strip_prefix('#') {
            Some(toml) if !toml.is_empty() && !toml.starts_with(' ') => toml,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn starter_has_the_requested_name() {
        let text = starter("unit-tests").unwrap();
        assert_eq!(QuestFile::parse(&text).unwrap().name, "unit-tests");
        assert_eq!(starter("Unit Tests"), None);
    }

    #[test]
    fn example_row_has_the_columns_of_the_input() {
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
    fn commented_out_parts_are_valid() {
        let text = switched_on();
        let file = QuestFile::parse(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        assert!(file.open && file.tree.is_some());
        assert_eq!((file.services.len(), file.controls.len()), (1, 5));
    }
}
