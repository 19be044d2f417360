//! `[fixer]`: a command that mends what checks with `on_fail = "fix"` found wrong.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::panel_tables::ReviewerNetwork;
use super::read::{Mistake, RawTable};
use crate::quest::field::{FieldKind, Shape};
use crate::quest::{ByteSize, Field, FieldName, Span};

/// `[fixer]`.
///
/// It is the operator's program, and runs in the working tree itself, where it may write. It is
/// started when a submission failed by checks with `on_fail = "fix"` alone, and reads
/// `{"quest": {"id", "key", "input"}, "facts": [{"rule", "expected", "actual", …}]}` on its standard
/// input. When it has ended well, and something in the zones has changed, the same submission is
/// judged again: an attempt like any other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixerTable {
    /// The program and its arguments, the same for every quest.
    pub argv: Vec<String>,
    /// Further variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The names of variables that are passed on to it when it is run. Their values are never kept.
    #[serde(default)]
    pub pass: Vec<String>,
    /// What it may reach.
    pub network: Option<ReviewerNetwork>,
    /// What it may write beside the tree, absolute.
    #[serde(default)]
    pub writable: Vec<String>,
    /// How long it may take.
    #[serde(default = "ten_minutes")]
    pub timeout: Span,
    /// How much it may print.
    #[serde(default = "a_mebibyte")]
    pub output_cap: ByteSize,
    /// How often it is started for one submission.
    #[serde(default = "three_times")]
    pub max_fixes: NonZeroU32,
}

const fn ten_minutes() -> Span {
    Span::from_millis(600_000)
}

const fn a_mebibyte() -> ByteSize {
    ByteSize::mebibytes(1)
}

const fn three_times() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

/// `[input]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputTable {
    /// What the list is; told from the file where it is not said.
    pub format: Option<InputFormat>,
    /// The column, or columns, of the quest's key; of a directory the path where it is not said.
    #[serde(default)]
    pub key: Vec<String>,
    /// The columns that the prompt shows.
    #[serde(default)]
    pub show: Vec<String>,
    /// The columns that checks go by: what the operator knows beforehand.
    #[serde(default)]
    pub anchor: Vec<String>,
    /// The column of the keys that must have passed first, parted by `;`.
    pub after: Option<String>,
    /// The sheet of a workbook.
    pub sheet: Option<String>,
    /// Which files of a directory are quests.
    pub glob: Option<String>,
    /// The command whose output lines are the list.
    #[serde(default)]
    pub argv: Vec<String>,
}

/// What a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InputFormat {
    /// A workbook.
    Xlsx,
    /// Delimited text.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// One key a line.
    Lines,
    /// The files of a directory.
    Dir,
    /// The output lines of a command.
    Command,
}

impl InputTable {
    /// The names of the columns that a prompt and a check may name as `input.NAME`.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.show.iter().chain(&self.anchor).map(String::as_str)
    }
}

/// `[[service]]`.
///
/// It listens on 127.0.0.1 at `{{ service.NAME.port }}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceTable {
    /// Its name.
    pub name: String,
    /// The program and its arguments, each a template.
    pub argv: Vec<String>,
    /// Further variables of its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment that are frozen for it.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// How it is known that it is ready.
    #[serde(default)]
    pub ready: ReadyTable,
    /// How long it may take to be ready.
    #[serde(default = "ten_seconds")]
    pub start_within: Span,
}

/// How it is known that a service is ready: one of these, else that its port is open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyTable {
    /// A path that answers a GET with a status of 2xx.
    pub path: Option<String>,
    /// A pattern that a line of its output matches.
    pub line: Option<String>,
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

/// `[tree]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeTable {
    /// Its directory, relative to the quest file; `scan --tree` says otherwise, and where neither
    /// does it is the directory in which `scan` runs.
    pub root: Option<String>,
    /// The zones in which an agent may change files, as globs. What it changes elsewhere reaches
    /// no check.
    #[serde(default)]
    pub write: Vec<String>,
    /// What does not belong to the tree, as globs.
    #[serde(default)]
    pub ignore: Vec<String>,
}

/// Names that are flags of `submit` already.
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
    /// The field that the table stands for; `example` is from `[example]`.
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

/// Whether `name` can be a field: a flag that no shell takes apart.
fn is_field_name(name: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}
