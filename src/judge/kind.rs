//! Loads what a session needs to judge from its frozen settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;

use crate::base::Digest;
use crate::gate::GateSettings;
use crate::gate::checks::FileGate;
use crate::gate::email::email_gate;
use crate::gate::{Gate, Rule, common_rules};
use crate::judge::accepted::accepted_look;
use crate::judge::error::{JudgeError, settings};
use crate::judge::panel::SessionGate;
use crate::judge::quest_file::FrozenPanel;
use crate::judge::quest_file::{
    Definition, FixerPlan, fixer, frozen_control, frozen_listing, frozen_runtime, services,
};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, Manifest, Mirror, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::evidence::replay::Replay;
use crate::world::fetch::live::{LiveWorld, SharedWorld};
use crate::world::fetch::politeness::{SharedTurns, TurnPlace};
use crate::world::fetch::settings::NetworkSettings;
use crate::world::sandbox::{
    Alteration, LiveSandbox, NoSandbox, Sandbox, SandboxConfig, ServicePlan, TreeLook,
};
use crate::world::tree::{
    Applied, BadPatch, Ignored, Listing, NotApplied, PatchBase, Snapshot, TreePatch, Zones,
};
use crate::world::{Fetcher, Resolver, Unanswered, UniquenessIndex, World};

/// The quest kind of a session, for callers that judge nothing.
pub fn kind_of(manifest: &Manifest) -> Result<QuestKind, JudgeError> {
    match Definition::of(manifest)? {
        Some(definition) => Ok(definition.kind()?),
        None if manifest.kind.name == email::NAME => Ok(email::kind()),
        None => Err(JudgeError::UnknownKind(manifest.kind.name.clone())),
    }
}

pub fn network_of(manifest: &Manifest) -> Result<NetworkSettings, JudgeError> {
    settings("network", &manifest.frozen.network)
}

pub(super) fn gate_settings<T: DeserializeOwned>(manifest: &Manifest) -> Result<T, JudgeError> {
    settings("gate", &manifest.frozen.gate)
}

/// A session's quest kind with its gate. The quest file is parsed and the gate is built once.
pub struct SessionKind {
    pub quest: QuestKind,
    pub gate: SessionGate,
    pub definition: Option<Definition>,
    pub(super) has_final: bool,
    pub(super) fixer: Option<FixerPlan>,
    /// How many earlier PASSes are judged again with each answer; `None` without worktrees.
    pub(super) judge_again: Option<usize>,
    panel: Option<FrozenPanel>,
    services: BTreeMap<String, ServicePlan>,
}

impl SessionKind {
    pub fn load(manifest: &Manifest) -> Result<Self, JudgeError> {
        let settings: GateSettings = gate_settings(manifest)?;
        let frozen = FrozenPanel::of(manifest)?;
        let definition = Definition::of(manifest)?;
        let file = definition.as_ref().map(Definition::file).transpose()?;
        let source = definition.as_ref().zip(file.as_ref());
        let mut panel = frozen.as_ref().map(|it| it.reviewers(source)).transpose()?;
        if let Some(panel) = &mut panel {
            panel.robots = settings.robots;
        }
        let (quest, machine, fixer, services) = match source {
            None => {
                let machine: Box<dyn Gate> = Box::new(email_gate(settings));
                (kind_of(manifest)?, machine, None, BTreeMap::new())
            }
            Some((definition, file)) => {
                let faulty = |mistake| definition.faulty(mistake);
                let gathered = &definition.gathered;
                let machine = FileGate::new(file, gathered, settings).map_err(faulty)?;
                let fixer = fixer(file, gathered).map_err(faulty)?;
                let services = services(file, gathered).map_err(faulty)?;
                (file.kind(), Box::new(machine) as _, fixer, services)
            }
        };
        Ok(Self {
            quest,
            gate: SessionGate::new(machine, panel),
            judge_again: file
                .as_ref()
                .and_then(|file| file.tree.as_ref())
                .filter(|tree| tree.worktrees)
                .map(|tree| tree.judge_again as usize),
            has_final: file.is_some_and(|file| file.final_part.is_some()),
            definition,
            fixer,
            panel: frozen,
            services,
        })
    }

    /// Every rule that can fire in the session, the common rules first.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = common_rules::rules();
        rules.push(common_rules::TREE_UNJUDGEABLE);
        if self.has_worktrees() {
            rules.push(common_rules::BREAKS_PASSED);
        }
        rules.extend(self.gate.rules());
        rules
    }

    /// Whether each agent works in a worktree of its own.
    pub fn has_worktrees(&self) -> bool {
        self.judge_again.is_some()
    }

    /// The sandbox for the session's commands; `None` for the built-in kind without reviewers.
    ///
    /// Commands cannot read `dir`, the session's directory.
    pub fn sandbox_config(
        &self,
        store: EvidenceStore,
        dir: PathBuf,
    ) -> Result<Option<SandboxConfig>, JudgeError> {
        let Some(definition) = &self.definition else {
            let panel = self.panel.as_ref();
            let config = panel.map(|panel| panel.sandbox_config(vec![dir]));
            return config.transpose();
        };
        let control = frozen_control(definition, &store)?;
        let runtime = frozen_runtime(definition, &store)?;
        let (baseline, load) = frozen_listing(definition, store)?;
        let services = self.services.clone();
        let mut config = definition.sandbox_config(services, baseline, load, &dir)?;
        config.control = control;
        config.runtime = runtime;
        if let Some(panel) = &self.panel {
            panel.allow_programs(&mut config);
        }
        Ok(Some(config))
    }
}

/// What a client must know about the session's tree to send files of the write zones with an answer;
/// `None` if there is no tree.
pub fn patch_base(
    manifest: &Manifest,
    store: EvidenceStore,
    session: &Path,
) -> Result<Option<PatchBase>, JudgeError> {
    let Some(definition) = Definition::of(manifest)? else {
        return Ok(None);
    };
    let Some(tree) = &definition.tree else {
        return Ok(None);
    };
    let zones = Zones::new(&tree.write)?;
    let (baseline, _) = frozen_listing(&definition, store)?;
    let mut ignore = tree.ignore.clone();
    // The judge identifies the session's folder by its inode, a client in the same tree only by its name.
    let within = tree
        .root
        .canonicalize()
        .ok()
        .zip(session.canonicalize().ok());
    let within = within.and_then(|(root, dir)| Some(dir.strip_prefix(root).ok()?.to_owned()));
    if let Some(folder) = within.as_ref().and_then(|path| path.to_str()) {
        ignore.push(format!("{}/**", globset::escape(folder)));
    }
    let files = baseline.entries().iter();
    let files = files.filter(|(path, _)| zones.contains(path));
    Ok(Some(PatchBase {
        digest: tree.listing,
        write: tree.write.clone(),
        ignore,
        gitignore: tree.gitignore.clone().unwrap_or_default(),
        files: files
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect(),
    }))
}

/// Answers lookups and runs commands on the tree. Threads share it.
pub struct JudgeWorld {
    network: Network,
    sandbox: Option<SandboxConfig>,
    tree: JudgedTree,
}

/// The tree that judgements see.
enum JudgedTree {
    /// Each judgement reads the working tree.
    Working,
    /// The working tree, as it was read once.
    Held(TreeLook),
    /// The frozen tree with the files of a client.
    Received(TreeLook, Box<Received>),
    /// The accepted tree of a session with worktrees, over which the files of a client are laid.
    Accepted(TreeLook, Option<TreePatch>),
}

impl JudgedTree {
    fn look(&self) -> Option<&TreeLook> {
        match self {
            Self::Working => None,
            Self::Held(look) | Self::Received(look, _) | Self::Accepted(look, _) => Some(look),
        }
    }
}

/// The files of the write zones that came with an answer, and the tree to which they are written if
/// accepted.
#[derive(Debug)]
pub struct Received {
    pub(super) patch: TreePatch,
    root: PathBuf,
    base: Listing,
    ignored: Ignored,
}

impl Received {
    pub(super) fn apply(&self) -> Result<Applied<'_>, JudgeError> {
        let applied = self
            .patch
            .apply(&self.root, &self.base.before(), &self.ignored);
        applied.map_err(|why| match why {
            NotApplied::Bad(bad) => bad.into(),
            NotApplied::Tree(error) => JudgeError::NotWritten(error),
        })
    }
}

impl SharedTurns for Mirror {
    fn ask(
        &self,
        host: &str,
        gap: Duration,
        keep: Duration,
    ) -> Result<(Duration, SystemTime), String> {
        let asked = self.turn(host, gap, keep).map_err(|why| why.to_string());
        let (wait, begun) = asked?;
        let since = Duration::try_from_secs_f64(begun).unwrap_or_default();
        Ok((wait, UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH)))
    }

    fn end(&self, host: &str) {
        // A turn that cannot be ended is over after a while.
        let _ = self.end_turn(host);
    }
}

enum Network {
    Live(LiveWorld),
    Recorded(Arc<dyn RecordedNetwork>),
}

pub(super) trait RecordedNetwork: Fetcher + Resolver + Send + Sync {}

impl<T: Fetcher + Resolver + Send + Sync> RecordedNetwork for T {}

impl JudgeWorld {
    /// The world of a session: the network, or the recorded world that `scan` froze.
    pub fn of(session: &Session, kind: &SessionKind) -> Result<Self, JudgeError> {
        Self::sharing(&SharedWorld::default(), session, kind)
    }

    /// The same with the network of other judgements.
    pub(super) fn sharing(
        shared: &SharedWorld,
        session: &Session,
        kind: &SessionKind,
    ) -> Result<Self, JudgeError> {
        let turns = || match session.mirror() {
            // Judges on all machines take turns.
            Some(mirror) => TurnPlace::Shared(Arc::new(mirror.clone())),
            // Each process records there when it last asked a host.
            None => TurnPlace::Directory(session.dir().join("hosts")),
        };
        let sandbox = kind.sandbox_config(session.evidence(), session.dir().to_owned())?;
        let world = Self::new(shared, session.manifest(), turns, sandbox)?;
        match &world.sandbox {
            Some(config) if kind.has_worktrees() => Ok(Self {
                tree: JudgedTree::Accepted(accepted_look(session, config)?, None),
                ..world
            }),
            _ => Ok(world),
        }
    }

    /// Only pages and DNS, for a session that is not on disk yet.
    pub fn without_session(manifest: &Manifest) -> Result<Self, JudgeError> {
        Self::new(&SharedWorld::default(), manifest, TurnPlace::default, None)
    }

    fn new(
        shared: &SharedWorld,
        manifest: &Manifest,
        turns: impl FnOnce() -> TurnPlace,
        sandbox: Option<SandboxConfig>,
    ) -> Result<Self, JudgeError> {
        let network = match &manifest.frozen.world {
            Some(world) => {
                let world: RecordedWorld = settings("world", world)?;
                Network::Recorded(Arc::new(world))
            }
            None => Network::Live(shared.of(&network_of(manifest)?, turns)?),
        };
        Ok(Self::over(network, sandbox))
    }

    /// A world with recorded pages and DNS.
    pub(super) fn recorded(
        network: Arc<impl RecordedNetwork + 'static>,
        sandbox: Option<SandboxConfig>,
    ) -> Self {
        Self::over(Network::Recorded(network), sandbox)
    }

    fn over(network: Network, sandbox: Option<SandboxConfig>) -> Self {
        Self {
            network,
            sandbox,
            tree: JudgedTree::Working,
        }
    }

    /// Reads the tree for all further judgements, so that an agent cannot change it between two of
    /// them to make both pass.
    pub fn hold_tree(&mut self) -> Result<(), JudgeError> {
        let config = self.sandbox.as_ref().filter(|it| it.root.is_some());
        if let (JudgedTree::Working, Some(config)) = (&self.tree, config) {
            let look = TreeLook::take(config).map_err(JudgeError::Sandbox)?;
            self.tree = JudgedTree::Held(look);
        }
        Ok(())
    }

    /// Takes the files of the write zones from a client. All further judgements see the frozen tree with
    /// these files, instead of the working tree.
    pub fn receive(&mut self, patch: TreePatch) -> Result<(), JudgeError> {
        let config = self.sandbox.as_ref();
        let Some((config, root)) = config.and_then(|it| Some((it, it.root.clone()?))) else {
            return Err(BadPatch::NoTree.into());
        };
        if let JudgedTree::Accepted(_, files) = &mut self.tree {
            *files = Some(patch);
            return Ok(());
        }
        let look = TreeLook::receive(config, &patch)?;
        let (base, ignored) = (config.baseline.clone(), config.ignored.clone());
        let received = Received {
            patch,
            root,
            base,
            ignored,
        };
        self.tree = JudgedTree::Received(look, Box::new(received));
        Ok(())
    }

    /// All further judgements see this tree.
    pub(super) fn show(&mut self, tree: TreeLook) {
        self.tree = JudgedTree::Held(tree);
    }

    pub(super) fn patch(&self) -> Option<&TreePatch> {
        match &self.tree {
            JudgedTree::Accepted(_, patch) => patch.as_ref(),
            _ => None,
        }
    }

    pub(super) fn received(&self) -> Option<&Received> {
        match &self.tree {
            JudgedTree::Received(_, received) => Some(received),
            _ => None,
        }
    }

    /// Lends the world for one judgement, with a new budget of lookups and a new snapshot of the tree.
    /// If the sandbox fails, the judgement is discarded and an error returned.
    pub fn lend<T>(
        &self,
        accepted: &dyn UniquenessIndex,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        self.lend_altered(accepted, Alteration::default(), judge)
    }

    /// Like [`Self::lend`], with this tree.
    pub(super) fn lend_over<T>(
        &self,
        tree: &TreeLook,
        accepted: &dyn UniquenessIndex,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        self.lend_both(Some(tree), accepted, Alteration::default(), judge)
    }

    /// Like [`Self::lend`], with a copy of the tree that has these alterations.
    pub fn lend_altered<T>(
        &self,
        accepted: &dyn UniquenessIndex,
        altered: Alteration,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        self.lend_both(self.tree.look(), accepted, altered, judge)
    }

    fn lend_both<T>(
        &self,
        tree: Option<&TreeLook>,
        accepted: &dyn UniquenessIndex,
        altered: Alteration,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        let live = match &self.network {
            Network::Live(live) => Some(live.for_another()),
            Network::Recorded(_) => None,
        };
        let (fetcher, resolver): (&dyn Fetcher, &dyn Resolver) = match (&self.network, &live) {
            (_, Some(live)) | (Network::Live(live), None) => (live.fetcher(), live.resolver()),
            (Network::Recorded(recorded), None) => (recorded.as_ref(), recorded.as_ref()),
        };
        self.in_sandbox(tree, altered, |sandbox| {
            judge(World {
                fetcher,
                resolver,
                accepted,
                sandbox,
            })
        })
    }

    /// Like [`Self::lend`], but `replay` answers lookups of pages and DNS.
    pub fn lend_offline<T>(
        &self,
        accepted: &dyn UniquenessIndex,
        replay: &Replay<'_>,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        self.in_sandbox(self.tree.look(), Alteration::default(), |sandbox| {
            judge(World {
                sandbox,
                ..replay.world_with(accepted)
            })
        })
    }

    fn in_sandbox<T>(
        &self,
        tree: Option<&TreeLook>,
        altered: Alteration,
        judge: impl FnOnce(&dyn Sandbox) -> T,
    ) -> Result<T, JudgeError> {
        let live = self.altered_sandbox(tree, altered);
        let sandbox: &dyn Sandbox = match &live {
            Some(live) => live,
            None => &NoSandbox,
        };
        let judged = judge(sandbox);
        sandbox
            .failure()
            .map_or(Ok(judged), |why| Err(JudgeError::Sandbox(why)))
    }

    pub fn live_sandbox(&self) -> Option<LiveSandbox<'_>> {
        self.altered_sandbox(self.tree.look(), Alteration::default())
    }

    fn altered_sandbox<'a>(
        &'a self,
        tree: Option<&'a TreeLook>,
        altered: Alteration,
    ) -> Option<LiveSandbox<'a>> {
        let config = self.sandbox.as_ref();
        config.map(|config| LiveSandbox::over(config, tree, altered))
    }

    /// Checks that this process has a network for lookups.
    pub fn check_network(&self) -> Result<(), Unanswered> {
        match &self.network {
            Network::Live(live) => live.fetcher().check_network(),
            Network::Recorded(recorded) => Fetcher::check_network(recorded.as_ref()),
        }
    }

    pub fn sandbox_config(&self) -> Option<&SandboxConfig> {
        self.sandbox.as_ref()
    }

    /// The digest of the tree with what an agent has written in its zones, or in those of its
    /// worktree; `None` without a tree.
    pub fn tree_digest(&self, worktree: Option<&Path>) -> Result<Option<Digest>, JudgeError> {
        let Some(config) = &self.sandbox else {
            return Ok(None);
        };
        let Some(root) = worktree.or(config.root.as_deref()) else {
            return Ok(None);
        };
        let taken = Snapshot::take(root, &config.baseline, &config.zones, &config.ignored);
        let (snapshot, _) = taken.map_err(|error| JudgeError::Sandbox(error.to_string()))?;
        Ok(Some(snapshot.digest()))
    }
}
