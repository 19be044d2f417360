//! What the checks over the whole result say, asked of the tree and the world as they are now.

use anyhow::Result;

use crate::judge::completeness::{FinalSaid, has_final, has_negative};
use crate::judge::{self, Judge};
use crate::session::{Board, Session};
use crate::world::evidence::recorded::RecordedWorld;
use crate::world::fetch::live::LiveWorld;
use crate::world::sandbox::NoWorkshop;

/// What the checks over the whole result say. There is none as long as quests are TODO.
pub(super) fn said(
    session: &Session,
    board: &Board,
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
    let judged = judged(session, recorded);
    judged.unwrap_or_else(|error| FinalSaid::Unjudged(format!("{error:#}")))
}

fn judged(session: &Session, recorded: Option<&RecordedWorld>) -> Result<FinalSaid> {
    let network = judge::network_of(session.manifest())?;
    let live = LiveWorld::new(&network, Some(session.dir().join("hosts")))?;
    let gate = judge::gate_of(session.manifest())?;
    let judge = Judge {
        gate: gate.as_ref(),
        fetcher: recorded.map_or(live.fetcher(), |world| world),
        resolver: recorded.map_or(live.resolver(), |world| world),
        workshop: &NoWorkshop,
    };
    let outcome = judge::final_gate(session, &judge)?;
    let said = FinalSaid::from(outcome);
    Ok(if has_negative(session.manifest())? {
        said.under_negative()
    } else {
        said
    })
}
