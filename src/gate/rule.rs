//! The rules that checks fire: how grave each is, what would settle it, and what a check costs.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule's name in kebab-case.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct RuleId(Cow<'static, str>);

impl RuleId {
    pub const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    pub const fn given(name: String) -> Self {
        Self(Cow::Owned(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for RuleId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a fired rule means for the verdict. There is no level that switches a rule off.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A person must look.
    Review,
    Fail,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Review => "REVIEW",
            Self::Fail => "FAIL",
        })
    }
}

/// Why a rule fires: whether the answer is at fault or could not be verified.
///
/// Code that needs to know this asks the cause and never compares the names of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The submission contradicts what was looked up.
    #[default]
    Wrong,
    /// A lookup gave no definite answer; asking again later may give one.
    Unanswered,
    /// What answered may not or cannot be read.
    Unreadable,
    /// The evidence can be read in more than one way, so a person decides.
    Ambiguous,
}

impl Cause {
    /// Whether the submission itself is at fault.
    pub fn is_wrong(&self) -> bool {
        *self == Self::Wrong
    }
}

/// The levels that the operator set at scan, by rule.
pub type Levels = BTreeMap<RuleId, Level>;

/// One rule of a gate's catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// What its firing means for the verdict.
    pub level: Level,
    /// Why it fires.
    pub cause: Cause,
    /// What it means that it fired: one line.
    pub meaning: Cow<'static, str>,
    /// What would flip the verdict: one line, addressed to the agent.
    pub remedy: Cow<'static, str>,
}

impl Rule {
    /// A rule that is part of the program. At level FAIL its cause is [`Cause::Wrong`], at level
    /// REVIEW [`Cause::Ambiguous`], unless [`Rule::because`] says otherwise.
    pub const fn known(
        id: &'static str,
        level: Level,
        meaning: &'static str,
        remedy: &'static str,
    ) -> Self {
        Self {
            id: RuleId::known(id),
            level,
            cause: match level {
                Level::Fail => Cause::Wrong,
                Level::Review => Cause::Ambiguous,
            },
            meaning: Cow::Borrowed(meaning),
            remedy: Cow::Borrowed(remedy),
        }
    }

    pub const fn because(mut self, cause: Cause) -> Self {
        self.cause = cause;
        self
    }
}

/// What a check costs; dearer checks run only when no cheaper one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Looks at the submission alone.
    Local,
    /// Looks at files of the tree.
    Tree,
    /// Reads pages.
    Page,
    /// Asks DNS.
    Dns,
    /// Reads further pages, or what the session knows.
    Wide,
    /// Runs a command.
    Command,
    /// Runs commands again and again.
    Heavy,
}
