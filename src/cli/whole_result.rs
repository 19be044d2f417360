//! What the checks over the whole result say, asked of the tree and the world as they are now.

use crate::judge::{FinalResult, JudgeContext, JudgeError};
use crate::session::{Projection, Session};
use crate::world::evidence::recorded::RecordedWorld;

/// What the checks over the whole result say. They are not run as long as quests are TODO.
pub(super) fn said(
    session: &Session,
    board: &Projection,
    recorded: Option<&RecordedWorld>,
    stop: &dyn Fn() -> bool,
) -> FinalResult {
    let judged = || -> Result<FinalResult, JudgeError> {
        let context = JudgeContext::of(session, recorded)?;
        if !context.has_final_gate() {
            return Ok(FinalResult::default());
        }
        if board.remaining() > 0 {
            return Ok(FinalResult::unjudged("quests are TODO"));
        }
        if stop() {
            return Ok(FinalResult::unjudged("it was stopped"));
        }
        context.final_gate(session)
    };
    judged()
        .unwrap_or_else(|error| FinalResult::unjudged(format!("{:#}", anyhow::Error::new(error))))
}
