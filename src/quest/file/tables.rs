//! The tables of a quest file, as they are written.
//!
//! Their doc comments are the descriptions of `comail quest schema`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::quest::field::FieldKind;
use crate::quest::{ByteSize, Span, Verdict};

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
    /// The absolute paths that it may write, in addition to the tree.
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
    /// The format of the list. Default: detected from the file.
    pub format: Option<InputFormat>,
    /// The column or columns of the quest's key. Default for a directory: the path.
    #[serde(default)]
    pub key: Vec<String>,
    /// The columns that the prompt shows.
    #[serde(default)]
    pub show: Vec<String>,
    /// The columns that checks use: what the operator already knows.
    #[serde(default)]
    pub anchor: Vec<String>,
    /// The column of the keys that must pass first, separated by `;`.
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
    /// How to tell that it is ready.
    #[serde(default)]
    pub ready: ReadyTable,
    /// How long it may take to be ready.
    #[serde(default = "ten_seconds")]
    pub start_within: Span,
}

/// How to tell that a service is ready: one of these. Default: its port is open.
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
    /// Where an agent may change files, as globs. Changes elsewhere are not seen by any check.
    #[serde(default)]
    pub write: Vec<String>,
    /// What is not part of the tree, as globs.
    #[serde(default)]
    pub ignore: Vec<String>,
}

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
    /// Whether the field is accepted without a check: nobody verifies what it says.
    #[serde(default)]
    pub unchecked: bool,
}

fn yes() -> bool {
    true
}

/// `[[control]]`.
///
/// Paths in it are relative to the quest file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlTable {
    /// Its name.
    pub name: String,
    /// The key of its quest.
    pub key: String,
    /// The cells of its quest's row that checks and the prompt use.
    #[serde(default)]
    pub input: BTreeMap<String, String>,
    /// The site that the list names for its quest.
    pub anchor_site: Option<String>,
    /// Whether it is judged as with `scan --role-only`.
    #[serde(default)]
    pub role_only: bool,
    /// The fields that are submitted.
    #[serde(default)]
    pub submit: BTreeMap<String, String>,
    /// The verdict that it must get.
    #[schemars(with = "String", extend("enum" = ["PASS", "REVIEW", "FAIL"]))]
    pub verdict: Verdict,
    /// The rules that must fire, and no others. Default: any may fire.
    pub fires: Option<Vec<String>>,
    /// A directory to use as the tree that `scan` finds.
    pub tree: Option<String>,
    /// A directory whose files are used as what the agent wrote into the tree.
    pub writes: Option<String>,
    /// A recorded world, as JSON, to use instead of the network.
    pub world: Option<String>,
    /// Values that count as taken by quests which passed before, by the field's name; an address
    /// takes its domain as well.
    #[serde(default)]
    pub taken: BTreeMap<String, String>,
    /// What each reviewer answers, by its name: nobody is asked. Where it is not said no reviewer
    /// is heard.
    pub reviewed: Option<BTreeMap<String, String>>,
}

/// `[[final.control]]`: a known result with the verdict that the final gate must give it.
///
/// Paths in it are relative to the quest file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalControlTable {
    /// Its name.
    pub name: String,
    /// The verdict that it must get.
    #[schemars(with = "String", extend("enum" = ["PASS", "REVIEW", "FAIL"]))]
    pub verdict: Verdict,
    /// The rules that must fire, and no others. Default: any may fire.
    pub fires: Option<Vec<String>>,
    /// A directory to use as the tree that `scan` finds.
    pub tree: Option<String>,
    /// A directory whose files are used as what the agents wrote into the tree.
    pub writes: Option<String>,
    /// A recorded world, as JSON, to use instead of the network.
    pub world: Option<String>,
}

/// `[final]`: checks over the whole result, once every quest is settled. Their templates name
/// nothing of a quest or a submission.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FinalTable {
    #[schemars(schema_with = "checks")]
    #[serde(default, rename = "check")]
    _check: Vec<IgnoredAny>,
    /// Known results.
    #[serde(default)]
    pub(super) control: Vec<FinalControlTable>,
    pub(super) negative: Option<NegativeTable>,
}

/// Tables of checks are read by the gate. Their schema is named, for it is long.
pub(super) fn checks(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"$ref": "#/$defs/Check"}})
}

/// `[final.negative]`: edits that the final gate must notice.
///
/// After it has passed, it judges the result once more with these laid over a copy of it. If it
/// does not fail then, it would pass anything, and counts as not passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NegativeTable {
    /// Files of the tree, inside the zones or not, with the text that each has then.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files of the tree that are not there then.
    #[serde(default)]
    pub remove: Vec<String>,
    /// The rules that must fire, and no others. Default: any may fire.
    pub fires: Option<Vec<String>>,
}

/// `[[plant]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlantTable {
    /// Its name, in kebab-case.
    pub name: String,
    /// The inputs that it takes the place of; the others are those of the case in hand.
    pub sees: BTreeMap<String, String>,
    /// The questions that must be doubted. None: nothing is wrong with it, and it measures how
    /// often a reviewer doubts for nothing.
    #[serde(default)]
    pub doubts: Vec<String>,
}

/// `[[question]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionTable {
    /// Its name, in kebab-case.
    pub id: String,
    /// The question; yes is a doubt.
    pub ask: String,
    /// What an answer of no must name, such as the sentences that were compared.
    pub checked: Option<String>,
}

/// `[panel]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelTable {
    /// How many of those that answered must doubt.
    #[serde(default)]
    pub threshold: Threshold,
    /// The fewest reviewers that must have answered a question; at least 2.
    #[serde(default = "two")]
    pub quorum: u32,
    /// How often the agent is first sent the doubts as facts, each time for a try and never for
    /// the last one; at most 10, and fewer than `max_tries`. A doubt stands until what it quotes
    /// is gone from what that reviewer sees.
    #[serde(default)]
    pub revisions: u32,
}

/// How many of the reviewers that answered must doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// Half of them: a tie is a doubt. A question is cleared where it would be still if all who
    /// are silent had doubted, so of three one may be silent.
    #[default]
    Majority,
    /// One; so a question is cleared by all of them, and by no fewer.
    Any,
}

const fn two() -> u32 {
    2
}

impl Default for PanelTable {
    fn default() -> Self {
        Self {
            threshold: Threshold::default(),
            quorum: two(),
            revisions: 0,
        }
    }
}

/// `[[reviewer]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewerTable {
    /// Its name, in kebab-case.
    pub name: String,
    /// How it is asked.
    pub kind: ReviewerKind,
    /// The model that it is; no two reviewers are the same, and none is the generator.
    pub model: String,
    /// Of a command: the program and its arguments. It reads the prompt on its standard input, and
    /// prints the answer and nothing else; beside `answers` it may tell what it took, as
    /// `"usage":{"input_tokens":…,"output_tokens":…,"cost":…}`.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Of a command: further variables of its environment; none by which another program would
    /// be run, such as `PATH` or `LD_PRELOAD`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Of a command: the names of variables that are passed on to it when it is run. Their values
    /// are never kept.
    #[serde(default)]
    pub pass: Vec<String>,
    /// Of a command: what it may reach.
    pub network: Option<ReviewerNetwork>,
    /// Of a chat: what its paths are below, such as `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// Of a chat: the environment variable that holds its key, where it needs one.
    pub key: Option<String>,
    /// How long an answer may take.
    #[serde(default = "two_minutes")]
    pub timeout: Span,
    /// How often it is asked again when no answer came, each time after a longer pause.
    #[serde(default = "twice")]
    pub retries: u32,
    /// How long an answer may be.
    #[serde(default = "a_mebibyte")]
    pub output: ByteSize,
    /// What it is shown: `key`, `submission.FIELD`, `input.COLUMN`, `evidence.FIELD` (the page
    /// whose URL the field holds), `file.FIELD` (the file whose path it holds), `tree.diff`,
    /// `transform.CHECK` (what that check's command printed).
    pub sees: Vec<String>,
    /// The form of its answers.
    #[serde(default)]
    pub answers: AnswerForm,
}

/// How a reviewer is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerKind {
    /// By a program.
    Command,
    /// By the chat protocol that many servers of models speak.
    Chat,
}

/// What the program of a reviewer may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerNetwork {
    /// Nothing.
    #[default]
    None,
    /// Everything.
    #[serde(alias = "any")]
    Full,
}

/// The form of a reviewer's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerForm {
    /// One answer to each question.
    #[default]
    Questions,
    /// Places in files, each with how sure the reviewer is, from 0 to 100.
    Findings,
}

const fn two_minutes() -> Span {
    Span::from_millis(120_000)
}

const fn twice() -> u32 {
    2
}
