//! A session ready to judge one answer after the other.

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::judge::error::JudgeError;
use crate::judge::fix::{Fixed, submit_and_fix, written};
use crate::judge::kind::{SessionKind, network_of};
use crate::judge::submit::{Answer, Judge, submit};
use crate::session::Session;
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::{Bench, LiveWorkshop, NoWorkshop, Workshop};

/// What a session is judged by: its quest kind, the network and the sandbox.
pub struct JudgeContext<'a> {
    pub kind: SessionKind,
    live: LiveWorld,
    recorded: Option<&'a RecordedWorld>,
    bench: Option<Bench>,
}

impl<'a> JudgeContext<'a> {
    /// Loads what the session froze. Pages and DNS come from `recorded` where it is given.
    pub fn of(session: &Session, recorded: Option<&'a RecordedWorld>) -> Result<Self, JudgeError> {
        let kind = SessionKind::load(session.manifest())?;
        let network = network_of(session.manifest())?;
        Ok(Self {
            live: LiveWorld::new(&network, Some(session.dir().join("hosts")))?,
            recorded,
            bench: kind.bench(session.evidence(), session.dir().to_owned())?,
            kind,
        })
    }

    /// The digest of what an agent has written in the zones of the tree; none without a tree.
    #[must_use]
    pub fn written(&self) -> Option<Digest> {
        let bench = self.bench.as_ref()?;
        written(bench).ok().flatten()
    }

    /// Judges an answer and records the judgement. If the kind has a fixer for what failed, that
    /// runs, and the answer is judged again.
    pub fn submit(
        &self,
        session: &mut Session,
        answer: Answer<'_>,
        clock: &mut dyn Clock,
    ) -> Result<Fixed, JudgeError> {
        submit_and_fix(session, self, answer.quest, &mut |session| {
            // Each judgement has a budget of lookups and a snapshot of the tree of its own.
            let live = self.live.for_another();
            let workshop = self.bench.as_ref().map(LiveWorkshop::new);
            let workshop: &dyn Workshop = match &workshop {
                Some(live) => live,
                None => &NoWorkshop,
            };
            let judge = Judge {
                kind: &self.kind,
                fetcher: self.recorded.map_or(live.fetcher(), |world| world),
                resolver: self.recorded.map_or(live.resolver(), |world| world),
                workshop,
            };
            submit(session, answer, &judge, clock)
        })
    }

    pub(super) fn bench(&self) -> Option<&Bench> {
        self.bench.as_ref()
    }
}
