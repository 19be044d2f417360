//! The panel of reviewers as a session freezes it, in `session.json` as `kind.reviewers`.
//!
//! ```text
//! {"text":"[[reviewer]]…","path":"/…/reviewers.toml","generator_model":"large-1",
//!  "gathered":{"programs":{"llm":{"path":…,"target":…,"sha256":…}},"variables":{"PATH":"…"}},
//!  "scratch":"/tmp","confinement":{…}}
//! ```
//!
//! `text` and `path` are missing where the quest file itself has the panel. No key is frozen, nor
//! any value of a variable that is passed on when a reviewer is asked.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::gate::checks::outside::Gathered;
use crate::gate::checks::reviewers_hold;
use crate::judge::error::JudgeError;
use crate::judge::panel::Members;
use crate::judge::quest_file::{BenchError, Definition, Faulty, Gathering, confinement};
use crate::quest::email;
use crate::quest::file::{Mistake, Panel, QuestFile};
use crate::session::Manifest;
use crate::world::sandbox::{Bench, Confinement, Launcher};
use crate::world::tree::{Ignored, Listing, Zones};

/// A panel as a session freezes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenPanel {
    /// The text of the file that holds reviewers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generator_model: Option<String>,
    gathered: Gathered,
    scratch: PathBuf,
    #[serde(default)]
    confinement: Confinement,
}

/// A panel on its way into a session.
pub struct Seating<'a> {
    /// The file of reviewers alone: where it lies, absolute, and its text.
    pub file: Option<(&'a Path, String)>,
    pub generator_model: Option<String>,
    /// The quest file; none for the built-in kind.
    pub definition: Option<&'a Definition>,
    pub scratch: PathBuf,
    pub variables: &'a dyn Fn(&str) -> Option<OsString>,
}

const TWICE: &str = "the quest file has reviewers of its own: take its tables out, or this file";

impl Seating<'_> {
    /// Freezes the panel; none where neither file tells of one.
    pub fn freeze(self) -> Result<Option<FrozenPanel>, Faulty> {
        let place = match (&self.file, self.definition) {
            (Some((path, _)), _) => path.display().to_string(),
            (None, definition) => definition.map(|it| it.path.clone()).unwrap_or_default(),
        };
        self.seat().map_err(|mistake| Faulty {
            path: place,
            mistake,
        })
    }

    fn seat(self) -> Result<Option<FrozenPanel>, Mistake> {
        let quest = match self.definition {
            Some(definition) => QuestFile::parse(&definition.text)?,
            None => email::file().clone(),
        };
        let here = match (&self.file, self.definition) {
            (Some((path, _)), _) => path.parent().unwrap_or(path).to_owned(),
            (None, definition) => definition
                .map(|it| it.here().to_owned())
                .unwrap_or_default(),
        };
        let panel = match (&self.file, &quest.panel) {
            (Some((_, text)), Some(_)) => return Err(Mistake::at(text, &(0..0), TWICE)),
            (Some((_, text)), None) => {
                let panel = Panel::parse(text)?;
                quest.fits(&panel)?;
                reviewers_hold(&panel, &quest)?;
                panel
            }
            (None, Some(panel)) => panel.clone(),
            (None, None) => return Ok(None),
        };
        if let Some(model) = &self.generator_model {
            panel.refuse_generator(model)?;
        }
        let gathering = Gathering::new(&here, self.variables);
        Members::new(&panel, &gathering)?;
        let gathered = gathering.finish();
        drop(panel);
        Ok(Some(FrozenPanel {
            path: self
                .file
                .as_ref()
                .map(|(path, _)| path.display().to_string()),
            text: self.file.map(|(_, text)| text),
            generator_model: self.generator_model,
            gathered,
            confinement: confinement(&self.scratch),
            scratch: self.scratch,
        }))
    }
}

impl FrozenPanel {
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let Some(value) = &manifest.kind.reviewers else {
            return Ok(None);
        };
        let read = serde_json::from_value(value.clone());
        read.map(Some).map_err(|source| JudgeError::Settings {
            part: "reviewers",
            source,
        })
    }

    /// The reviewers, from their own file or from the quest file.
    pub fn members(&self, quest: Option<(&Definition, &QuestFile<'_>)>) -> Result<Members, Faulty> {
        let members = match (&self.text, quest) {
            (Some(text), _) => {
                Panel::parse(text).and_then(|panel| Members::new(&panel, &self.gathered))
            }
            (None, quest) => match quest.and_then(|(_, file)| file.panel.as_ref()) {
                Some(panel) => Members::new(panel, &self.gathered),
                None => Err(Mistake::at("", &(0..0), "there is no [[reviewer]] in it")),
            },
        };
        members.map_err(|mistake| {
            let quest = quest.map(|(definition, _)| definition.path.clone());
            let path = self.path.clone().or(quest).unwrap_or_default();
            Faulty { path, mistake }
        })
    }

    pub fn equip(&self, bench: &mut Bench) {
        bench
            .programs
            .extend(self.gathered.programs.values().cloned());
    }

    /// A bench for reviewers alone, whose commands cannot read what is `hidden`.
    pub fn bench(&self, hidden: Vec<PathBuf>) -> Result<Bench, BenchError> {
        let mut bench = Bench {
            root: None,
            baseline: Listing::default(),
            zones: Zones::new(&[])?,
            ignored: Ignored::none(),
            load: Box::new(|_| Ok(None)),
            scratch: self.scratch.clone(),
            programs: Vec::new(),
            services: std::collections::BTreeMap::new(),
            launcher: Launcher::this()
                .map_err(BenchError::Launcher)?
                .hiding(hidden),
            confinement: self.confinement.clone(),
        };
        self.equip(&mut bench);
        Ok(bench)
    }
}
