//! `facts`: in which format a command's output is, and where it stands.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::orders::tail;
use crate::gate::Fact;
use crate::gate::checks::kind::{Flaw, MAX_FACTS};
use crate::gate::tools::{Adapter, Complaint, Complaints};
use crate::world::sandbox::Ran;

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

#[derive(Debug, Clone, Default)]
pub struct ToolKeys {
    pub facts: Option<FactsTable>,
    /// The fewest tests that must have passed.
    pub min_passed: Option<u32>,
    /// The most tests that may have been skipped.
    pub max_skipped: Option<u32>,
}

#[derive(Debug)]
pub struct ToolFacts {
    adapter: Adapter,
    from: String,
    min_passed: u32,
    max_skipped: Option<u32>,
}

impl ToolFacts {
    /// The reading that these keys stand for; none where they name no format.
    pub fn build(keys: ToolKeys, reports: &[String]) -> Result<Option<Self>, Flaw> {
        let bound = match (keys.min_passed, keys.max_skipped) {
            (Some(_), _) => Some("min_passed"),
            (None, Some(_)) => Some("max_skipped"),
            (None, None) => None,
        };
        let Some(table) = keys.facts else {
            let needs = |key| Flaw::new(key, "it needs `facts`, which tells how tests are counted");
            return bound.map_or(Ok(None), |key| Err(needs(key)));
        };
        let is_stream = ["stdout", "stderr"].contains(&table.from.as_str());
        if !is_stream && !reports.contains(&table.from) {
            let what = format!(
                "`{}` is neither stdout, nor stderr, nor one of `reports`",
                table.from
            );
            return Err(Flaw::new("facts", what));
        }
        let adapter = table.adapter()?;
        if let (Some(key), false) = (bound, adapter.counts_tests()) {
            return Err(Flaw::new(
                key,
                "the format of `facts` does not tell how many tests there were",
            ));
        }
        Ok(Some(Self {
            // Where nothing has run nothing was shown, whatever the code says.
            min_passed: keys.min_passed.unwrap_or(adapter.counts_tests().into()),
            max_skipped: keys.max_skipped,
            adapter,
            from: table.from,
        }))
    }

    pub fn read(&self, ran: &Ran) -> Result<Complaints, String> {
        let bytes = match self.from.as_str() {
            "stdout" => &ran.stdout,
            "stderr" => &ran.stderr,
            report => ran
                .reports
                .get(report)
                .and_then(Option::as_ref)
                .ok_or_else(|| format!("the command made no {report}"))?,
        };
        let read = self.adapter.read(bytes);
        read.map_err(|unread| format!("in {}: {unread}", self.from))
    }

    /// Whether the output tells how many tests there were.
    #[must_use]
    pub fn counts_tests(&self) -> bool {
        self.adapter.counts_tests()
    }

    #[must_use]
    pub fn despite_success(&self, ran: &Ran) -> Vec<Fact> {
        if !self.counts_tests() {
            return Vec::new();
        }
        let least = format!("at least {} passed tests", self.min_passed);
        let complaints = match self.read(ran) {
            Ok(complaints) => complaints,
            Err(_) if self.min_passed == 0 && self.max_skipped.is_none() => return Vec::new(),
            Err(why) => {
                let actual = format!("the command ended well, and tells of no test: {why}");
                return vec![Fact::wrong(least, actual)];
            }
        };
        let seen = complaints.seen.unwrap_or_default();
        let mut found = Vec::new();
        if seen.failed > 0 {
            let actual = format!("the command ended well, and {} tests failed", seen.failed);
            found.push(Fact::wrong("no failed test", actual));
        }
        if seen.passed < self.min_passed {
            found.push(Fact::wrong(least, format!("{} passed", seen.passed)));
        }
        if let Some(most) = self.max_skipped.filter(|most| seen.skipped > *most) {
            let expected = format!("at most {most} skipped tests");
            found.push(Fact::wrong(expected, format!("{} skipped", seen.skipped)));
        }
        found
    }

    #[must_use]
    pub fn of_failure(&self, ran: &Ran) -> Vec<Fact> {
        match self.read(ran) {
            Ok(complaints) => {
                let found = complaints.first.into_iter().map(detail);
                capped(found.collect(), complaints.count)
            }
            Err(_) => Vec::new(),
        }
    }
}

fn detail(complaint: Complaint) -> Fact {
    let actual = match complaint.name {
        Some(name) => format!("{name}: {}", complaint.actual),
        None => complaint.actual,
    };
    Fact {
        location: complaint.location,
        ..Fact::wrong(complaint.expected, actual)
    }
}

/// At most [`MAX_FACTS`] of what was found, the last of which counts for the rest of `total`.
#[must_use]
pub fn capped(mut found: Vec<Fact>, total: u32) -> Vec<Fact> {
    found.truncate(MAX_FACTS);
    let shown = u32::try_from(found.len()).unwrap_or(u32::MAX);
    if let Some(last) = found.last_mut() {
        last.count = total.saturating_sub(shown).saturating_add(1);
    }
    found
}

/// That the command ended with a code which it must not end with.
#[must_use]
pub fn wrong_code(codes: &[i32], code: i32, ran: &Ran, means: Option<&str>) -> Fact {
    let codes: Vec<_> = codes.iter().map(i32::to_string).collect();
    let expected = format!("it ends with the code {}", codes.join(" or "));
    let actual = format!("it ended with the code {code}: {}", tail(ran));
    Fact::wrong(expected, with_meaning(means, actual))
}

/// What a program printed, after the check's own words: by itself it may say little.
#[must_use]
pub fn with_meaning(means: Option<&str>, actual: String) -> String {
    match means {
        Some(means) => format!("{means}: {actual}"),
        None => actual,
    }
}
