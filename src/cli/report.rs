//! `comail report`: whether the session is complete, and what became of every quest.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::{Exit, UsageError};
use super::export::{Findings, PageWanted, write_page};
use super::progress::Interrupt;
use super::{context, exit, report};
use crate::judge::audit::Onlooker;
use crate::judge::completeness::{MinPass, Survey};
use crate::judge::{FinalResult, JudgeContext, JudgeError, audit, completeness};
use crate::report::run::{Report, RunHistory, Telling, markdown, word};
use crate::session::{Ledger, Projection, Reason, RunId, Session, SessionError, read_manifest};
use crate::world::evidence::recorded::RecordedWorld;

/// Report whether the session is complete, and the result of every quest
///
/// A session is COMPLETE if no quest is TODO, no lost worker holds a claim, the working tree is
/// unchanged outside the write zones, every PASS follows from its evidence, the chain of the ledger is
/// intact, and the checks of the whole result pass (`[final]` in a quest file). Otherwise it is NOT
/// COMPLETE: the report lists the reasons with their quests, and the exit code is 8. It also says how
/// many quests ended without proof.
///
/// The report describes the current state of the session, whichever agent worked on it. Its text is
/// Markdown.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Report on this run [default: the last run, with the figures of all runs]
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,

    /// Minimum share of quests with PASS, such as 80%
    #[arg(long, value_name = "PERCENT")]
    min_pass: Option<MinPass>,

    /// Also write the report to this file as a self-contained web page
    #[arg(long, value_name = "PATH")]
    html: Option<PathBuf>,

    /// Replace an existing page, but never the list
    #[arg(long, requires = "html")]
    force: bool,
}

pub(super) fn run(context: &mut Context, args: &ReportArgs) -> Result<Exit> {
    let wanted = Wanted {
        run: args.run,
        min_pass: args.min_pass,
        ended: None,
    };
    if let Some(path) = &args.html {
        refuse_name(path)?;
    }
    let made = made(context, &wanted)?;
    if let Some(path) = args.html.as_deref().filter(|_| !made.stopped) {
        write(context, &made, path, args.force)?;
    }
    let text = markdown(&made.report)?;
    context
        .output
        .show(&made.report, |out, _| out.line(text.trim_end()))?;
    Ok(if made.stopped {
        Exit::Interrupted
    } else {
        exit::of_finding(made.report.complete)
    })
}

fn write(context: &mut Context, made: &Made, path: &Path, force: bool) -> Result<()> {
    match &made.seen {
        Ok((session, projection)) => {
            let findings = Findings {
                session,
                projection,
            };
            let wanted = PageWanted {
                path,
                force,
                only: &[],
                completeness: Some(word(&made.report)),
            };
            write_page(findings, wanted, context.watch().as_ref())?;
            context
                .output
                .note(&format!("the page is {}", path.display()));
        }
        // A page of a damaged ledger would look as if it were reliable.
        Err(damage) => {
            let note = format!("no page was written, because the session cannot be read: {damage}");
            context.output.note(&note);
        }
    }
    Ok(())
}

/// Refuses a name that suggests another format.
fn refuse_name(path: &Path) -> Result<(), UsageError> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending == "html" || ending == "htm" {
        return Ok(());
    }
    let text = format!("{}: name the page .html", path.display());
    Err(UsageError(text))
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    /// The run that it is about; the last where none is named.
    pub(super) run: Option<RunId>,
    /// The share that must have passed.
    pub(super) min_pass: Option<MinPass>,
    /// The run that ends now, and why: it counts as ended, though it holds its lock.
    pub(super) ended: Option<(RunId, Reason)>,
}

pub(super) struct Made {
    pub(super) report: Report,
    /// The session and its whole ledger, folded; why not, where they do not read.
    pub(super) seen: Result<(Session, Projection), String>,
    /// Whether it was stopped by Ctrl-C before everything was looked at.
    pub(super) stopped: bool,
}

/// Makes a report. A session that cannot be read is a shortfall in it, and not an error.
pub(super) fn made(context: &mut Context, wanted: &Wanted) -> Result<Made> {
    let dir = context.session_dir().to_owned();
    match opened(context) {
        Ok((session, projection)) => {
            context.report_repairs(&session);
            let history = history(&dir, wanted)?;
            known(&history, wanted.run)?;
            let (report, stopped) = whole(context, wanted, &session, &projection, &history)?;
            Ok(Made {
                report,
                seen: Ok((session, projection)),
                stopped,
            })
        }
        Err(error) => {
            let why = error.to_string();
            let shortfalls = completeness::of_damage(&audit::found(error)?);
            // Runs are reported as far as the ledger can be read.
            let history = history(&dir, wanted).unwrap_or_default();
            let kind = read_manifest(&dir).map(|(manifest, _)| manifest.kind.name);
            let report = Report::of(&Telling {
                at: context::now(),
                kind: kind.ok().as_deref(),
                projection: None,
                history: &history,
                shortfalls: &shortfalls,
                forgotten: &[],
                last: None,
                run: wanted.run,
                lives: &|run| lives(&dir, &history, run),
            })?;
            Ok(Made {
                report,
                seen: Err(why),
                stopped: false,
            })
        }
    }
}

fn opened(context: &mut Context) -> Result<(Session, Projection), SessionError> {
    let mut session = Session::open_watched(context.session_dir(), context.watch())?;
    let projection = session.fold()?;
    Ok((session, projection))
}

fn whole(
    context: &Context,
    wanted: &Wanted,
    session: &Session,
    projection: &Projection,
    history: &RunHistory,
) -> Result<(Report, bool)> {
    // Until here Ctrl-C ends the process at once: nothing is lost by it.
    let interrupt = Interrupt::heed();
    let stop = || interrupt.is_asked();
    let lives = |run| lives(session.dir(), history, run);
    let last = report::said(session, projection, context.recorded_world(), &stop);
    let watch = context.watch();
    let onlooker = Onlooker {
        watch: watch.as_ref(),
        stop: &stop,
    };
    let survey = Survey {
        last,
        min_pass: wanted.min_pass,
        ..completeness::survey(session, projection, context::now(), &lives, onlooker)?
    };
    drop(watch);
    let report = Report::of(&Telling {
        at: context::now(),
        kind: Some(session.manifest().kind.name.as_str()),
        projection: Some(projection),
        history,
        shortfalls: &completeness::decide(&survey),
        forgotten: &survey.forgotten,
        last: Some(survey.last.word),
        run: wanted.run,
        lives: &lives,
    })?;
    Ok((report, survey.stopped))
}

fn history(dir: &Path, wanted: &Wanted) -> Result<RunHistory, SessionError> {
    let (_, mut log) = Ledger::open(dir)?;
    let mut history = RunHistory::default();
    let read = log.read_on(&mut |entry| history.take(entry.line.at(), &entry.event));
    // The lines before the damage are still good.
    match read {
        Ok(()) | Err(SessionError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    if let Some((run, reason)) = wanted.ended {
        history.end(run, context::now(), reason);
    }
    Ok(history)
}

fn known(history: &RunHistory, run: Option<RunId>) -> Result<(), UsageError> {
    let unknown = run.filter(|run| history.get(*run).is_none());
    unknown.map_or(Ok(()), |run| {
        Err(UsageError(format!("this session has no run {run}")))
    })
}

/// Whether a run goes on: no line ends it, and its process lives or somebody holds its lock.
fn lives(dir: &Path, history: &RunHistory, run: RunId) -> bool {
    let known = history.get(run);
    let ended = known.is_some_and(|run| run.ended.is_some());
    let process = known.and_then(|run| run.began.process);
    !ended && completeness::is_live(dir, run, process)
}

/// What the checks over the whole result say. They are not run as long as quests are TODO.
pub(super) fn said(
    session: &Session,
    projection: &Projection,
    recorded: Option<&RecordedWorld>,
    stop: &dyn Fn() -> bool,
) -> FinalResult {
    let judged = || -> Result<FinalResult, JudgeError> {
        let context = JudgeContext::of(session, recorded)?;
        if !context.has_final_gate() {
            return Ok(FinalResult::default());
        }
        if projection.remaining() > 0 {
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
