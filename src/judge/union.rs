//! Judges the files of a worktree together with all accepted work.
//!
//! The accepted tree is the frozen tree and the files of every accepted answer. An answer's files are
//! laid over it, the gate judges the result, and what passed earlier is judged there again. The answer
//! is recorded only if the accepted tree is still the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::base::Digest;
use crate::gate::{Gate as _, Judgement, common_rules};
use crate::judge::accepted::{History, accepted_tree};
use crate::judge::audit::Live;
use crate::judge::error::JudgeError;
use crate::judge::kind::{JudgeWorld, SessionKind};
use crate::judge::passes::{judge_passes, passes, reviews, sentence};
use crate::judge::quest_file::Definition;
use crate::judge::worktree::{Worktree, WorktreeError, is_new};
use crate::quest::{Key, QuestId};
use crate::session::{Accepted, Manifest, Session};
use crate::world::evidence::Evidence;
use crate::world::sandbox::{SandboxConfig, TreeLook};
use crate::world::tree::{
    AcceptedChange, AcceptedTree, Changed, Snapshot, TreeError, TreePatch, TreePath, Union,
};

/// Where the files of an answer are.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    Worktree(&'a Worktree),
    /// They are changes to the frozen tree.
    Patch(&'a TreePatch),
}

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

/// The accepted tree of a session after an event, or as it is now, for people; the error says that
/// the session has none.
pub fn accepted_of(
    session: &Session,
    event: Option<u64>,
) -> Result<(AcceptedTree, SandboxConfig), JudgeError> {
    let (_, config) = with_worktrees(session)?;
    let head = match event {
        None => session.totals().accepted,
        Some(event) => {
            let history = History::read(session)?;
            if event >= history.events {
                return Err(JudgeError::NoSuchEvent(event));
            }
            history.at(event)
        }
    };
    let tree = accepted_tree(session, &config, head)?;
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

pub(super) fn with_worktrees(
    session: &Session,
) -> Result<(SessionKind, SandboxConfig), JudgeError> {
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

impl Worktree {
    /// Makes a worktree for a quest, unless it is already there.
    pub fn keep_or_make(session: &Session, quest: QuestId, dir: &Path) -> Result<(), JudgeError> {
        fs::create_dir_all(dir).map_err(WorktreeError::io("make", dir))?;
        let root = fs::canonicalize(dir).map_err(WorktreeError::io("find", dir))?;
        if is_new(session.dir(), &root, quest)? {
            let made = make_worktree(session, quest, &root, None)?;
            made.remember(session.dir(), quest)?;
        }
        Ok(())
    }
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
            // Its agent may have made it so that it cannot be read.
            let (mut ours, changes) = taken.map_err(|source| WorktreeError::NotRead {
                root: worktree.root.clone(),
                source,
            })?;
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
    let laid = laid.map_err(|source| match (source, files) {
        (source @ TreeError::TooMany { .. }, Source::Worktree(Worktree { root, .. })) => {
            let root = root.clone();
            JudgeError::from(WorktreeError::NotRead { root, source })
        }
        (source, _) => failed(&source),
    })?;
    match laid {
        Ok(union) => Ok((union, changes)),
        Err(conflicts) => Err(JudgeError::Conflicts(conflicts)),
    }
}

/// The earlier PASSes and REVIEWs, judged again over an answer's files.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// The judgement on files with which a PASS would no longer be PASS, or a REVIEW would be FAIL; `None`
    /// if there is none.
    pub(super) broken: Option<Judgement>,
    /// Those that were too many to be judged again.
    pub(super) left_out: Vec<QuestId>,
}

/// Judges the earlier PASSes and REVIEWs again that may see an answer's files, at most `most` of them.
pub(super) fn judge_earlier(
    session: &Session,
    laid: &Laid,
    most: usize,
) -> Result<Again, JudgeError> {
    let patch = &laid.change.patch;
    if patch.is_empty() {
        return Ok(Again::default());
    }
    let kind = SessionKind::load(session.manifest())?;
    let world = world_over(session, &kind, laid.look.clone())?;
    let repeats = kind.gate.accepts_repeats();
    let paths: BTreeSet<&TreePath> = patch.paths().collect();
    let may_see =
        |evidence: &Evidence| evidence.rests_on_machine(repeats) && evidence.may_see(&paths);
    let mut again = passes(session, &may_see)?;
    let reviews = reviews(session, &may_see)?;
    again.extend(&reviews);
    let left_out = again.split_off(most.min(again.len()));
    let live = judge_passes(session, world, &again, &|| false)?;
    if let Some((quest, why)) = live.failed.first() {
        return Err(JudgeError::NotAgain(format!("quest {quest}: {why}")));
    }
    let broken = no_longer(&live, &reviews);
    let suspects: Vec<QuestId> = broken.iter().map(|it| it.quest).collect();
    let before = broken_without(session, &kind, &suspects, &reviews)?;
    let broken = broken.into_iter().filter(|it| !before.contains(&it.quest));
    let broken: Vec<_> = broken
        .map(|Broken { quest, key, found }| {
            let holds = if reviews.contains(&quest) {
                "does not fail"
            } else {
                "still passes"
            };
            (format!("quest {quest} ({key}) {holds}"), found)
        })
        .collect();
    Ok(Again {
        broken: (!broken.is_empty()).then(|| common_rules::breaks_passed(broken)),
        left_out,
    })
}

struct Broken {
    quest: QuestId,
    key: Key,
    found: String,
}

/// The PASSes that are no PASS now, and the REVIEWs that are FAIL.
fn no_longer(live: &Live, reviews: &[QuestId]) -> Vec<Broken> {
    let silent = live.unanswered.iter().map(|it| (&it.place, &it.facts));
    let drift = live.drift.iter().map(|it| (&it.place, &it.facts));
    let broken = drift.chain(silent).filter_map(|(place, facts)| {
        let quest = place.quest?;
        let fails = || live.lost.iter().any(|it| it.quest == quest);
        (!reviews.contains(&quest) || fails()).then_some(Broken {
            quest,
            key: place.key.clone()?,
            found: facts.first().map(sentence).unwrap_or_default(),
        })
    });
    broken.collect()
}

/// Those of these quests that do not hold without the answer either: its agent did not break them.
fn broken_without(
    session: &Session,
    kind: &SessionKind,
    suspects: &[QuestId],
    reviews: &[QuestId],
) -> Result<BTreeSet<QuestId>, JudgeError> {
    let config = kind.sandbox_config(session.evidence(), session.dir().to_owned())?;
    let Some(config) = config.filter(|_| !suspects.is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let tree = accepted_tree(session, &config, session.totals().accepted)?;
    let world = world_over(session, kind, TreeLook::of(tree.snapshot, Vec::new()))?;
    let live = judge_passes(session, world, suspects, &|| false)?;
    let broken = no_longer(&live, reviews);
    Ok(broken.into_iter().map(|it| it.quest).collect())
}

fn world_over(
    session: &Session,
    kind: &SessionKind,
    look: TreeLook,
) -> Result<JudgeWorld, JudgeError> {
    let mut world = JudgeWorld::of(session, kind)?;
    world.show(look);
    Ok(world)
}

fn failed(error: &TreeError) -> JudgeError {
    JudgeError::Sandbox(error.to_string())
}
