//! Looking at a quest's checks in the live world, for nobody's record.

use std::time::{Duration, Instant};

use super::rounds::{Seen, Sight};
use crate::base::Digest;
use crate::gate::{Case, Cost, Gate};
use crate::judge::accepted::NothingAccepted;
use crate::judge::error::DriveError;
use crate::judge::kind::{gate_of, network_of};
use crate::judge::quest_file::bench_of;
use crate::judge::zone::written;
use crate::quest::{Fields, Quest, Submission};
use crate::session::{EvidenceStore, Manifest};
use crate::world::World;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, Workshop as _};

pub(super) struct Making {
    pub(super) manifest: Manifest,
    pub(super) evidence: EvidenceStore,
    pub(super) dir: std::path::PathBuf,
    pub(super) quest: Quest,
}

pub(super) struct Eye {
    gate: Box<dyn Gate>,
    bench: Bench,
    live: LiveWorld,
    quest: Quest,
    began: Instant,
}

impl Eye {
    /// The eye on this quest; none where its gate runs nothing over files or commands.
    pub(super) fn of(making: Making) -> Result<Option<Self>, DriveError> {
        let gate = gate_of(&making.manifest)?;
        let network = network_of(&making.manifest)?;
        let live = LiveWorld::new(&network, Some(making.dir.join("hosts")));
        let live = live.map_err(|error| DriveError::Workshop(error.to_string()))?;
        let bench = bench_of(&making.manifest, making.evidence, making.dir)?;
        Ok(bench.map(|bench| Self {
            gate,
            bench,
            live,
            quest: making.quest,
            began: Instant::now(),
        }))
    }
}

impl Sight for Eye {
    fn look(&mut self, most: Cost) -> Seen {
        let live = self.live.for_another();
        let workshop = LiveWorkshop::new(&self.bench);
        let world = World {
            fetcher: live.fetcher(),
            resolver: live.resolver(),
            accepted: &NothingAccepted,
            workshop: &workshop,
        };
        let submission = Submission::Fields(Fields::new());
        let case = Case {
            quest: &self.quest,
            submission: &submission,
        };
        let judgement = self.gate.glance(case, &world, most);
        // What kept it from looking is told by the judgement that counts.
        match workshop.failure() {
            Some(_) => Seen::Not,
            None => Seen::of(&judgement),
        }
    }

    fn state(&mut self) -> Option<Digest> {
        written(&self.bench).ok().flatten()
    }

    fn now(&mut self) -> Duration {
        self.began.elapsed()
    }
}
