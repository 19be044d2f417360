//! Checks a session against itself: everything that it says must follow from what it keeps.
//!
//! [`history`] reads the ledger and judges again in as many threads as the machine has, `replayed`
//! examines one line, and [`live`] asks the world again.

pub mod history;
pub mod live;
pub mod replayed;

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::gate::Fact;
use crate::judge::quest_file::Definition;
use crate::quest::{Key, QuestId};
use crate::session::QuestRecord;

pub use history::{Audited, NotedHead, Onlooker, Plan, Proven, walk};
pub use live::Live;
pub use replayed::Rested;

/// What does not follow from what the session keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is so, in one sentence.
    pub what: String,
    /// The facts of the judgement that is made now, where one is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A line of the ledger is not the next, or tells what cannot have happened.
    Ledger,
    /// `session.json` is not the one that the ledger begins with.
    Settings,
    /// A copy of a list is not what was scanned.
    Source,
    /// The ledger has not the head that was noted.
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
    /// The world says now what would not pass.
    Drift,
    /// A program that checks run is no longer what it was.
    Program,
    /// What only a person decides lacks the operator's seal.
    Seal,
    /// An address that was forgotten came back.
    Forgotten,
}

impl Kind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Settings => "settings",
            Self::Source => "source",
            Self::Head => "head",
            Self::Index => "index",
            Self::Answer => "answer",
            Self::Field => "field",
            Self::Evidence => "evidence",
            Self::Replay => "replay",
            Self::OtherLists => "other-lists",
            Self::Drift => "drift",
            Self::Program => "program",
            Self::Seal => "seal",
            Self::Forgotten => "forgotten",
        }
    }
}

/// A place in a session: a line of the ledger and a quest, as far as there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Place {
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The quest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quest: Option<QuestId>,
    /// Its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
}

impl Place {
    /// A line that is about no quest.
    #[must_use]
    pub fn of_line(line: u64) -> Self {
        Self {
            line: Some(line),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn of_quest(line: u64, standing: &QuestRecord) -> Self {
        Self {
            line: Some(line),
            quest: Some(standing.id),
            key: Some(standing.key.clone()),
        }
    }
}

impl Finding {
    /// A finding without facts.
    #[must_use]
    pub fn new(kind: Kind, place: Place, what: impl Into<String>) -> Self {
        Self {
            kind,
            place,
            what: what.into(),
            facts: Vec::new(),
        }
    }

    #[must_use]
    pub fn with(mut self, facts: Vec<Fact>) -> Self {
        self.facts = facts;
        self
    }
}

/// A finding for each program that is no longer what it was.
#[must_use]
pub fn programs(definition: &Definition) -> Vec<Finding> {
    let programs = definition.gathered.programs.iter();
    let changed = programs.filter_map(|(name, pinned)| {
        let change = pinned.changed()?;
        let path = pinned.path.display();
        let what = format!(
            "the program `{name}` ({path}) is not what it was at the scan: {change}; checks that \
             run it leave every answer to a person"
        );
        Some(Finding::new(Kind::Program, Place::default(), what))
    });
    changed.collect()
}

/// A note for each text that is not what it was, where it lay.
#[must_use]
pub fn edits(definition: &Definition) -> Vec<String> {
    let here = definition.here();
    let assets = definition.gathered.assets.iter();
    let assets = assets.map(|(name, text)| (here.join(name), Digest::of(text.as_bytes())));
    let file = (Path::new(&definition.path).to_owned(), definition.sha256);
    let texts = std::iter::once(file).chain(assets);
    texts
        .filter_map(|(path, frozen)| {
            let now = match fs::read(&path) {
                Ok(bytes) if Digest::of(&bytes) == frozen => return None,
                Ok(_) => "was edited",
                Err(_) => "cannot be read any more",
            };
            let path = path.display();
            Some(format!(
                "{path} {now} since the scan; the session goes by what it froze"
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_named_as_json_spells_it() {
        for kind in [
            Kind::Ledger,
            Kind::OtherLists,
            Kind::Answer,
            Kind::Program,
            Kind::Seal,
            Kind::Forgotten,
        ] {
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{:?}", kind.name()));
        }
    }

    #[test]
    fn a_place_stands_beside_what_is_found() {
        let finding = Finding::new(Kind::Head, Place::of_line(7), "gone");
        let json = serde_json::to_string(&finding).unwrap();
        assert_eq!(json, r#"{"kind":"head","line":7,"what":"gone"}"#);
    }
}
