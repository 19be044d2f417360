//! `facts`: in which format a command's output is, and where it stands.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::gate::checks::kind::Flaw;
use crate::gate::tools::Adapter;

/// How a command's output is read: the format's name, or a table.
#[derive(Debug, Clone)]
pub struct FactsTable {
    format: Format,
    /// Where it stands: `stdout`, `stderr`, or a report.
    pub from: String,
    pattern: Option<String>,
}

/// `facts = { … }`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The format.
    adapter: Format,
    /// `stdout`, `stderr`, or one of the check's `reports`.
    #[serde(default = "stdout")]
    from: String,
    /// The pattern of the format `regex`, with groups such as `(?<file>…)` and `(?<message>…)`.
    pattern: Option<String>,
}

/// A format that facts are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `JUnit`'s XML.
    Junit,
    /// The Static Analysis Results Interchange Format.
    Sarif,
    /// Lines such as `file:line:column: message`.
    Lines,
    /// The JSON lines of `cargo --message-format=json`.
    Cargo,
    /// The JSON lines of `go test -json`.
    GoTest,
    /// A pattern.
    Regex,
}

fn stdout() -> String {
    String::from("stdout")
}

impl FactsTable {
    /// The reader of the format.
    pub fn adapter(&self) -> Result<Adapter, Flaw> {
        let flaw = |what: &str| Flaw::new("facts", what);
        Ok(match (self.format, self.pattern.as_deref()) {
            (Format::Regex, Some(pattern)) => {
                let pattern = pattern.parse();
                Adapter::Regex(pattern.map_err(|bad| Flaw::new("facts", format!("{bad}")))?)
            }
            (Format::Regex, None) => return Err(flaw("the format `regex` needs a `pattern`")),
            (_, Some(_)) => return Err(flaw("`pattern` belongs to the format `regex` alone")),
            (Format::Junit, None) => Adapter::JunitXml,
            (Format::Sarif, None) => Adapter::Sarif,
            (Format::Lines, None) => Adapter::Lines,
            (Format::Cargo, None) => Adapter::CargoJson,
            (Format::GoTest, None) => Adapter::GoTestJson,
        })
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = FactsTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a format, or a table with `adapter`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<FactsTable, E> {
        Ok(FactsTable {
            format: Format::deserialize(StrDeserializer::new(name))?,
            from: stdout(),
            pattern: None,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FactsTable, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(FactsTable {
            format: table.adapter,
            from: table.from,
            pattern: table.pattern,
        })
    }
}

impl<'de> Deserialize<'de> for FactsTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for FactsTable {
    fn schema_name() -> Cow<'static, str> {
        "FactsTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Format>();
        let table = generator.subschema_for::<Table>();
        json_schema!({"anyOf": [name, table]})
    }
}
