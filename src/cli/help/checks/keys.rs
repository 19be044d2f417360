//! The keys of each kind of check, read out of the schema of quest files.

use serde_json::Value;

use crate::base::text::wrap;
use crate::gate::checks::CheckHead;
use crate::gate::checks::schema::schema;

/// The widest line, in characters.
const WIDTH: usize = 80;

/// The keys of all kinds.
pub(super) struct Keys {
    schema: Value,
}

/// One key of a kind.
struct Key<'a> {
    name: &'a str,
    table: &'a Value,
    required: bool,
}

impl Keys {
    /// Reads them.
    pub(super) fn of_all() -> Self {
        Self { schema: schema() }
    }

    /// Their names, those that must be said first.
    pub(super) fn in_short(&self, kind: &str) -> Vec<String> {
        let keys = self.own(kind);
        let named = |required| {
            let keys = keys.iter().filter(move |key| key.required == required);
            keys.map(|key| key.name).collect::<Vec<_>>().join(", ")
        };
        let text = match (named(true).as_str(), named(false).as_str()) {
            ("", "") => "It has no keys of its own.".to_owned(),
            (must, "") => format!("Keys: {must}."),
            ("", may) => format!("Keys, none of which must be said: {may}."),
            (must, may) => format!("Keys: {must}; and as wanted {may}."),
        };
        wrap(&text, WIDTH)
    }

    /// Each with what it says, and what holds where it is not said.
    pub(super) fn in_full(&self, kind: &str) -> Vec<String> {
        let keys = self.own(kind);
        if keys.is_empty() {
            return vec!["It has none of its own.".to_owned()];
        }
        keys.iter().flat_map(|key| self.told(key)).collect()
    }

    fn own(&self, kind: &str) -> Vec<Key<'_>> {
        let all = self.schema["$defs"]["Check"]["oneOf"].as_array();
        let mut all = all.into_iter().flatten();
        let Some(table) = all.find(|it| it["title"] == kind) else {
            return Vec::new();
        };
        let required = |name: &str| {
            let names = table["required"].as_array();
            names.is_some_and(|names| names.iter().any(|it| it == name))
        };
        let parts = [table, self.behind(table)];
        let mut keys: Vec<Key<'_>> = Vec::new();
        for (name, table) in parts
            .iter()
            .filter_map(|it| it["properties"].as_object())
            .flatten()
        {
            let is_known = keys.iter().any(|key| key.name == name);
            if !is_known && !CheckHead::KEYS.contains(&name.as_str()) {
                let required = required(name);
                keys.push(Key {
                    name,
                    table,
                    required,
                });
            }
        }
        keys.sort_by_key(|key| !key.required);
        keys
    }

    /// What a schema refers to, or the schema itself.
    fn behind<'a>(&'a self, table: &'a Value) -> &'a Value {
        let any = table["anyOf"].as_array().and_then(|any| any.first());
        let items = table.get("items");
        let found = any.or(items).unwrap_or(table);
        let name = found["$ref"].as_str();
        let name = name.and_then(|it| it.strip_prefix("#/$defs/"));
        name.map_or(table, |name| &self.schema["$defs"][name])
    }

    fn told(&self, key: &Key<'_>) -> Vec<String> {
        let mut text = key.table["description"].as_str().unwrap_or("").to_owned();
        let one_of = self.behind(key.table)["oneOf"].as_array();
        let choices = one_of.into_iter().flatten();
        let choices: Vec<&str> = choices.filter_map(|it| it["const"].as_str()).collect();
        if !choices.is_empty() {
            text = format!("{text} One of {}.", choices.join(", "));
        }
        let default = &key.table["default"];
        let is_told = !default.is_null() && *default != Value::Array(Vec::new());
        if key.required {
            text.push_str(" [required]");
        } else if is_told && choices.len() != default.as_array().map_or(0, Vec::len) {
            text = format!("{text} [default: {default}]");
        }
        let lines = wrap(&text, WIDTH - 6).into_iter();
        std::iter::once(format!("  {}", key.name))
            .chain(lines.map(|line| format!("      {line}")))
            .collect()
    }
}
