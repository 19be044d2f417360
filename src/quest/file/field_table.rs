//! `[[field]]`: one field of a submission.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mistake::Mistake;
use super::read::RawTable;
use crate::quest::field::{FieldKind, Shape};
use crate::quest::{Field, FieldName};

const TAKEN: &[&str] = &[
    "id", "key", "worker", "in", "none", "session", "json", "color", "help", "version",
];

/// `[[field]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldTable {
    /// Its name, and its flag.
    pub name: String,
    /// What belongs in it.
    pub kind: FieldKind,
    /// Whether a submission must have it.
    #[serde(default = "yes")]
    pub required: bool,
    /// What belongs in it, in a few words.
    #[serde(default)]
    pub help: String,
    /// A pattern that the whole value matches.
    pub pattern: Option<String>,
    /// The least number, or the least length in characters.
    pub min: Option<i64>,
    /// The greatest number, or the greatest length in characters.
    pub max: Option<i64>,
    /// The values that a choice is made of.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Whether it is taken as it comes: no check has to go by it, and nobody verifies what it says.
    #[serde(default)]
    pub unchecked: bool,
}

fn yes() -> bool {
    true
}

impl FieldTable {
    pub(super) fn field(
        &self,
        raw: &RawTable<'_>,
        text: &str,
        unit: &str,
        example: &str,
    ) -> Result<Field, Mistake> {
        let wrong = |key: &str, what: String| Mistake::at(text, &raw.spot_of(key), what);
        if !is_field_name(&self.name) {
            let what = format!(
                "`{}` cannot be a flag: a field's name is of a-z, 0-9, `-` and `_`, and begins \
                 with a letter",
                self.name
            );
            return Err(wrong("name", what));
        }
        if TAKEN.contains(&self.name.as_str()) || self.name == unit {
            let what = format!(
                "`{}` is a flag of `comail submit` already: name the field otherwise",
                self.name
            );
            return Err(wrong("name", what));
        }
        let shape = Shape::new(
            self.kind,
            self.pattern.as_deref(),
            (self.min, self.max),
            &self.choices,
        )
        .map_err(|unfit| wrong(unfit.key, unfit.what))?;
        Ok(Field {
            name: FieldName::from(self.name.clone()),
            help: self.help.clone().into(),
            example: example.to_owned().into(),
            required: self.required,
            shape,
            unchecked: self.unchecked,
        })
    }
}

fn is_field_name(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}
