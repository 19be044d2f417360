//! Reads the accepted tree of a session from its stored changes.

use std::collections::BTreeMap;

use crate::base::Digest;
use crate::judge::error::JudgeError;
use crate::quest::QuestId;
use crate::session::Session;
use crate::world::evidence::unpack;
use crate::world::sandbox::{SandboxConfig, TreeLook};
use crate::world::tree::{
    AcceptedChange, AcceptedTree, Changed, MAX_PATCH_BYTES, Snapshot, TreePath,
};

/// The longest stored text of a change: each byte of a file takes at most six.
const MAX_CHANGE_BYTES: u64 = 8 * MAX_PATCH_BYTES;

/// The accepted tree after the change `head`.
pub(super) fn accepted_tree(
    session: &Session,
    config: &SandboxConfig,
    head: Option<Digest>,
) -> Result<AcceptedTree, JudgeError> {
    let find = |digest| stored(session, digest);
    Ok(AcceptedTree::read(&config.baseline, head, &find)?)
}

fn stored(session: &Session, digest: Digest) -> Option<AcceptedChange> {
    let packed = session.evidence().load(digest).ok()??;
    let text = unpack(&packed, MAX_CHANGE_BYTES).ok()?;
    (Digest::of(&text) == digest).then_some(())?;
    serde_json::from_slice(&text).ok()
}

/// The stored changes that the accepted tree consists of, each with its quest.
pub fn accepted_changes(session: &Session) -> BTreeMap<Digest, QuestId> {
    let mut changes = BTreeMap::new();
    let mut next = session.totals().accepted;
    while let Some((digest, change)) = next.and_then(|it| Some((it, stored(session, it)?))) {
        changes.insert(digest, change.quest);
        next = change.parent;
    }
    changes
}

/// The accepted tree as it is now, with its changes to the frozen tree.
pub(super) fn accepted_look(
    session: &Session,
    config: &SandboxConfig,
) -> Result<TreeLook, JudgeError> {
    let tree = accepted_tree(session, config, session.totals().accepted)?;
    let changes = changes(&Snapshot::of(&config.baseline), &tree.snapshot);
    Ok(TreeLook::of(tree.snapshot, changes))
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<Changed> {
    let differing = after.listing.differing(&before.listing);
    let paths = differing
        .into_iter()
        .filter_map(|path| TreePath::parse(path).ok());
    let changed = paths.map(|path| {
        let [was, is] = [before, after].map(|tree| tree.listing.get(&path).is_some());
        let how = match (was, is) {
            (false, _) => "added",
            (true, true) => "changed",
            (true, false) => "removed",
        };
        Changed {
            path: path.to_string(),
            how: how.to_owned(),
            inside: true,
        }
    });
    changed.collect()
}
