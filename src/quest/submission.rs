//! What an agent proposes for one quest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FieldName;
use crate::base::Digest;

/// The fields of a submission, in the order of their names.
pub type Fields = BTreeMap<FieldName, String>;

/// What an agent proposes for one quest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Submission {
    /// An answer: every field as submitted, not repaired in any way.
    Fields(Fields),
    /// No answer, and why.
    None(String),
}

impl Submission {
    /// The field's text; `None` when it was not submitted.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        match self {
            Self::Fields(fields) => fields.get(name).map(String::as_str),
            Self::None(_) => None,
        }
    }

    /// The digest of its canonical JSON, by which a repeat is known.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let canonical = serde_json::json!(self).to_string();
        Digest::of(canonical.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_fields_does_not_count() {
        let one: Submission = serde_json::from_str(r#"{"fields":{"a":"1","b":"2"}}"#).unwrap();
        let two: Submission = serde_json::from_str(r#"{"fields":{"b":"2","a":"1"}}"#).unwrap();
        assert_eq!(one.digest(), two.digest());
        let three: Submission = serde_json::from_str(r#"{"fields":{"a":"1","b":"3"}}"#).unwrap();
        assert_ne!(one.digest(), three.digest());
        assert_ne!(Submission::None("1".into()).digest(), one.digest());
    }
}
