//! Reads the accepted tree of a session from its stored changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use itertools::Itertools as _;
use jiff::Timestamp;

use crate::base::Digest;
use crate::judge::error::JudgeError;
use crate::judge::live_runs::start_of;
use crate::quest::{Key, QuestId};
use crate::session::{
    Attempt, Effective, Entry, Event, QuestRecord, RunStep, Session, SessionError, State, Unwatched,
};
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

/// The quests whose changes are in the accepted tree after an event, or as it is now, although they do
/// not count as PASS now: a person rejected, disputed or reopened them or has not decided, or their
/// PASS did not hold.
pub fn unproven_changes(
    session: &Session,
    event: Option<u64>,
) -> Result<Vec<QuestId>, SessionError> {
    if session.totals().accepted.is_none() {
        return Ok(Vec::new());
    }
    let steps = History::read(session)?.steps.into_iter();
    let until = |step: &AcceptedStep| event.is_none_or(|event| step.event.0 <= event);
    let quests: BTreeSet<_> = steps.filter(until).map(|step| step.quest).collect();
    let mut records = Vec::new();
    for quest in quests {
        records.extend(session.quest_record(quest)?);
    }
    Ok(unproven(&records))
}

fn unproven(changed: &[QuestRecord]) -> Vec<QuestId> {
    let counts = |record: &&QuestRecord| Effective::of(record).holds() && !record.is_disputed();
    let unproven = changed.iter().filter(|record| !counts(record));
    unproven.map(|record| record.id).collect()
}

/// Says that the result has the changes of these quests; none without quests.
pub fn says_unproven(quests: &[QuestId]) -> Option<String> {
    let (many, do_not) = match quests.len() {
        0 => return None,
        1 => ("1 quest".to_owned(), "does not"),
        many => (format!("{many} quests"), "do not"),
    };
    let numbers = quests.iter().join(", ");
    Some(format!(
        "the result holds changes of {many} that {do_not} count as PASS: {numbers}"
    ))
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

/// The stored changes that the accepted tree consists of, the last first.
pub(super) fn stored_changes(session: &Session) -> impl Iterator<Item = (Digest, AcceptedChange)> {
    let mut next = session.totals().accepted;
    std::iter::from_fn(move || {
        let digest = next?;
        let change = stored(session, digest)?;
        next = change.parent;
        Some((digest, change))
    })
}

/// The same, each with its quest.
pub fn accepted_changes(session: &Session) -> BTreeMap<Digest, QuestId> {
    stored_changes(session)
        .map(|(digest, change)| (digest, change.quest))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::quest::Quest;
    use crate::session::{Decision, Settled, Span};

    const LINE: Span = Span {
        offset: 0,
        length: 0,
    };

    #[test]
    fn changes_of_quests_that_do_not_count_as_pass_are_told() {
        for (state, decision, disputed, is_told) in rows! {
            State::Pass, None, false => false;
            State::Pass, None, true => true;
            State::Todo, None, false => true;
            State::Done, None, false => true;
            State::Review, None, false => true;
            State::Review, Some(Decision::Rejected), false => true;
            State::Review, Some(Decision::Accepted), false => false;
        } {
            let quest = Quest::new(QuestId::FIRST, Key::new("one").unwrap());
            let mut record = QuestRecord::new(&quest, LINE);
            record.progress.state = state;
            record.settled = decision.map(|decision| Settled {
                line: LINE,
                decision,
            });
            record.dispute = disputed.then_some(LINE);
            let told = unproven(&[record]);
            assert_eq!(!told.is_empty(), is_told, "{state} {decision:?} {disputed}");
        }
    }

    #[test]
    fn one_line_says_which_quests_they_are() {
        assert_eq!(says_unproven(&[]), None);
        let [one, other]: [QuestId; 2] = serde_json::from_str("[3, 7]").unwrap();
        let said = says_unproven(&[one]).unwrap();
        assert!(
            said.ends_with("1 quest that does not count as PASS: 3"),
            "{said}"
        );
        let said = says_unproven(&[one, other]).unwrap();
        assert!(
            said.ends_with("2 quests that do not count as PASS: 3, 7"),
            "{said}"
        );
    }
}
