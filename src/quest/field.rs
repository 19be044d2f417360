//! The fields that an agent fills in.

use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field_kind::Shape;

/// The name of a field, as its flag spells it.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct FieldName(Cow<'static, str>);

impl FieldName {
    /// A name that the program itself knows.
    #[must_use]
    pub const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The name's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for FieldName {
    fn from(name: String) -> Self {
        Self(Cow::Owned(name))
    }
}

impl Borrow<str> for FieldName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One field of a quest kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name and flag.
    pub name: FieldName,
    /// What belongs in it, in a few words.
    pub help: Cow<'static, str>,
    /// A value that would look right.
    pub example: Cow<'static, str>,
    /// Whether a submission must have it.
    pub required: bool,
    /// What its value has to look like.
    pub shape: Shape,
    /// Whether it is taken as it comes: no check has to go by it.
    pub unchecked: bool,
}

/// What stands for the example that nobody gave.
pub const NO_EXAMPLE: &str = "…";

impl Field {
    /// Whether somebody gave an example.
    #[must_use]
    pub fn has_example(&self) -> bool {
        self.example != NO_EXAMPLE
    }
}
