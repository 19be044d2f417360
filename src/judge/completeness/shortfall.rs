//! What stands against calling a session complete.

use schemars::JsonSchema;
use serde::Serialize;

use crate::quest::QuestId;

/// Whether a session is complete.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Completeness {
    /// What stands against it; nothing when it is complete.
    pub shortfalls: Vec<Shortfall>,
}

impl Completeness {
    /// Whether nothing stands against it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.shortfalls.is_empty()
    }
}

/// One thing that stands against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shortfall {
    /// What it is about.
    pub kind: ShortfallKind,
    /// The quests that it is about, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quests: Vec<QuestId>,
    /// What is so, in one sentence.
    pub what: String,
    /// The single findings, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// What a shortfall is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShortfallKind {
    /// Quests are TODO.
    Todo,
    /// Quests are claimed by workers that are gone.
    OrphanedClaims,
    /// The working tree was changed outside the zones in which may be written.
    TreeChanged,
    /// The working tree cannot be looked at.
    TreeUnread,
    /// What a PASS saw in a file of the write zones is no longer there.
    PassChanged,
    /// The ledger, or what it is bound to, cannot be believed.
    Ledger,
    /// A PASS does not follow from its evidence.
    NotReplayed,
    /// A line says what does not follow from what it rests on.
    Record,
    /// Not all PASSes were judged again.
    Unchecked,
    /// The checks over the whole result did not pass.
    FinalGate,
    /// Fewer quests passed than was asked for.
    MinPass,
}

impl ShortfallKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::OrphanedClaims => "orphaned-claims",
            Self::TreeChanged => "tree-changed",
            Self::TreeUnread => "tree-unread",
            Self::PassChanged => "pass-changed",
            Self::Ledger => "ledger",
            Self::NotReplayed => "not-replayed",
            Self::Record => "record",
            Self::Unchecked => "unchecked",
            Self::FinalGate => "final-gate",
            Self::MinPass => "min-pass",
        }
    }
}

impl Shortfall {
    /// A shortfall of no quest in particular.
    #[must_use]
    pub fn new(kind: ShortfallKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            quests: Vec::new(),
            what: what.into(),
            details: Vec::new(),
        }
    }

    #[must_use]
    pub fn of(mut self, quests: Vec<QuestId>) -> Self {
        self.quests = quests;
        self
    }

    #[must_use]
    pub fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}
