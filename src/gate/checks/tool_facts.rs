//! `facts`: in which format a command's output is, and where it is.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::command_plan::tail;
use super::kind::{Flaw, MAX_FACTS};
use crate::gate::Fact;
use crate::gate::tools::{Complaints, Format};
use crate::world::sandbox::CommandResult;

/// How a command's output is read: the format's name, or a table.
#[derive(Debug, Clone)]
pub struct FactsTable(Table);

/// `facts = { … }`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The format.
    adapter: Format,
    /// `stdout`, `stderr`, or one of the check's `reports`.
    #[serde(default = "stdout")]
    from: String,
}

fn stdout() -> String {
    String::from("stdout")
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = FactsTable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a format, or a table with `adapter`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<FactsTable, E> {
        Ok(FactsTable(Table {
            adapter: Format::deserialize(StrDeserializer::new(name))?,
            from: stdout(),
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FactsTable, A::Error> {
        Table::deserialize(MapAccessDeserializer::new(map)).map(FactsTable)
    }
}

// Not an untagged enum, which would only say that neither fits.
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

/// How facts are read out of what a command printed.
pub struct ToolFacts {
    format: Format,
    from: String,
    min_passed: u32,
    max_skipped: Option<u32>,
}

impl ToolFacts {
    /// The reading that these keys stand for; none where they name no format.
    pub fn build(
        facts: Option<&FactsTable>,
        min_passed: Option<u32>,
        max_skipped: Option<u32>,
        reports: &[String],
    ) -> Result<Option<Self>, Flaw> {
        let bound = match (min_passed, max_skipped) {
            (Some(_), _) => Some("min_passed"),
            (None, Some(_)) => Some("max_skipped"),
            (None, None) => None,
        };
        let Some(FactsTable(table)) = facts else {
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
        let counts_tests = table.adapter.counts_tests();
        if let Some(key) = bound.filter(|_| !counts_tests) {
            let what = "the format of `facts` does not tell how many tests there were";
            return Err(Flaw::new(key, what));
        }
        Ok(Some(Self {
            // Where nothing has run nothing was shown, whatever the code says.
            min_passed: min_passed.unwrap_or(counts_tests.into()),
            max_skipped,
            format: table.adapter,
            from: table.from.clone(),
        }))
    }

    pub fn read(&self, ran: &CommandResult) -> Result<Complaints, String> {
        let bytes = match self.from.as_str() {
            "stdout" => &ran.stdout,
            "stderr" => &ran.stderr,
            report => ran
                .reports
                .get(report)
                .and_then(Option::as_ref)
                .ok_or_else(|| format!("the command made no {report}"))?,
        };
        let read = self.format.read(bytes);
        read.map_err(|unread| format!("in {}: {unread}", self.from))
    }

    /// Whether the output tells how many tests there were.
    pub fn counts_tests(&self) -> bool {
        self.format.counts_tests()
    }

    pub fn despite_success(&self, ran: &CommandResult) -> Vec<Fact> {
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

    /// At most [`MAX_FACTS`] of what the output complains of; the last one counts for the others.
    pub fn of_failure(&self, ran: &CommandResult) -> Vec<Fact> {
        let Ok(mut complaints) = self.read(ran) else {
            return Vec::new();
        };
        complaints.first.truncate(MAX_FACTS);
        let shown = u32::try_from(complaints.first.len()).unwrap_or(u32::MAX);
        if let Some(last) = complaints.first.last_mut() {
            last.count = complaints.count.saturating_sub(shown).saturating_add(1);
        }
        complaints.first
    }
}

/// That the command ended with a code which it must not end with.
pub fn wrong_code(codes: &[i32], code: i32, ran: &CommandResult, means: Option<&str>) -> Fact {
    let codes: Vec<_> = codes.iter().map(i32::to_string).collect();
    let expected = format!("it ends with the code {}", codes.join(" or "));
    let actual = format!("it ended with the code {code}: {}", tail(ran));
    Fact::wrong(expected, with_meaning(means, actual))
}

/// What a program printed, after the check's own words: by itself it may say little.
pub fn with_meaning(means: Option<&str>, actual: String) -> String {
    match means {
        Some(means) => format!("{means}: {actual}"),
        None => actual,
    }
}
