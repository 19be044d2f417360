//! What the checks over the whole result say, asked of the tree and the world as they are now.

use anyhow::Result;

use crate::judge::completeness::{FinalSaid, HasNegative, final_checks};
use crate::judge::{self, FinalOutcome, SessionKind};
use crate::session::{Board, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::{Fetcher, Resolver};

/// What the checks over the whole result say. There is none as long as quests are TODO.
pub(super) fn said(
    session: &Session,
    board: &Board,
    recorded: Option<&RecordedWorld>,
    stop: &dyn Fn() -> bool,
) -> FinalSaid {
    let has_negative = match final_checks(session.manifest()) {
        Ok(None) => return FinalSaid::None,
        Ok(Some(_)) if board.remaining() > 0 => {
            return FinalSaid::Unjudged("quests are TODO".to_owned());
        }
        Ok(Some(_)) if stop() => return FinalSaid::Unjudged("it was stopped".to_owned()),
        Ok(Some(HasNegative(has_negative))) => has_negative,
        Err(error) => return FinalSaid::Unjudged(error.to_string()),
    };
    match judged(session, recorded) {
        Ok(outcome) if has_negative => FinalSaid::from(outcome).under_negative(),
        Ok(outcome) => FinalSaid::from(outcome),
        Err(error) => FinalSaid::Unjudged(format!("{error:#}")),
    }
}

fn judged(session: &Session, recorded: Option<&RecordedWorld>) -> Result<FinalOutcome> {
    let kind = SessionKind::load(session.manifest())?;
    let live = LiveWorld::new(&kind.network, Some(session.dir().join("hosts")))?;
    let fetcher: &dyn Fetcher = recorded.map_or(live.fetcher(), |world| world);
    let resolver: &dyn Resolver = recorded.map_or(live.resolver(), |world| world);
    Ok(judge::final_gate(session, &kind, (fetcher, resolver))?)
}
