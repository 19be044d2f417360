//! Running one command to its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::confinement::Confinement;
use super::launch::{Launcher, Running};
use super::order::Order;
use super::ran::{End, Ran};
use super::reports;
use super::told::{Keep, how_it_ended};

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

// Waits for the end of the command; kills it when it takes too long or prints too much.
fn watch(mut running: Running, order: &Order) -> Ran {
    let seen = running.process.wait(order.timeout(), how_it_ended);
    if seen.is_none() {
        running.terminate();
    }
    let process = &mut running.process;
    process.end();
    let state = process.state();
    let end = match seen {
        None => End::TimedOut,
        Some(end @ End::NotStarted(_)) => end,
        // The rest of what it wrote may have come after the word of its end.
        Some(_) if state.output.too_much => End::TooMuchOutput,
        Some(end) => end,
    };
    let (stdout, stderr) = state.output.kept();
    Ran {
        end,
        stdout,
        stderr,
        reports: BTreeMap::new(),
        confinement: state.started.clone().unwrap_or_default(),
        millis: 0,
    }
}
