//! A quest file as a session freezes it, in `session.json` as `kind.definition`.
//!
//! ```text
//! {"text":"name = \"unit-tests\"…","path":"/…/unit-tests.toml","sha256":"…",
//!  "gathered":{"assets":{"schema.json":"…"},"programs":{"python3":{"path":…,"target":…,"sha256":…}},
//!              "variables":{"PATH":"…"}},
//!  "tree":{"root":"/…","write":["tests/**"],"ignore":[],"listing":"<sha-256>"},
//!  "scratch":"/tmp","confinement":{"landlock":6,"namespaces":["pid",…]}}
//! ```
//!
//! The whole text stands there: after `scan` the file itself is never read again. `listing` is
//! the digest of the tree's listing, which lies in `evidence/` with the files' contents; so does
//! what `commits` is the digest of: the messages of the commits that lay behind the tree, by name.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fixer::{FixerPlan, fixer};
use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::judge::DriveError;
use crate::quest::QuestKind;
use crate::quest::file::{Mistake, QuestFile};
use crate::session::{KindRecord, Manifest};
use crate::world::sandbox::Confinement;

/// A quest file as a session freezes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub text: String,
    pub path: String,
    pub sha256: Digest,
    /// What it goes by that does not stand in it.
    pub gathered: Gathered,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<FrozenTree>,
    pub scratch: PathBuf,
    #[serde(default)]
    pub confinement: Confinement,
}

/// The files that quests are about, as the session found them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenTree {
    pub root: PathBuf,
    pub write: Vec<String>,
    /// What does not belong to it, as globs.
    pub ignore: Vec<String>,
    pub listing: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<Digest>,
}

/// A quest file with a mistake in it.
#[derive(Debug, thiserror::Error)]
#[error("{path}:{mistake}")]
pub struct Faulty {
    pub path: String,
    pub mistake: Mistake,
}

impl Definition {
    /// The definition that a session froze; none when its kind is built in.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, DriveError> {
        let Some(value) = &manifest.kind.definition else {
            return Ok(None);
        };
        let read = serde_json::from_value(value.clone());
        read.map(Some).map_err(|source| DriveError::Settings {
            part: "quest file",
            source,
        })
    }

    pub fn file(&self) -> Result<QuestFile<'_>, Faulty> {
        QuestFile::parse(&self.text).map_err(|mistake| self.faulty(mistake))
    }

    pub fn kind(&self) -> Result<QuestKind, Faulty> {
        Ok(self.file()?.kind())
    }

    pub fn gate(&self, settings: FileSettings) -> Result<FileGate, Faulty> {
        let file = self.file()?;
        FileGate::new(&file, &self.gathered, settings).map_err(|mistake| self.faulty(mistake))
    }

    pub fn final_gate(&self, settings: FileSettings) -> Result<Option<FileGate>, Faulty> {
        let file = self.file()?;
        FileGate::of_final(&file, &self.gathered, settings).map_err(|mistake| self.faulty(mistake))
    }

    pub fn fixer(&self) -> Result<Option<FixerPlan>, Faulty> {
        let file = self.file()?;
        fixer(&file, &self.gathered).map_err(|mistake| self.faulty(mistake))
    }

    pub fn record(&self) -> Result<KindRecord, DriveError> {
        Ok(KindRecord {
            name: self.kind()?.name.into_owned(),
            lists: crate::judge::email_record().lists,
            definition: Some(serde_json::to_value(self)?),
            reviewers: None,
        })
    }

    #[must_use]
    pub fn here(&self) -> &Path {
        let path = Path::new(&self.path);
        path.parent().unwrap_or(path)
    }

    pub(super) fn faulty(&self, mistake: Mistake) -> Faulty {
        Faulty {
            path: self.path.clone(),
            mistake,
        }
    }
}
