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
use crate::judge::error::{Faulty, JudgeError, SandboxError, settings};
use crate::judge::panel::reviewers::Reviewers;
use crate::judge::quest_file::{Definition, Gathering, bare_sandbox, confinement};
use crate::quest::email;
use crate::quest::file::{Mistake, Panel, QuestFile};
use crate::session::Manifest;
use crate::world::sandbox::{Confinement, SandboxConfig};

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

/// Where a panel is read from when a session is made.
pub struct FreezingPanel<'a> {
    /// The file of reviewers alone: its absolute path, and its text.
    pub file: Option<(&'a Path, String)>,
    pub generator_model: Option<String>,
    /// The quest file; none for the built-in kind.
    pub definition: Option<&'a Definition>,
    pub scratch: PathBuf,
    pub variables: &'a dyn Fn(&str) -> Option<OsString>,
}

const TWICE: &str = "the quest file has reviewers too: remove them there, or do not use this file";

impl FreezingPanel<'_> {
    /// Freezes the panel; none where neither file has one.
    pub fn freeze(self) -> Result<Option<FrozenPanel>, Faulty> {
        let path = match (&self.file, self.definition) {
            (Some((path, _)), _) => path.to_path_buf(),
            (None, definition) => definition
                .map(|it| it.path.clone().into())
                .unwrap_or_default(),
        };
        let shown = path.display().to_string();
        self.freeze_at(&path).map_err(|mistake| Faulty {
            path: shown,
            mistake,
        })
    }

    fn freeze_at(self, path: &Path) -> Result<Option<FrozenPanel>, Mistake> {
        let quest = match self.definition {
            Some(definition) => QuestFile::parse(&definition.text)?,
            None => email::file().clone(),
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
        let gathering = Gathering::new(path.parent().unwrap_or(path), self.variables);
        Reviewers::new(&panel, &gathering)?;
        drop(panel);
        Ok(Some(FrozenPanel {
            path: self.file.as_ref().map(|_| path.display().to_string()),
            text: self.file.map(|(_, text)| text),
            generator_model: self.generator_model,
            gathered: gathering.finish(),
            confinement: confinement(&self.scratch),
            scratch: self.scratch,
        }))
    }
}

impl FrozenPanel {
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let value = manifest.kind.reviewers.as_ref();
        value.map(|it| settings("reviewers", it)).transpose()
    }

    /// The reviewers, from their own file or from the quest file.
    pub fn reviewers(
        &self,
        quest: Option<(&Definition, &QuestFile<'_>)>,
    ) -> Result<Reviewers, Faulty> {
        let reviewers = match (&self.text, quest.and_then(|(_, file)| file.panel.as_ref())) {
            (Some(text), _) => {
                Panel::parse(text).and_then(|panel| Reviewers::new(&panel, &self.gathered))
            }
            (None, Some(panel)) => Reviewers::new(panel, &self.gathered),
            (None, None) => Err(Mistake::at("", &(0..0), "there is no [[reviewer]] in it")),
        };
        reviewers.map_err(|mistake| {
            let quest = quest.map(|(definition, _)| definition.path.clone());
            let path = self.path.clone().or(quest).unwrap_or_default();
            Faulty { path, mistake }
        })
    }

    /// Lets the reviewers' programs run in the sandbox.
    pub fn allow_programs(&self, config: &mut SandboxConfig) {
        let programs = self.gathered.programs.values().cloned();
        config.programs.extend(programs);
    }

    /// A sandbox for reviewers alone, whose commands cannot read what is `hidden`.
    pub fn sandbox_config(&self, hidden: Vec<PathBuf>) -> Result<SandboxConfig, SandboxError> {
        let mut config = bare_sandbox(&self.scratch, &self.confinement, hidden)?;
        self.allow_programs(&mut config);
        Ok(config)
    }
}
