//! What a gate may say of a submission.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a gate says of a submission.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Every fact held.
    Pass,
    /// A person must look: something could not be confirmed, or is ambiguous.
    Review,
    /// A fact does not hold.
    Fail,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Review => "REVIEW",
            Self::Fail => "FAIL",
        })
    }
}
