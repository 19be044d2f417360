//! The inputs that a quest file can show to a reviewer.

use std::fmt;
use std::str::FromStr;

use crate::base::serde_as_text;
use serde::{Deserialize, Serialize};

use super::FieldName;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ReviewInput {
    Key,
    Submission(FieldName),
    Input(String),
    /// `evidence.FIELD`: the text of the page whose URL the field holds.
    Evidence(FieldName),
    File(FieldName),
    TreeDiff,
    Transform(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?}: expected `key`, `submission.FIELD`, `input.COLUMN`, `evidence.FIELD`, `file.FIELD`, \
     `tree.diff` or `transform.CHECK`"
)]
pub struct BadReviewInput(String);

impl ReviewInput {
    pub fn field(&self) -> Option<&FieldName> {
        match self {
            Self::Submission(field) | Self::Evidence(field) | Self::File(field) => Some(field),
            Self::Key | Self::Input(_) | Self::TreeDiff | Self::Transform(_) => None,
        }
    }

    /// Whether it contains more than the agent's own words: a page, the output of a program, or the
    /// difference from the tree at the scan.
    pub fn differs(&self) -> bool {
        matches!(
            self,
            Self::Evidence(_) | Self::TreeDiff | Self::Transform(_)
        )
    }
}

impl FromStr for ReviewInput {
    type Err = BadReviewInput;

    fn from_str(text: &str) -> Result<Self, BadReviewInput> {
        match text {
            "key" => return Ok(Self::Key),
            "tree.diff" => return Ok(Self::TreeDiff),
            _ => {}
        }
        let bad = || BadReviewInput(text.to_owned());
        let (group, name) = text.split_once('.').ok_or_else(bad)?;
        if name.is_empty() {
            return Err(bad());
        }
        let name = name.to_owned();
        Ok(match group {
            "submission" => Self::Submission(name.into()),
            "input" => Self::Input(name),
            "evidence" => Self::Evidence(name.into()),
            "file" => Self::File(name.into()),
            "transform" => Self::Transform(name),
            _ => return Err(bad()),
        })
    }
}

impl fmt::Display for ReviewInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key => f.write_str("key"),
            Self::Submission(field) => write!(f, "submission.{field}"),
            Self::Input(column) => write!(f, "input.{column}"),
            Self::Evidence(field) => write!(f, "evidence.{field}"),
            Self::File(field) => write!(f, "file.{field}"),
            Self::TreeDiff => f.write_str("tree.diff"),
            Self::Transform(check) => write!(f, "transform.{check}"),
        }
    }
}

serde_as_text!(ReviewInput);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_round_trip() {
        let all = [
            "key",
            "submission.summary",
            "input.first name",
            "evidence.source",
            "file.test_file",
            "tree.diff",
            "transform.back",
        ];
        for text in all {
            let sight: ReviewInput = text.parse().unwrap();
            assert_eq!(sight.to_string(), text);
        }
        for bad in ["", "keys", "tree.files", "submission", "input.", "page.url"] {
            assert!(bad.parse::<ReviewInput>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_agents_own_words_do_not_differ() {
        let differs = |text: &str| text.parse::<ReviewInput>().unwrap().differs();
        assert!(differs("evidence.source") && differs("tree.diff") && differs("transform.back"));
        assert!(!differs("submission.a") && !differs("file.a") && !differs("input.a"));
    }
}
