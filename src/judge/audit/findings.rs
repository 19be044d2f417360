//! What an audit finds, and where.

use std::fmt;
use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::gate::Fact;
use crate::judge::quest_file::Definition;
use crate::quest::{Key, QuestId};
use crate::session::QuestRecord;
use crate::world::tree::TreePath;

/// What does not follow from what the session keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    pub kind: FindingKind,
    #[serde(flatten)]
    pub place: Place,
    /// What was found, in one sentence.
    pub what: String,
    /// The facts of the judgement that is made now, where one is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A line of the ledger breaks the chain, or describes what cannot have happened.
    Ledger,
    /// `session.json` is not the one that the ledger begins with.
    Settings,
    /// A copy of a list is not what was scanned.
    Source,
    /// The ledger does not contain the head that was noted.
    Head,
    /// The index did not fit the ledger.
    Index,
    /// What the session told the gate is not what its ledger says.
    Answer,
    /// A field of a line does not follow from its judgement.
    Field,
    /// Evidence is missing, or was changed.
    Evidence,
    /// Evidence leads to another judgement than the recorded one.
    Replay,
    /// The same, where the session was judged by other lists or another program.
    OtherLists,
    /// A PASS that would not pass by the world as it is now.
    Drift,
    /// A program that checks run was changed.
    Program,
    /// A person's decision is not signed by the operator.
    Seal,
    /// An address that was forgotten came back.
    Forgotten,
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A place in a session: a line of the ledger and a quest, as far as there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Place {
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quest: Option<QuestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
}

impl Place {
    /// A line and its quest, if it has one.
    pub fn of(line: u64, quest: Option<&QuestRecord>) -> Self {
        Self {
            line: Some(line),
            quest: quest.map(|quest| quest.id),
            key: quest.map(|quest| quest.key.clone()),
        }
    }
}

impl Finding {
    pub fn new(kind: FindingKind, place: Place, what: impl Into<String>) -> Self {
        Self {
            kind,
            place,
            what: what.into(),
            facts: Vec::new(),
        }
    }
}

#[derive(Debug, Default)]
pub struct Audited {
    pub findings: Vec<Finding>,
    /// Lines that cannot be judged again, because an address was removed from their evidence.
    pub forgotten: Vec<Place>,
    pub checked: Checked,
    pub noted: Option<NotedHead>,
    pub proven: Vec<Proven>,
    pub files: Vec<SeenFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven {
    pub line: u64,
    pub quest: QuestId,
    /// Whether other lists or another program judged it, and this program disagrees. Then the current
    /// world cannot show whether it drifted.
    pub by_others: bool,
    /// Whether it rests on a tree, commands or services, and not only on the network.
    pub on_machine: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Checked {
    pub lines: u64,
    pub quests: usize,
    /// Judgements whose fields were compared with them.
    pub judgements: u64,
    /// PASSes and confirmations, which were judged again from their evidence.
    pub passes: u64,
}

/// A head that was noted earlier and is one of this chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotedHead {
    /// The line that it is the hash of.
    pub line: u64,
    /// How many lines have come since.
    pub since: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenFile {
    pub line: u64,
    pub quest: QuestId,
    pub path: TreePath,
    /// The file's digest; `None` if there was no readable file.
    pub file: Option<Digest>,
}

impl Audited {
    pub(super) fn add(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.forgotten.extend(other.forgotten);
        self.checked.judgements += other.checked.judgements;
        self.checked.passes += other.checked.passes;
        self.proven.extend(other.proven);
        self.files.extend(other.files);
    }

    pub(super) fn sort(&mut self) {
        self.findings.sort_by_key(|finding| finding.place.line);
        self.proven.sort_by_key(|proven| proven.line);
        self.files.sort_by_key(|file| file.line);
        self.forgotten.sort_by_key(|place| place.line);
    }
}

pub fn programs(definition: &Definition) -> Vec<Finding> {
    let programs = definition.gathered.programs.iter();
    let changed = programs.filter_map(|(name, pinned)| {
        let change = pinned.changed()?;
        let path = pinned.path.display();
        let what = format!(
            "the program `{name}` ({path}) has changed since the scan: {change}; checks that run \
             it judge nothing until it is restored"
        );
        Some(Finding::new(FindingKind::Program, Place::default(), what))
    });
    changed.collect()
}

/// Notes about the quest file and assets that were edited since the scan, or about the command line
/// that replaces the file.
pub fn edits(definition: &Definition) -> Vec<String> {
    let here = definition.here();
    let assets = definition.gathered.assets.iter();
    let assets = assets.map(|(name, text)| (here.join(name), Digest::of(text.as_bytes())));
    let file = (Path::new(&definition.path).to_owned(), definition.sha256);
    let file = definition.command.is_none().then_some(file);
    let edited = file.into_iter().chain(assets);
    let edited = edited.filter_map(|(path, frozen)| {
        let now = match fs::read(&path) {
            Ok(bytes) if Digest::of(&bytes) == frozen => return None,
            Ok(_) => "was edited",
            Err(_) => "cannot be read any more",
        };
        let path = path.display();
        Some(format!(
            "{path} {now} since the scan; the session uses its own copy"
        ))
    });
    let made = definition.command.iter();
    let made =
        made.map(|command| format!("the gate was made by `{command}`, and no file defines it"));
    made.chain(edited).collect()
}

pub fn notes(places: &[Place]) -> Vec<String> {
    let note = |place: &Place| {
        let line = place.line.unwrap_or_default();
        let quest = place.quest.map(|id| format!(", quest {id}"));
        let quest = quest.unwrap_or_default();
        format!("line {line}{quest}: an address was forgotten, so it is not judged again")
    };
    places.iter().map(note).collect()
}
