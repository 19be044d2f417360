//! Reads the accepted tree of a session from its stored changes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jiff::Timestamp;

use crate::base::Digest;
use crate::judge::error::JudgeError;
use crate::judge::live_runs::start_of;
use crate::quest::{Key, QuestId};
use crate::session::{Attempt, Entry, Event, RunStep, Session, SessionError, State, Unwatched};
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

/// An event that added a change to the accepted tree.
#[derive(Debug)]
pub(super) struct AcceptedStep {
    pub(super) event: (u64, Digest),
    pub(super) at: Timestamp,
    pub(super) quest: QuestId,
    pub(super) key: Option<Key>,
    pub(super) attempt: u32,
    pub(super) state: State,
    /// The agent, or the worker's name.
    pub(super) author: Option<String>,
    pub(super) change: Digest,
}

/// The events of the ledger that made the accepted tree.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) steps: Vec<AcceptedStep>,
    pub(super) events: u64,
}

impl History {
    pub(super) fn read(session: &Session) -> Result<Self, SessionError> {
        let mut history = Self::default();
        let (mut keys, mut agents) = (BTreeMap::new(), BTreeMap::new());
        session.read_sound(&Unwatched, &mut |entry| {
            match &entry.event {
                Event::Quest(quest) => drop(keys.insert(quest.id, quest.key.clone())),
                Event::Run(line) => {
                    if let RunStep::Began(began) = &line.step {
                        agents.insert(line.run, began.agent.clone());
                    }
                }
                Event::Attempt(attempt) => {
                    let worker = attempt.worker.as_ref();
                    let run = worker
                        .and_then(start_of)
                        .and_then(|(run, _)| agents.get(&run));
                    let author = run.cloned().or_else(|| worker.map(ToString::to_string));
                    let key = keys.get(&attempt.quest).cloned();
                    history.steps.extend(step(entry, attempt, key, author));
                }
                _ => {}
            }
            history.events = entry.line.seq() + 1;
            ControlFlow::Continue(())
        })?;
        Ok(history)
    }

    /// The last change up to an event.
    pub(super) fn at(&self, event: u64) -> Option<Digest> {
        let mut steps = self.steps.iter().rev();
        let last = steps.find(|step| step.event.0 <= event)?;
        Some(last.change)
    }
}

fn step(
    entry: &Entry<'_>,
    attempt: &Attempt,
    key: Option<Key>,
    author: Option<String>,
) -> Option<AcceptedStep> {
    Some(AcceptedStep {
        event: (entry.line.seq(), entry.line.tip().head),
        at: entry.line.at(),
        quest: attempt.quest,
        key,
        attempt: attempt.number,
        state: attempt.state,
        author,
        change: attempt.accepted?.change,
    })
}

pub(super) fn stored(session: &Session, digest: Digest) -> Option<AcceptedChange> {
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
