//! Judges the files of a worktree together with all accepted work.
//!
//! The accepted tree is the frozen tree and the files of every accepted answer. An answer's files are
//! laid over it, the gate judges the result, and what passed earlier is judged there again. The answer
//! is recorded only if the accepted tree is still the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::base::Digest;
use crate::gate::{Gate as _, Judgement, common_rules};
use crate::judge::context::{JudgeContext, passes, sentence};
use crate::judge::error::JudgeError;
use crate::judge::kind::SessionKind;
use crate::judge::quest_file::Definition;
use crate::judge::regression::judge_passes;
use crate::judge::worktree::WorktreeError;
use crate::quest::QuestId;
use crate::session::{Accepted, Manifest, Session};
use crate::world::evidence::unpack;
use crate::world::sandbox::{SandboxConfig, TreeLook};
use crate::world::tree::{
    AcceptedChange, AcceptedTree, Changed, MAX_PATCH_BYTES, Snapshot, TreeError, TreePatch,
    TreePath, Union,
};

/// A copy of the accepted tree in which one agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub root: PathBuf,
    /// The last change of the accepted tree that it was copied from; `None` for the frozen tree.
    pub base: Option<Digest>,
}

/// Where the files of an answer are.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    Worktree(&'a Worktree),
    /// They are changes to the frozen tree.
    Patch(&'a TreePatch),
}

/// The longest stored text of a change: each byte of a file takes at most six.
const MAX_CHANGE_BYTES: u64 = 8 * MAX_PATCH_BYTES;

/// An answer's files over the accepted tree.
#[derive(Debug)]
pub struct Laid {
    pub(super) change: AcceptedChange,
    pub(super) look: TreeLook,
    /// What the ledger records; `None` if it changes nothing.
    pub(super) step: Option<Step>,
}

/// A step of the accepted tree, with the stored text of its change.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) accepted: Accepted,
    pub(super) text: Vec<u8>,
}

impl Step {
    fn of(change: &AcceptedChange) -> Result<Option<Self>, JudgeError> {
        if change.patch.is_empty() {
            return Ok(None);
        }
        change.patch.check_size()?;
        let text = change.text()?;
        let accepted = Accepted {
            change: Digest::of(&text),
            tree: change.tree,
            parent: change.parent,
        };
        Ok(Some(Self { accepted, text }))
    }
}

fn failed(error: &TreeError) -> JudgeError {
    JudgeError::Sandbox(error.to_string())
}

/// The accepted tree after the change `head`.
fn accepted_tree(
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

/// The accepted tree of a session, for people; the error says that the session has none.
pub fn accepted_of(session: &Session) -> Result<(AcceptedTree, SandboxConfig), JudgeError> {
    let (_, config) = with_worktrees(session)?;
    let tree = accepted_tree(session, &config, session.totals().accepted)?;
    Ok((tree, config))
}

/// The tree's directory, in a session with worktrees.
pub fn root_of_worktrees(manifest: &Manifest) -> Result<Option<PathBuf>, JudgeError> {
    let Some(definition) = Definition::of(manifest)? else {
        return Ok(None);
    };
    let has_worktrees = definition
        .file()?
        .tree
        .as_ref()
        .is_some_and(|tree| tree.worktrees);
    Ok(definition
        .tree
        .map(|tree| tree.root)
        .filter(|_| has_worktrees))
}

fn with_worktrees(session: &Session) -> Result<(SessionKind, SandboxConfig), JudgeError> {
    let kind = SessionKind::load(session.manifest())?;
    let config = kind.sandbox_config(session.evidence(), session.dir().to_owned())?;
    match config {
        Some(config) if kind.has_worktrees() => Ok((kind, config)),
        _ => Err(JudgeError::NoWorktrees),
    }
}

/// Copies the accepted tree into an empty folder. What an earlier worktree of the same quest has
/// changed is kept, unless accepted work has changed the same lines.
pub fn make_worktree(
    session: &Session,
    quest: QuestId,
    root: &Path,
    earlier: Option<&Worktree>,
) -> Result<Worktree, JudgeError> {
    let (_, config) = with_worktrees(session)?;
    let head = session.totals().accepted;
    let tree = accepted_tree(session, &config, head)?;
    let kept = earlier
        .and_then(|earlier| {
            lay_over(&tree, session, &config, quest, Source::Worktree(earlier)).ok()
        })
        .map(|(union, _)| union.snapshot);
    let snapshot = kept.unwrap_or(tree.snapshot);
    snapshot
        .write_to(root, &*config.load)
        .map_err(|error| failed(&error))?;
    Ok(Worktree {
        root: root.to_owned(),
        base: head,
    })
}

/// Lays the files of an answer over the accepted tree as it is now.
pub(super) fn lay(
    session: &Session,
    config: &SandboxConfig,
    quest: QuestId,
    files: Source<'_>,
) -> Result<Laid, JudgeError> {
    let tree = accepted_tree(session, config, session.totals().accepted)?;
    let (union, changes) = lay_over(&tree, session, config, quest, files)?;
    Ok(Laid {
        step: Step::of(&union.change)?,
        change: union.change,
        look: TreeLook::of(union.snapshot, changes),
    })
}

fn lay_over(
    tree: &AcceptedTree,
    session: &Session,
    config: &SandboxConfig,
    quest: QuestId,
    files: Source<'_>,
) -> Result<(Union, Vec<Changed>), JudgeError> {
    let (zones, ignored) = (&config.zones, &config.ignored);
    let base = match files {
        Source::Worktree(worktree) if worktree.base == tree.head => tree.clone(),
        Source::Worktree(worktree) => accepted_tree(session, config, worktree.base)?,
        Source::Patch(_) => AcceptedTree::of(&config.baseline),
    };
    let (ours, changes) = match files {
        Source::Worktree(worktree) => {
            let taken = Snapshot::take(&worktree.root, &base.snapshot.listing, zones, ignored);
            let (mut ours, changes) = taken.map_err(|error| failed(&error))?;
            let before = base.snapshot.listing.entries().keys();
            let before: Vec<_> = before.filter(|path| zones.contains(path)).collect();
            let is_there = |path: &&&TreePath| ours.listing.get(path).is_some();
            // Otherwise, an answer from an emptied directory would remove the work of all others.
            let is_gone = !before.is_empty() && !before.iter().any(|path| is_there(&path));
            if is_gone || worktree.root.is_symlink() {
                return Err(WorktreeError::Gone(worktree.root.clone()).into());
            }
            // Files that are as in the base have their contents there.
            for (digest, contents) in &base.snapshot.new_contents {
                ours.new_contents
                    .entry(*digest)
                    .or_insert_with(|| contents.clone());
            }
            (ours, changes)
        }
        Source::Patch(patch) => Snapshot::receive(patch, &config.baseline, zones, ignored)?,
    };
    let laid = tree.lay(quest, &base.snapshot, &ours, &*config.load);
    match laid.map_err(|error| failed(&error))? {
        Ok(union) => Ok((union, changes)),
        Err(conflicts) => Err(JudgeError::Conflicts(conflicts)),
    }
}

/// The judgement on files with which earlier PASSes would no longer be PASS; `None` if all of them
/// hold. At most `most` of them are judged again.
pub(super) fn broken(
    session: &Session,
    laid: &Laid,
    most: usize,
) -> Result<Option<Judgement>, JudgeError> {
    let patch = &laid.change.patch;
    if patch.is_empty() {
        return Ok(None);
    }
    let mut context = JudgeContext::of(session)?;
    context.world.show(laid.look.clone());
    let repeats = context.kind.gate.accepts_repeats();
    let paths: BTreeSet<&TreePath> = patch.paths().collect();
    let mut again = passes(session, &|evidence| {
        evidence.rests_on_machine(repeats) && evidence.may_see(&paths)
    })?;
    again.truncate(most);
    let live = judge_passes(session, context, again, &|| false)?;
    if let Some((quest, why)) = live.failed.first() {
        return Err(JudgeError::NotAgain(format!("quest {quest}: {why}")));
    }
    let silent = live.unanswered.iter().map(|it| (&it.place, &it.facts));
    let drift = live.drift.iter().map(|it| (&it.place, &it.facts));
    let broken = drift.chain(silent).map(|(place, facts)| {
        let quest = place.quest.map(|quest| quest.to_string());
        let key = place.key.as_ref().map(ToString::to_string);
        let name = format!(
            "quest {} ({})",
            quest.unwrap_or_default(),
            key.unwrap_or_default()
        );
        (name, facts.first().map(sentence).unwrap_or_default())
    });
    let broken: Vec<_> = broken.collect();
    Ok((!broken.is_empty()).then(|| common_rules::breaks_passed(broken)))
}
