//! `[input]`: how the list is read, where the flags of `scan` do not say otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.show.iter().chain(&self.anchor).map(String::as_str)
    }
}
