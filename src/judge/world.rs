//! The world that a session is judged by: the network, or a recorded world, and the tree.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::Digest;
use crate::judge::error::JudgeError;
use crate::judge::kind::{SessionKind, network_of};
use crate::session::{Manifest, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Alteration, LiveSandbox, NoSandbox, Sandbox, SandboxConfig};
use crate::world::tree::Snapshot;
use crate::world::{Fetcher, Resolver, UniquenessIndex, World};

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
