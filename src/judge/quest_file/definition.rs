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
//! The whole text is frozen: after `scan` the file itself is never read again. `listing` is the
//! digest of the tree's listing, which is in `evidence/` with the files' contents.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::email::list_digests;
use crate::judge::error::{BenchError, Faulty, JudgeError};
use crate::quest::file::{Mistake, QuestFile};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, KindRecord, Manifest, SessionError};
use crate::world::evidence::unpack;
use crate::world::sandbox::{
    CommandSpec, Confinement, Contents, Launcher, SandboxConfig, ServicePlan, run,
};
use crate::world::tree::BOUNDS;
use crate::world::tree::{Ignored, Listing, Zones};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    pub text: String,
    pub path: String,
    pub sha256: Digest,
    /// Everything that it refers to: assets, programs, variables.
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
}

impl Definition {
    /// The definition that a session froze; none when its kind is built in.
    pub fn of(manifest: &Manifest) -> Result<Option<Self>, JudgeError> {
        let Some(value) = &manifest.kind.definition else {
            return Ok(None);
        };
        let read = serde_json::from_value(value.clone());
        read.map(Some).map_err(|source| JudgeError::Settings {
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
        let gate = FileGate::new(&self.file()?, &self.gathered, settings);
        gate.map_err(|mistake| self.faulty(mistake))
    }

    pub fn record(&self) -> Result<KindRecord, JudgeError> {
        Ok(KindRecord {
            name: self.kind()?.name.into_owned(),
            definition: Some(serde_json::to_value(self)?),
            ..email_record()
        })
    }

    pub fn here(&self) -> &Path {
        let path = Path::new(&self.path);
        path.parent().unwrap_or(path)
    }

    pub(in crate::judge) fn faulty(&self, mistake: Mistake) -> Faulty {
        Faulty {
            path: self.path.clone(),
            mistake,
        }
    }

    /// A bench with this baseline, whose commands cannot read what is `hidden`.
    pub fn bench(
        &self,
        services: BTreeMap<String, ServicePlan>,
        baseline: Listing,
        load: Box<Contents>,
        hidden: Vec<PathBuf>,
    ) -> Result<SandboxConfig, BenchError> {
        let bench = bare_bench(&self.scratch, &self.confinement, hidden)?;
        let programs = self.gathered.programs.values().cloned().collect();
        let bench = SandboxConfig {
            baseline,
            load,
            programs,
            services,
            ..bench
        };
        Ok(match &self.tree {
            None => bench,
            Some(tree) => SandboxConfig {
                root: Some(tree.root.clone()),
                zones: Zones::new(&tree.write)?,
                ignored: Ignored::new(&tree.ignore)?,
                ..bench
            },
        })
    }
}

/// What a new session of the e-mail kind freezes of it.
pub fn email_record() -> KindRecord {
    let lists = list_digests().into_iter();
    KindRecord {
        name: email::NAME.to_owned(),
        lists: lists
            .map(|(name, digest)| (name.to_owned(), digest))
            .collect(),
        definition: None,
        reviewers: None,
    }
}

/// A bench without a tree, whose commands cannot read what is `hidden`.
pub(in crate::judge) fn bare_bench(
    scratch: &Path,
    confinement: &Confinement,
    hidden: Vec<PathBuf>,
) -> Result<SandboxConfig, BenchError> {
    Ok(SandboxConfig {
        root: None,
        baseline: Listing::default(),
        zones: Zones::new(&[])?,
        ignored: Ignored::none(),
        load: Box::new(|_| Ok(None)),
        scratch: scratch.to_owned(),
        programs: Vec::new(),
        services: BTreeMap::new(),
        launcher: Launcher::this()
            .map_err(BenchError::Launcher)?
            .hiding(hidden),
        confinement: confinement.clone(),
    })
}

const MAX_LISTING_BYTES: u64 = 256 * 1024 * 1024;

/// The tree's listing that a session froze, and how the contents of its files are loaded.
pub(in crate::judge) fn frozen_listing(
    definition: &Definition,
    store: EvidenceStore,
) -> Result<(Listing, Box<Contents>), JudgeError> {
    let mut baseline = Listing::default();
    if let Some(tree) = &definition.tree {
        let packed = store.load(tree.listing)?;
        let text = packed.and_then(|packed| unpack(&packed, MAX_LISTING_BYTES).ok());
        let read = text.and_then(|text| serde_json::from_slice::<Listing>(&text).ok());
        let read = read.filter(|listing| listing.digest() == tree.listing);
        let lost = "the tree's listing in evidence/ is missing or was changed; restore it from a \
                    backup";
        baseline = read.ok_or_else(|| SessionError::Stock(lost.to_owned()))?;
    }
    let load = move |digest| {
        let packed = store.load(digest).map_err(io::Error::other)?;
        Ok(packed.and_then(|packed| unpack(&packed, BOUNDS.file_bytes).ok()))
    };
    Ok((baseline, Box::new(load)))
}

const TRIAL_MS: u64 = 30_000;

/// The means of confinement that work here, found by running this program confined; none where it
/// cannot be run.
pub(crate) fn confinement(scratch: &Path) -> Confinement {
    let tried = || -> io::Result<Confinement> {
        let place = tempfile::Builder::new()
            .prefix("comail-")
            .tempdir_in(scratch)?;
        let program = std::env::current_exe()?.to_string_lossy().into_owned();
        let order = CommandSpec {
            timeout_ms: TRIAL_MS,
            output_bytes: 4096,
            name: String::from("confinement"),
            argv: vec![program, "--version".into()],
            ..CommandSpec::default()
        };
        Ok(run(&order, place.path(), &Launcher::this()?).confinement)
    };
    tried().unwrap_or_default()
}
