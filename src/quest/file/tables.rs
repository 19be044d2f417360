//! The tables of a quest file, as they are written.
//!
//! Their doc comments are the descriptions of `comail quest schema`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::quest::field::FieldKind;
use crate::quest::{
    Anchor, ByteSize, EmptyKey, FieldName, Key, Quest, QuestId, Shown, Span, Submission, Verdict,
};

/// `[fixer]`.
///
/// The operator's program, which runs in the working tree itself and may write there. It starts when
/// every check that failed a submission has `on_fail = "fix"`. It reads
/// `{"quest": {"id", "key", "input"}, "facts": [{"rule", "expected", "actual", …}]}` from standard
/// input. If it exits with 0 and has changed something in the zones, the same submission is judged
/// again, as an attempt of its own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixerTable {
    /// The program and its arguments, the same for every quest.
    pub argv: Vec<String>,
    /// Additional environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The names of variables to pass on when it runs. Their values are never stored.
    #[serde(default)]
    pub pass: Vec<String>,
    /// Which network it may use.
    pub network: Option<ReviewerNetwork>,
    /// The absolute paths that it may write, in addition to the tree.
    #[serde(default)]
    pub writable: Vec<String>,
    /// The time limit.
    #[serde(default = "ten_minutes")]
    pub timeout: Span,
    /// The limit of its output.
    #[serde(default = "a_mebibyte")]
    pub output_cap: ByteSize,
    /// How often it may start for one submission.
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
}

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InputFormat {
    /// A workbook.
    Xlsx,
    /// Delimited text.
    Csv,
    /// One JSON object per line.
    Jsonl,
    /// One key per line.
    Lines,
    /// The files of a directory.
    Dir,
}

impl InputTable {
    /// The names of the columns that a prompt and a check may name as `input.NAME`.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.show.iter().chain(&self.anchor).map(String::as_str)
    }
}

/// `[run]`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunTable {
    /// The agents of `comail run`, unless its command line or your configuration file names one. The
    /// first one begins each quest; the next one takes over after so many FAILs of the quest.
    #[serde(default)]
    pub(super) agents: Vec<AgentTable>,
}

/// An agent of `comail run`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentTable {
    /// A known agent, such as `claude`.
    pub agent: Option<String>,
    /// The model for it to use.
    pub model: Option<String>,
    /// Arguments that are added to its command line. Without `agent`, the whole command line.
    #[serde(default)]
    pub args: Vec<String>,
    /// After how many FAILs of a quest it takes over: more than for the agent before it, and fewer
    /// than the tries of a quest. The first agent has none.
    pub after: Option<u32>,
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
    /// Additional environment variables.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment that are frozen for it. Paths in them may be read.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// How comail detects that it is ready.
    #[serde(default)]
    pub ready: ReadyTable,
    /// How long it may take to be ready.
    #[serde(default = "ten_seconds")]
    pub start_within: Span,
}

/// How comail detects that a service is ready. Set one key. Default: when its port is open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyTable {
    /// A path that answers GET with a 2xx status.
    pub path: Option<String>,
    /// A pattern that matches a line of its output.
    pub line: Option<String>,
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

fn judge_again() -> u32 {
    100
}

/// `[tree]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeTable {
    /// Its directory, relative to the quest file. `scan --tree` overrides it. Default: the directory
    /// in which `scan` runs.
    pub root: Option<String>,
    /// Where an agent may change files, as globs. The last glob that matches a file decides, and
    /// one after a `!` forbids it. No check sees changes elsewhere.
    #[serde(default)]
    pub write: Vec<String>,
    /// What to leave out of the tree, as globs.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Whether to leave out what the tree's `.gitignore` files ignore. `scan` freezes their rules.
    #[serde(default = "yes")]
    pub gitignore: bool,
    /// Files and directories outside the tree that the checks' programs load, relative to the quest
    /// file. `scan` freezes them. The virtual environment and the `node_modules` of a program need no
    /// entry.
    #[serde(default)]
    pub runtime: Vec<String>,
    /// Whether each agent works in a worktree of its own, and each answer is judged together with all
    /// accepted work.
    #[serde(default)]
    pub worktrees: bool,
    /// The most earlier PASSes that are judged again with each answer, if there are worktrees. The
    /// rest are judged again by `report`.
    #[serde(default = "judge_again")]
    pub judge_again: u32,
}

/// `[[field]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldTable {
    /// Its name, which is also its flag.
    pub name: String,
    /// The kind of value.
    pub kind: FieldKind,
    /// Whether a submission must have it.
    #[serde(default = "yes")]
    pub required: bool,
    /// What the agent enters, in a few words.
    #[serde(default)]
    pub help: String,
    /// A pattern that must match the whole value.
    pub pattern: Option<String>,
    /// The least number, or the least length in characters.
    pub min: Option<i64>,
    /// The greatest number, or the greatest length in characters.
    pub max: Option<i64>,
    /// The values to choose from.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Whether to accept the field without a check.
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
    /// The site that the list names for the quest.
    pub anchor_site: Option<String>,
    /// Whether to judge as with `scan --set gate.role-only=true`.
    #[serde(default)]
    pub role_only: bool,
    /// The submitted fields.
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
    /// Values that other quests have already passed with, by field. An address also takes its domain.
    #[serde(default)]
    pub taken: BTreeMap<String, String>,
    /// The answer of each reviewer, by name. A control asks no model; without this key it has no
    /// reviewers.
    pub reviewed: Option<BTreeMap<String, String>>,
}

impl ControlTable {
    /// Its quest.
    pub fn quest(&self) -> Result<Quest, EmptyKey> {
        let cells = self.input.iter().map(|(label, text)| Shown {
            label: label.clone(),
            text: text.clone(),
        });
        Ok(Quest {
            anchor: self.anchor_site.clone().map(Anchor::Site),
            known: cells.collect(),
            rows: vec![1],
            ..Quest::new(QuestId::FIRST, Key::new(&self.key)?)
        })
    }

    /// These fields as a submission.
    pub fn submission(fields: &BTreeMap<String, String>) -> Submission {
        let fields = fields.iter();
        let fields = fields.map(|(name, text)| (FieldName::from(name.clone()), text.clone()));
        Submission::Fields(fields.collect())
    }
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

/// `[final]`: checks over the whole result when every quest is settled. Their templates cannot name
/// anything of a single quest or submission.
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

/// The gate parses the tables of checks. Their schema is long, so it has its own definition.
pub(super) fn checks(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"$ref": "#/$defs/Check"}})
}

/// `[final.negative]`: edits that the final gate must notice.
///
/// A final gate that passes judges a copy of the result with these edits. If the copy passes too,
/// the gate would pass anything, and counts as failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NegativeTable {
    /// The new text of files, inside or outside the zones.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files to remove.
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
    /// The inputs that it replaces. The other inputs are those of the submission under review.
    pub sees: BTreeMap<String, String>,
    /// The questions that a reviewer must doubt. A plant without any has no defect and measures how
    /// often a reviewer doubts without a reason.
    #[serde(default)]
    pub doubts: Vec<String>,
}

/// `[[question]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionTable {
    /// Its name, in kebab-case.
    pub id: String,
    /// The question. Yes is a doubt.
    pub ask: String,
    /// What an answer without a doubt must name, such as the compared sentences.
    pub checked: Option<String>,
}

/// `[panel]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelTable {
    /// How many of those that answered must doubt.
    #[serde(default)]
    pub threshold: Threshold,
    /// How many reviewers must answer a question; at least 2.
    #[serde(default = "twice")]
    pub quorum: u32,
    /// How often the agent first gets the doubts as facts. Each time uses a try, but never the last
    /// one. At most 10, and fewer than `max_tries`. A doubt remains until what it quotes is gone
    /// from what that reviewer sees.
    #[serde(default)]
    pub revisions: u32,
}

/// How many of the reviewers that answered must doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// At least half of them; a tie is a doubt. A reviewer without an answer counts as a doubt, so
    /// one of three may fail to answer.
    #[default]
    Majority,
    /// One of them. All must answer to clear a question.
    Any,
}

/// The default quorum and the default retries.
const fn twice() -> u32 {
    2
}

impl Default for PanelTable {
    fn default() -> Self {
        Self {
            threshold: Threshold::default(),
            quorum: twice(),
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
    /// The model. No two reviewers are the same model, and none is the agent's.
    pub model: String,
    /// For `command`: the program and its arguments. It reads the prompt from standard input and
    /// prints the answer and nothing else. Next to `answers`, it may report its usage, as
    /// `"usage":{"input_tokens":…,"output_tokens":…,"cost":…}`.
    #[serde(default)]
    pub argv: Vec<String>,
    /// For `command`: additional environment variables. Variables that make another program run,
    /// such as `PATH` or `LD_PRELOAD`, are refused.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// For `command`: the names of variables to pass on when it runs. Their values are never
    /// stored.
    #[serde(default)]
    pub pass: Vec<String>,
    /// For `command`: which network it may use.
    pub network: Option<ReviewerNetwork>,
    /// For `chat`: the base of its paths, such as `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// For `chat`: the environment variable that holds its key, if it needs one.
    pub key: Option<String>,
    /// The time limit for an answer.
    #[serde(default = "two_minutes")]
    pub timeout: Span,
    /// How often to ask again after no answer, each time after a longer pause.
    #[serde(default = "twice")]
    pub retries: u32,
    /// The size limit of an answer.
    #[serde(default = "a_mebibyte")]
    pub output: ByteSize,
    /// What it sees: `key`, `submission.FIELD`, `input.COLUMN`, `evidence.FIELD` (the page
    /// whose URL the field holds), `file.FIELD` (the file whose path it holds), `tree.diff`,
    /// `transform.CHECK` (what that check's command printed).
    pub sees: Vec<String>,
    /// The form of its answers.
    #[serde(default)]
    pub answers: AnswerForm,
}

/// How comail asks a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerKind {
    /// It runs a program.
    Command,
    /// It speaks the chat protocol of many model servers.
    Chat,
}

/// Which network a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewerNetwork {
    /// None.
    #[default]
    None,
    /// All of it.
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
    /// Places in files, each with a confidence from 0 to 100.
    Findings,
}

const fn two_minutes() -> Span {
    Span::from_millis(120_000)
}
