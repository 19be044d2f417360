//! What a PASS saw of the files of the tree.

use crate::base::Digest;
use crate::quest::QuestId;
use crate::world::evidence::{Asked, Evidence, Exchange, Told};
use crate::world::tree::TreePath;

/// What a PASS saw at one path of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rested {
    pub line: u64,
    pub quest: QuestId,
    pub path: TreePath,
    /// The digest of the file there; none where there was none that could be read.
    pub file: Option<Digest>,
}

/// What the evidence of the PASS in `line` tells of the files that were looked at.
///
/// Files that only a command read are not among them: of those nothing is recorded.
pub(super) fn rested(line: u64, quest: QuestId, evidence: &Evidence) -> Vec<Rested> {
    let files = evidence.exchanges.iter().filter_map(|exchange| {
        let Exchange::Workshop(asking) = exchange else {
            return None;
        };
        let Asked::File(path) = &asking.asked else {
            return None;
        };
        let file = match &asking.answer {
            Told::File(body) => Some(body.sha256),
            _ => None,
        };
        Some(Rested {
            line,
            quest,
            path: path.clone(),
            file,
        })
    });
    files.collect()
}
