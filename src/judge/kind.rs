//! What a session judges by, read once from what it froze.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::base::Digest;
use crate::gate::GateSettings;
use crate::gate::checks::FileGate;
use crate::gate::email::email_gate;
use crate::gate::{Gate, Rule, common_rules};
use crate::judge::error::{JudgeError, settings};
use crate::judge::panel::frozen::FrozenPanel;
use crate::judge::panel::{Panel, SessionGate};
use crate::judge::quest_file::{Definition, FixerPlan, fixer, frozen_listing, services};
use crate::quest::{QuestKind, email};
use crate::session::{EvidenceStore, Manifest, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::fetch::settings::NetworkSettings;
use crate::world::sandbox::{
    Alteration, LiveSandbox, NoSandbox, Sandbox, SandboxConfig, ServicePlan,
};
use crate::world::tree::Snapshot;
use crate::world::{Fetcher, Resolver, UniquenessIndex, World};

/// The quest kind of a session, for callers that judge nothing.
pub fn kind_of(manifest: &Manifest) -> Result<QuestKind, JudgeError> {
    match Definition::of(manifest)? {
        Some(definition) => Ok(definition.kind()?),
        None if manifest.kind.name == email::NAME => Ok(email::kind()),
        None => Err(JudgeError::UnknownKind(manifest.kind.name.clone())),
    }
}

/// How a session asks the network.
pub fn network_of(manifest: &Manifest) -> Result<NetworkSettings, JudgeError> {
    settings("network", &manifest.frozen.network)
}

pub(super) fn gate_settings<T: DeserializeOwned>(manifest: &Manifest) -> Result<T, JudgeError> {
    settings("gate", &manifest.frozen.gate)
}

/// A session's quest kind with everything that judges its submissions.
///
/// The quest file is parsed once, and the gate is built once.
pub struct SessionKind {
    pub quest: QuestKind,
    pub gate: SessionGate,
    pub definition: Option<Definition>,
    /// Whether there are checks over the whole result.
    pub(super) has_final: bool,
    pub(super) fixer: Option<FixerPlan>,
    panel: Option<FrozenPanel>,
    services: BTreeMap<String, ServicePlan>,
}

impl SessionKind {
    pub fn load(manifest: &Manifest) -> Result<Self, JudgeError> {
        let settings: GateSettings = gate_settings(manifest)?;
        let robots = settings.robots;
        let frozen = FrozenPanel::of(manifest)?;
        let definition = Definition::of(manifest)?;
        let file = definition.as_ref().map(Definition::file).transpose()?;
        let source = definition.as_ref().zip(file.as_ref());
        let reviewers = frozen.as_ref().map(|it| it.reviewers(source)).transpose()?;
        let panel = reviewers.map(|reviewers| Panel {
            reviewers,
            robots,
            script: None,
        });
        let mut kind = match source {
            None => Self {
                quest: kind_of(manifest)?,
                gate: SessionGate::new(Box::new(email_gate(settings)), panel),
                definition: None,
                has_final: false,
                fixer: None,
                panel: frozen,
                services: BTreeMap::new(),
            },
            Some((definition, file)) => {
                let faulty = |mistake| definition.faulty(mistake);
                let gathered = &definition.gathered;
                let machine = FileGate::new(file, gathered, settings).map_err(faulty)?;
                Self {
                    quest: file.kind(),
                    gate: SessionGate::new(Box::new(machine), panel),
                    definition: None,
                    has_final: file.final_part.is_some(),
                    fixer: fixer(file, gathered).map_err(faulty)?,
                    panel: frozen,
                    services: services(file, gathered).map_err(faulty)?,
                }
            }
        };
        // The file borrows from the definition, which can move into the kind only now.
        drop(file);
        kind.definition = definition;
        Ok(kind)
    }

    /// Every rule that can fire in the session, those of the house first.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = common_rules::rules();
        rules.extend(self.gate.rules());
        rules
    }

    /// Where the session's commands run; none if its kind is built in and has no reviewers.
    ///
    /// `dir` is the session's directory, which commands cannot read.
    pub fn bench(
        &self,
        store: EvidenceStore,
        dir: PathBuf,
    ) -> Result<Option<SandboxConfig>, JudgeError> {
        let Some(definition) = &self.definition else {
            let bench = self.panel.as_ref().map(|panel| panel.bench(vec![dir]));
            return Ok(bench.transpose()?);
        };
        let (baseline, load) = frozen_listing(definition, store)?;
        let mut bench = definition.bench(self.services.clone(), baseline, load, vec![dir])?;
        if let Some(panel) = &self.panel {
            panel.equip(&mut bench);
        }
        Ok(Some(bench))
    }
}

/// Answers lookups, and runs commands over the tree. Threads share it.
pub struct JudgeWorld {
    network: Network,
    bench: Option<SandboxConfig>,
}

enum Network {
    Live(LiveWorld),
    Recorded(Arc<dyn RecordedNetwork>),
}

impl Network {
    /// `hosts` is where it is noted when each host was last asked.
    fn of(
        manifest: &Manifest,
        hosts: Option<PathBuf>,
        recorded: Option<&RecordedWorld>,
    ) -> Result<Self, JudgeError> {
        Ok(match recorded {
            Some(recorded) => Self::Recorded(Arc::new(recorded.clone())),
            None => Self::Live(LiveWorld::new(&network_of(manifest)?, hosts)?),
        })
    }
}

pub(super) trait RecordedNetwork: Fetcher + Resolver + Send + Sync {}

impl<T: Fetcher + Resolver + Send + Sync> RecordedNetwork for T {}

impl JudgeWorld {
    /// The world of a session. Pages and DNS come from `recorded` where it is given.
    pub fn of(
        session: &Session,
        kind: &SessionKind,
        recorded: Option<&RecordedWorld>,
    ) -> Result<Self, JudgeError> {
        Ok(Self {
            network: Network::of(
                session.manifest(),
                Some(session.dir().join("hosts")),
                recorded,
            )?,
            bench: kind.bench(session.evidence(), session.dir().to_owned())?,
        })
    }

    /// The network alone, for a session that is not on disk yet and has no place to note when each
    /// host was last asked.
    pub fn without_session(
        manifest: &Manifest,
        recorded: Option<&RecordedWorld>,
    ) -> Result<Self, JudgeError> {
        Ok(Self {
            network: Network::of(manifest, None, recorded)?,
            bench: None,
        })
    }

    /// A world of which pages and DNS are recorded.
    pub(super) fn recorded(
        network: Arc<impl RecordedNetwork + 'static>,
        bench: Option<SandboxConfig>,
    ) -> Self {
        Self {
            network: Network::Recorded(network),
            bench,
        }
    }

    /// Lends the world for one judgement, with a budget of lookups and a snapshot of the tree of
    /// its own. If the sandbox fails, what was judged does not count: that is an error.
    pub fn lend<T>(
        &self,
        accepted: &dyn UniquenessIndex,
        judge: impl FnOnce(World<'_>) -> T,
    ) -> Result<T, JudgeError> {
        self.lend_altered(accepted, Alteration::default(), judge)
    }

    /// The same, over a copy of the tree in which `altered` is changed.
    pub fn lend_altered<T>(
        &self,
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
        let bench = self.bench.as_ref();
        let sandbox = bench.map(|bench| LiveSandbox::altered(bench, altered));
        let sandbox: &dyn Sandbox = match &sandbox {
            Some(live) => live,
            None => &NoSandbox,
        };
        let judged = judge(World {
            fetcher,
            resolver,
            accepted,
            sandbox,
        });
        sandbox
            .failure()
            .map_or(Ok(judged), |why| Err(JudgeError::Sandbox(why)))
    }

    pub fn bench(&self) -> Option<&SandboxConfig> {
        self.bench.as_ref()
    }

    /// The digest of the tree with what an agent has written in its zones; none without a tree.
    pub fn tree_digest(&self) -> Result<Option<Digest>, JudgeError> {
        let Some(bench) = &self.bench else {
            return Ok(None);
        };
        let Some(root) = &bench.root else {
            return Ok(None);
        };
        let taken = Snapshot::take(root, &bench.baseline, &bench.zones, &bench.ignored);
        let (snapshot, _) = taken.map_err(|error| JudgeError::Sandbox(error.to_string()))?;
        Ok(Some(snapshot.digest()))
    }
}
