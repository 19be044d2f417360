//! Running one command to its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use nix::sys::signal::Signal;

use super::confinement::Confinement;
use super::launch::{Launcher, Running, in_future};
use super::order::Order;
use super::ran::{End, Ran};
use super::reports;
use super::told::{Keep, Known, Stream};

/// Runs a command in a scratch copy and tells what became of it; nothing of it is left running.
#[must_use]
pub fn run(order: &Order, scratch: &Path, launcher: &Launcher) -> Ran {
    let began = Instant::now();
    let mut ran = match launch(order, scratch, launcher) {
        Ok(running) => watch(running, order),
        Err(error) => not_started(&error),
    };
    let read = |report: &String| (report.clone(), reports::read(scratch, report));
    ran.reports = match ran.end {
        End::NotStarted(_) => order.reports.iter().map(|r| (r.clone(), None)).collect(),
        _ => order.reports.iter().map(read).collect(),
    };
    ran.millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Its arguments and its environment may hold what nobody else is to know.
    tracing::info!(
        order = order.name,
        program = order.argv.first().map_or("", String::as_str),
        end = ?ran.end,
        ms = ran.millis,
        "ran a command"
    );
    ran
}

fn launch(order: &Order, scratch: &Path, launcher: &Launcher) -> std::io::Result<Running> {
    for report in &order.reports {
        reports::remove(scratch, report)?;
    }
    Running::start(launcher, order, scratch, Keep::Head(order.output_bytes))
}

fn not_started(error: &std::io::Error) -> Ran {
    Ran {
        end: End::NotStarted(error.to_string()),
        stdout: Vec::new(),
        stderr: Vec::new(),
        reports: BTreeMap::new(),
        confinement: Confinement::default(),
        millis: 0,
    }
}

fn watch(mut running: Running, order: &Order) -> Ran {
    let seen = running
        .told()
        .wait(in_future(order.timeout()), how_it_ended);
    if seen.is_none() {
        running.terminate();
    }
    running.end();
    let known = running.told().known();
    let end = match seen {
        None => End::TimedOut,
        Some(end @ End::NotStarted(_)) => end,
        // The rest of what it wrote may have come after the word of its end.
        Some(_) if known.too_much => End::TooMuchOutput,
        Some(end) => end,
    };
    Ran {
        end,
        stdout: known.kept(Stream::Out),
        stderr: known.kept(Stream::Err),
        reports: BTreeMap::new(),
        confinement: known.started.clone().unwrap_or_default(),
        millis: 0,
    }
}

/// How the command has ended, if it has.
pub(super) fn how_it_ended(known: &Known) -> Option<End> {
    if known.too_much {
        return Some(End::TooMuchOutput);
    }
    // A supervisor that is gone without a word was killed, and all that it watched with it.
    let silent = || match known.started {
        Some(_) => End::Signalled(Signal::SIGKILL as i32),
        None => End::NotStarted("the process that was to start it ended".to_owned()),
    };
    known.ended.clone().or_else(|| known.gone.then(silent))
}
