//! Freezes a quest file and its panel of reviewers: everything that they use is looked up once and
//! stored in the session.
//!
//! The panel is in `session.json` as `kind.reviewers`:
//!
//! ```text
//! {"text":"[[reviewer]]…","path":"/…/reviewers.toml","generator_model":"large-1",
//!  "gathered":{"programs":{"llm":{"path":…,"target":…,"sha256":…}},"variables":{"PATH":"…"}},
//!  "scratch":"/tmp","confinement":{…}}
//! ```
//!
//! `text` and `path` are missing if the quest file itself has the panel. Neither keys nor the values of
//! variables that are passed to a reviewer are frozen.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::control::ControlTree;
use super::definition::{Definition, FrozenTree, bare_sandbox, confinement, fixer, services};
use crate::base::text::named;
use crate::base::{Digest, files};
use crate::gate::checks::outside::{GateSettings, Gathered, Missing, Outside};
use crate::gate::checks::{FileGate, control_of_runs, reviewers_hold};
use crate::judge::error::{Faulty, JudgeError, settings};
use crate::judge::panel::Reviewers;
use crate::quest::email;
use crate::quest::file::{Mistake, Panel, QuestFile, Spot, TreeTable};
use crate::session::{DRAFT_PREFIX, EvidenceStore, Manifest, SessionError};
use crate::world::evidence::pack;
use crate::world::git::{self, Repository};
use crate::world::sandbox::{Confinement, Pinned, Runtime, RuntimeError, SandboxConfig};
use crate::world::tree::{
    Ignored, Listing, Store, TreeError, TreePath, Zones, read_gitignores, take_baseline,
};

pub struct Freezing<'a> {
    pub path: &'a Path,
    /// The command line that made the text; `None` for a file.
    pub command: Option<String>,
    pub text: String,
    pub tree: Option<PathBuf>,
    pub here: PathBuf,
    /// The session's directory, which is left out of every tree.
    pub session: PathBuf,
    pub scratch: PathBuf,
    pub variables: &'a dyn Fn(&str) -> Option<OsString>,
}

#[derive(Debug)]
pub struct Frozen {
    pub definition: Definition,
    pub listing: Listing,
    /// As JSON; empty if nothing is known to be loaded.
    runtime: Vec<u8>,
    control: Option<(ControlTree, Listing)>,
}

#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    #[error(transparent)]
    Faulty(#[from] Faulty),
    #[error("the tree {}", root.display())]
    Tree {
        root: PathBuf,
        #[source]
        source: TreeError,
    },
    #[error("control `{control}`")]
    Control {
        control: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error("`runtime` in [tree] names {}, which contains the session", path.display())]
    SessionInRuntime { path: PathBuf },
    #[error(
        "the gate runs {}, which is in the tree but not a part of it that is compared, so an agent \
         could change what it loads: name a program outside the tree, or scan with another PATH",
        path.display()
    )]
    Program { path: PathBuf },
}

impl Freezing<'_> {
    /// Freezes the file. Building the gate once collects everything that it asks for.
    pub fn freeze(self, settings: &GateSettings) -> Result<Frozen, FreezeError> {
        let faulty = |mistake: Mistake| Faulty {
            path: self.path.display().to_string(),
            mistake,
        };
        let file = QuestFile::parse(&self.text).map_err(faulty)?;
        let here = self.path.parent().unwrap_or(&self.here);
        let gathering = Gathering::new(here, self.variables);
        FileGate::new(&file, &gathering, settings.clone()).map_err(faulty)?;
        FileGate::of_final(&file, &gathering, settings.clone()).map_err(faulty)?;
        services(&file, &gathering).map_err(faulty)?;
        fixer(&file, &gathering).map_err(faulty)?;
        if let Some(panel) = &file.panel {
            Reviewers::new(panel, &gathering).map_err(faulty)?;
        }
        globs(&file).map_err(faulty)?;
        let frozen = file
            .tree
            .as_ref()
            .map(|table| self.freeze_tree(&file, table));
        let (mut tree, listing) = frozen.transpose()?.unzip();
        let mut control = None;
        if let (Some(tree), Some(table)) = (&mut tree, control_of_runs(&file)) {
            let taken = ControlTree::of(table, here, tree, &self.session).and_then(|place| {
                // Most controls are judged in the tree itself, which was just listed.
                let is_same = place.root == tree.root && place.writes.is_none();
                let known = listing.clone().filter(|_| is_same);
                let listing = known.map_or_else(|| place.listing(&mut |_, _| Ok(())), Ok)?;
                Ok((listing, place))
            });
            let (listing, place) = taken.map_err(|source| FreezeError::Control {
                control: table.name.clone(),
                source,
            })?;
            tree.control = Some(listing.digest());
            control = Some((place, listing));
        }
        let gathered = gathering.finish();
        if let (Some(tree), Some(listing)) = (&tree, &listing) {
            let mut programs = gathered.programs.values();
            if let Some(unseen) = programs.find(|it| is_unseen(&it.path, &tree.root, listing)) {
                let path = unseen.path.clone();
                return Err(FreezeError::Program { path });
            }
        }
        let declared = file.tree.iter().flat_map(|table| &table.runtime);
        let declared: Vec<_> = declared.map(|path| here.join(path)).collect();
        let session = std::path::absolute(&self.session).unwrap_or_else(|_| self.session.clone());
        let real = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if let Some(path) = declared.iter().find(|it| session.starts_with(real(it))) {
            return Err(FreezeError::SessionInRuntime { path: path.clone() });
        }
        let runtime = Runtime::take(gathered.programs.values(), declared)?;
        let runtime = if runtime.is_empty() {
            Vec::new()
        } else {
            runtime.to_json()?
        };
        let definition = Definition {
            runtime: (!runtime.is_empty()).then(|| Digest::of(&runtime)),
            sha256: Digest::of(self.text.as_bytes()),
            path: self.path.display().to_string(),
            command: self.command.clone(),
            gathered,
            tree,
            scratch: self.scratch.clone(),
            confinement: confinement(&self.scratch),
            text: self.text.clone(),
        };
        Ok(Frozen {
            definition,
            listing: listing.unwrap_or_default(),
            runtime,
            control,
        })
    }

    fn freeze_tree(
        &self,
        file: &QuestFile<'_>,
        table: &TreeTable,
    ) -> Result<(FrozenTree, Listing), FreezeError> {
        let root = self.root(table);
        let failed = |source| FreezeError::Tree {
            root: root.clone(),
            source,
        };
        let faulty = |spot: &Spot, what| Faulty {
            path: self.path.display().to_string(),
            mistake: Mistake::at(&self.text, spot, what),
        };
        let mut ignore = table.ignore.clone();
        // The draft directories of sessions.
        ignore.push(format!("**/{DRAFT_PREFIX}*/**"));
        let ignored = Ignored::new(&ignore);
        let ignored = ignored.map_err(|bad| faulty(&file.spot_of("tree"), bad.to_string()))?;
        let mut ignored = ignored.and_folder(&self.session);
        let mut gitignore = None;
        if table.gitignore {
            let files = read_gitignores(&root, &ignored).map_err(failed)?;
            ignored = ignored.and_gitignores(&files);
            gitignore = Some(files);
        }
        if let Some(why) = unseen_zone(table, &ignored) {
            return Err(faulty(&file.spot_in("tree", "write"), why).into());
        }
        let listing = take_baseline(&root, &ignored, &mut |_, _| Ok(())).map_err(failed)?;
        let mut tree = FrozenTree {
            write: table.write.clone(),
            listing: listing.digest(),
            root,
            ignore,
            gitignore,
            control: None,
            repository: None,
        };
        if table.worktrees {
            tree.repository = self.repository(&tree.root, &listing);
        }
        Ok((tree, listing))
    }

    /// The repository of the tree. Without one, the accepted answers are on no branch.
    fn repository(&self, root: &Path, listing: &Listing) -> Option<Repository> {
        let path = (self.variables)("PATH").unwrap_or_default();
        let program = git::program(&path, &[root.to_owned()]);
        let found = program.and_then(|program| Repository::find(program, root, listing));
        found.unwrap_or_else(|why| {
            tracing::warn!(%why, "the accepted answers will be on no branch");
            None
        })
    }

    fn root(&self, table: &TreeTable) -> PathBuf {
        let beside = self.path.parent().unwrap_or(&self.here);
        match (&self.tree, &table.root) {
            (Some(root), _) => self.here.join(root),
            (None, Some(root)) => beside.join(root),
            (None, None) => self.here.clone(),
        }
    }
}

/// Whether a program is in the tree but not compared. Then an agent could change the libraries that it
/// loads, such as those of a virtual environment, and no judgement would notice.
fn is_unseen(program: &Path, root: &Path, listing: &Listing) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (Some(dir), Some(name)) = (program.parent(), program.file_name()) else {
        return false;
    };
    let place = real(dir).join(name);
    let Ok(below) = place.strip_prefix(real(root)) else {
        return false;
    };
    let below = below.to_str().and_then(|text| TreePath::parse(text).ok());
    below.is_none_or(|path| listing.get(&path).is_none())
}

fn globs(file: &QuestFile<'_>) -> Result<(), Mistake> {
    let tree = file.tree.as_ref();
    let glob = file.input.glob.as_slice();
    let lists = [
        ("tree", "write", tree.map_or(&[][..], |tree| &tree.write)),
        ("tree", "ignore", tree.map_or(&[][..], |tree| &tree.ignore)),
        ("input", "glob", glob),
    ];
    for (table, key, globs) in lists {
        let read = match key {
            "write" => Zones::new(globs),
            _ => Zones::without_exceptions(globs),
        };
        read.map_err(|bad| {
            let spot = file.spot_in(table, key);
            Mistake::at(file.text(), &spot, bad.to_string())
        })?;
    }
    Ok(())
}

/// The mistake about the first zone that is completely ignored.
fn unseen_zone(table: &TreeTable, ignored: &Ignored) -> Option<String> {
    let mut zones = table.write.iter().filter(|zone| !Zones::forbids(zone));
    let (zone, rule) = zones.find_map(|zone| Some((zone, ignored.rule_of_glob(zone)?)))?;
    Some(format!(
        "{rule} ignores all of the zone `{zone}`, so no check would see what an agent writes \
         there: change the zone or the rule, or set `gitignore = false`"
    ))
}

impl Frozen {
    /// Stores what it saw in the new session: the tree, with its files, and what programs load.
    ///
    /// # Errors
    ///
    /// If a file has changed since it was listed, or the disk fails.
    pub fn stock(&self, store: &EvidenceStore) -> Result<(), SessionError> {
        let keep = |digest: Digest, bytes: &[u8]| store.stock(digest, &pack(bytes));
        if let Some(digest) = self.definition.runtime {
            keep(digest, &self.runtime)?;
        }
        let Some(tree) = &self.definition.tree else {
            return Ok(());
        };
        // The globs were read when the file was frozen.
        let ignored = tree.ignored();
        let ignored = ignored.map_err(|bad| SessionError::Stock(bad.to_string()))?;
        let root = tree.root.display();
        stock_listing(&self.listing, &root, &keep, |store| {
            take_baseline(&tree.root, &ignored, store)
        })?;
        self.control.as_ref().map_or(Ok(()), |(place, listing)| {
            let root = place.root.display();
            stock_listing(listing, &root, &keep, |store| place.listing(store))
        })
    }
}

/// How many changed files are named.
const MAX_CHANGED: usize = 3;

type Keep<'a> = dyn Fn(Digest, &[u8]) -> Result<(), SessionError> + 'a;

/// Stores a listing and its files, which `take` lists again.
fn stock_listing(
    listing: &Listing,
    root: &dyn Display,
    keep: &Keep<'_>,
    take: impl FnOnce(&mut Store<'_>) -> Result<Listing, TreeError>,
) -> Result<(), SessionError> {
    let mut failed = None;
    let taken = take(&mut |digest, bytes| {
        keep(digest, bytes).map_err(|error| {
            failed = Some(error);
            io::Error::other("the evidence cannot be written")
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let taken = taken.map_err(|error| SessionError::Stock(error.to_string()))?;
    let changed: Vec<_> = taken.differing(listing).into_iter().collect();
    if let Some(changed) = named(&changed, MAX_CHANGED) {
        let text = format!(
            "{changed} changed while the tree {root} was scanned: end what writes there, or write \
             logs and other output outside the tree"
        );
        return Err(SessionError::Stock(text));
    }
    let text = serde_json::to_vec(listing)?;
    keep(Digest::of(&text), &text)
}

const MAX_ASSET_BYTES: u64 = 1024 * 1024;

/// Reads from the disk and the environment, and records what it returned.
pub struct Gathering<'a> {
    here: PathBuf,
    variables: &'a dyn Fn(&str) -> Option<OsString>,
    gathered: RefCell<Gathered>,
}

impl<'a> Gathering<'a> {
    pub fn new(here: &Path, variables: &'a dyn Fn(&str) -> Option<OsString>) -> Self {
        Self {
            here: here.to_owned(),
            variables,
            gathered: RefCell::default(),
        }
    }

    pub fn finish(self) -> Gathered {
        self.gathered.into_inner()
    }
}

impl Outside for Gathering<'_> {
    fn asset(&self, name: &str) -> Result<String, Missing> {
        let place = TreePath::parse(name).map_err(|bad| Missing(bad.to_string()))?;
        let place = place.join_to(&self.here);
        let text = files::read(&place, MAX_ASSET_BYTES)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
            .map_err(|error| Missing(format!("cannot read {}: {error}", place.display())))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.assets.insert(name.to_owned(), text.clone());
        Ok(text)
    }

    fn program(&self, name: &str) -> Result<Pinned, Missing> {
        let path = self.variable("PATH").unwrap_or_default();
        let pinned = Pinned::find(name, path.as_ref(), &self.here)
            .map_err(|error| Missing(error.to_string()))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.programs.insert(name.to_owned(), pinned.clone());
        Ok(pinned)
    }

    fn variable(&self, name: &str) -> Result<String, Missing> {
        let value = (self.variables)(name)
            .ok_or_else(|| Missing(format!("the variable {name} is not set")))?;
        let value = value
            .into_string()
            .map_err(|_| Missing(format!("the variable {name} is not UTF-8")))?;
        let mut gathered = self.gathered.borrow_mut();
        gathered.variables.insert(name.to_owned(), value.clone());
        Ok(value)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrozenPanel {
    /// The text of a separate file of reviewers.
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

pub struct FreezingPanel<'a> {
    /// The absolute path and the text of a separate file of reviewers.
    pub file: Option<(&'a Path, String)>,
    pub generator_model: Option<String>,
    /// The quest file; `None` for the built-in kind.
    pub definition: Option<&'a Definition>,
    pub scratch: PathBuf,
    pub variables: &'a dyn Fn(&str) -> Option<OsString>,
}

const TWICE: &str = "the quest file has reviewers too: remove them there, or do not use this file";

impl FreezingPanel<'_> {
    /// Freezes the panel; `None` if neither file has one.
    pub fn freeze(self) -> Result<Option<FrozenPanel>, Faulty> {
        let path = match (&self.file, self.definition) {
            (Some((path, _)), _) => *path,
            (None, Some(definition)) => Path::new(&definition.path),
            (None, None) => Path::new(""),
        };
        let shown = path.display().to_string();
        let frozen = self.freeze_at(path);
        frozen.map_err(|mistake| Faulty {
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

    /// The reviewers, from the separate file or from the quest file.
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

    /// A sandbox only for reviewers, whose commands cannot read the `hidden` paths.
    pub fn sandbox_config(&self, hidden: Vec<PathBuf>) -> Result<SandboxConfig, JudgeError> {
        let mut config = bare_sandbox(&self.scratch, &self.confinement, hidden)?;
        self.allow_programs(&mut config);
        Ok(config)
    }
}
