//! What differs between a baseline and the working tree.

use serde::{Deserialize, Serialize};

use super::entry::{Entry, Odd};
use super::path::TreePath;

/// What differs, in the order of the paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// In the zones in which may be written.
    pub inside: Vec<Change>,
    /// Outside of them.
    pub outside: Vec<Change>,
    /// What no path can name, and was not there before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<Odd>,
}

/// One path at which the working tree is not the baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Change {
    /// The path.
    pub path: TreePath,
    /// How it differs.
    pub kind: ChangeKind,
}

/// How a path differs from the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A file or a link that was not there.
    Added,
    /// Other contents, another place that a link names, or a link for a file.
    Changed,
    /// It is gone.
    Removed,
    /// The same contents, which may be run now, or may not any more.
    Mode,
    /// What stands there is neither a file that can be read nor a link.
    Odd,
}

impl Changes {
    /// Whether the working tree is the baseline.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inside.is_empty() && self.outside.is_empty() && self.odd.is_empty()
    }
}

impl ChangeKind {
    /// How `now` differs from what was there before; none when it does not.
    #[must_use]
    pub fn between(before: Option<&Entry>, now: &Entry) -> Option<Self> {
        match (before, now) {
            (None, _) => Some(Self::Added),
            (Some(before), now) if before == now => None,
            (Some(Entry::File { sha256: old, .. }), Entry::File { sha256: new, .. })
                if old == new =>
            {
                Some(Self::Mode)
            }
            (Some(_), _) => Some(Self::Changed),
        }
    }
}
