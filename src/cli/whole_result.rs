//! What the checks over the whole result say, asked of the tree and the world as they are now.

use anyhow::Result;

use crate::judge::completeness::{FinalSaid, has_final};
use crate::judge::{self, FinalOutcome, SessionKind};
use crate::session::{Projection, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::{Fetcher, Resolver};

/// What the checks over the whole result say. There is none as long as quests are TODO.
pub(super) fn said(
    session: &Session,
    board: &Projection,
    recorded: Option<&RecordedWorld>,
    stop: &dyn Fn() -> bool,
) -> FinalSaid {
    match has_final(session.manifest()) {
        Ok(false) => return FinalSaid::None,
        Ok(true) if board.remaining() > 0 => {
            return FinalSaid::Unjudged("quests are TODO".to_owned());
        }
        Ok(true) if stop() => return FinalSaid::Unjudged("it was stopped".to_owned()),
        Ok(true) => {}
        Err(error) => return FinalSaid::Unjudged(error.to_string()),
    }
    match judged(session, recorded) {
        Ok(outcome) => FinalSaid::from(outcome),
        Err(error) => FinalSaid::Unjudged(format!("{error:#}")),
    }
}

fn judged(session: &Session, recorded: Option<&RecordedWorld>) -> Result<FinalOutcome> {
    let kind = SessionKind::load(session.manifest())?;
    let live = LiveWorld::new(
        &judge::network_of(session.manifest())?,
        Some(session.dir().join("hosts")),
    )?;
    let fetcher: &dyn Fetcher = recorded.map_or(live.fetcher(), |world| world);
    let resolver: &dyn Resolver = recorded.map_or(live.resolver(), |world| world);
    Ok(judge::final_gate(session, &kind, (fetcher, resolver))?)
}
