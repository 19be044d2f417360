//! What a command notes for the run that started the agent which calls it.

use std::ffi::OsString;
use std::path::Path;

use super::context::{SESSION_VARIABLE, WORKER_VARIABLE};
use super::exit::Exit;
use super::hook::RUN_VARIABLE;
use crate::run::detect::SelfCall;
use crate::run::{Noted, note};
use crate::session::{RunId, Worker};

/// Notes the call that these words made and that ended so, where a run waits for it.
///
/// The run sees by it an agent that goes round in circles; the call itself does not change.
pub(super) fn note_call(args: &[OsString], exit: Exit) {
    let Some((session, run, worker)) = of_run() else {
        return;
    };
    let words: Vec<_> = args
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy())
        .collect();
    if let Some(self_call) = SelfCall::of_words(&words) {
        let submitted = matches!(self_call, SelfCall::Submit(_));
        let judged = matches!(exit, Exit::Done | Exit::Failed | Exit::FailedAndDone);
        let judged = submitted && judged;
        note(
            Path::new(&session),
            run,
            &worker,
            Noted { self_call, judged },
        );
    }
}

/// The session, the run and the name that an agent was given.
fn of_run() -> Option<(OsString, RunId, Worker)> {
    let session = std::env::var_os(SESSION_VARIABLE)?;
    let run = std::env::var(RUN_VARIABLE).ok()?.parse().ok()?;
    let worker = std::env::var(WORKER_VARIABLE).ok()?.parse().ok()?;
    Some((session, run, worker))
}
