//! What a session is judged by, ready for one answer after the other.

use jiff::Timestamp;

use crate::base::Digest;
use crate::gate::Gate;
use crate::judge::error::DriveError;
use crate::judge::fix::written;
use crate::judge::kind::{gate_of, network_of};
use crate::judge::quest_file::bench_of;
use crate::judge::submit::{Answer, Judge, Outcome, submit};
use crate::session::{Salt, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, NoWorkshop, Workshop};

/// What a session is judged by.
///
/// Each answer has a budget of lookups and a look at the tree of its own.
pub struct Chamber<'a> {
    live: LiveWorld,
    recorded: Option<&'a RecordedWorld>,
    bench: Option<Bench>,
    gate: Box<dyn Gate>,
}

impl<'a> Chamber<'a> {
    pub fn of(session: &Session, recorded: Option<&'a RecordedWorld>) -> Result<Self, DriveError> {
        let network = network_of(session.manifest())?;
        Ok(Self {
            live: LiveWorld::new(&network, Some(session.dir().join("hosts")))?,
            recorded,
            bench: bench_of(
                session.manifest(),
                session.evidence(),
                session.dir().to_owned(),
            )?,
            gate: gate_of(session.manifest())?,
        })
    }

    /// The identity of what an agent has written where it may, if the quests are about a tree that
    /// can be looked at.
    #[must_use]
    pub fn written(&self) -> Option<Digest> {
        let bench = self.bench.as_ref()?;
        written(bench).ok().flatten()
    }

    /// Judges an answer and records what the gate says, as [`submit`] does.
    pub fn judge(
        &self,
        session: &mut Session,
        answer: Answer<'_>,
        now: &mut dyn FnMut() -> Timestamp,
        salts: &mut dyn FnMut() -> Salt,
    ) -> Result<Outcome, DriveError> {
        let live = self.live.for_another();
        let workshop = self.bench.as_ref().map(LiveWorkshop::new);
        let workshop: &dyn Workshop = match &workshop {
            Some(live) => live,
            None => &NoWorkshop,
        };
        let judge = Judge {
            gate: self.gate.as_ref(),
            fetcher: self.recorded.map_or(live.fetcher(), |world| world),
            resolver: self.recorded.map_or(live.resolver(), |world| world),
            workshop,
        };
        submit(session, answer, &judge, now, salts)
    }
}
