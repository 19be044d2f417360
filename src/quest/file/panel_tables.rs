//! `[[plant]]`: a defect that is known, by which reviewers are judged themselves.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quest::{ByteSize, Span};

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

const fn a_mebibyte() -> ByteSize {
    ByteSize::mebibytes(1)
}
