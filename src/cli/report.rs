//! `comail report`: whether the session is complete, and what became of every quest.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::{Context, Folded};
use super::exit::{Exit, refuse};
use super::export::write_page;
use super::progress;
use super::{context, exit, export};
use crate::judge::completeness::{MinPass, Survey};
use crate::judge::{FinalResult, JudgeContext, JudgeError, audit, completeness, live_runs};
use crate::report::run::{Report, RunHistory, Telling, markdown, word};
use crate::session::{Ledger, Projection, RunId, Session, SessionError, read_manifest};
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
    if let Some(path) = &args.html {
        refuse_name(path)?;
    }
    let made = made(context, args.run, args.min_pass)?;
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
    let note = match &made.seen {
        Ok(folded) => {
            let page = || export::page(context, folded, Some(word(&made.report)), &[]);
            write_page(folded, path, force, page)?;
            format!("the page is {}", path.display())
        }
        // A page of a damaged ledger would look as if it were reliable.
        Err(damage) => {
            format!("no page was written, because the session cannot be read: {damage}")
        }
    };
    context.output.note(&note);
    Ok(())
}

fn refuse_name(path: &Path) -> Result<()> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending == "html" || ending == "htm" {
        return Ok(());
    }
    refuse(format!("{}: name the page .html", path.display()))
}

pub(super) struct Made {
    pub(super) report: Report,
    /// The session, or why it cannot be read.
    pub(super) seen: Result<Folded, String>,
    /// Whether Ctrl-C stopped it before everything was looked at.
    pub(super) stopped: bool,
}

/// Makes a report on `run`, or on the last one. A session that cannot be read is a shortfall in
/// it, and not an error.
pub(super) fn made(
    context: &mut Context,
    run: Option<RunId>,
    min_pass: Option<MinPass>,
) -> Result<Made> {
    let dir = context.dir.clone();
    let (seen, kind, history, shortfalls, survey) = match context.open_whole() {
        Ok(folded) => {
            context.report_repairs(&folded.session);
            let history = history(&dir)?;
            if let Some(run) = run.filter(|run| history.get(*run).is_none()) {
                return refuse(format!("this session has no run {run}"));
            }
            let survey = survey(context, min_pass, &folded, &history)?;
            let kind = folded.session.manifest().kind.name.clone();
            let shortfalls = completeness::decide(&survey);
            (Ok(folded), Some(kind), history, shortfalls, survey)
        }
        Err(error) => {
            let why = error.to_string();
            let shortfalls = completeness::of_damage(&audit::found(error)?);
            // Runs are reported as far as the ledger can be read.
            let history = history(&dir).unwrap_or_default();
            let kind = read_manifest(&dir).map(|(manifest, _)| manifest.kind.name);
            (Err(why), kind.ok(), history, shortfalls, Survey::default())
        }
    };
    let report = Report::of(&Telling {
        at: context::now(),
        kind: kind.as_deref(),
        projection: seen.as_ref().ok().map(|folded| &folded.projection),
        history: &history,
        shortfalls: &shortfalls,
        forgotten: &survey.forgotten,
        last: seen.is_ok().then_some(survey.last.word),
        run,
        lives: &|run| lives(&dir, &history, run),
    })?;
    Ok(Made {
        report,
        seen,
        stopped: survey.stopped,
    })
}

fn survey(
    context: &Context,
    min_pass: Option<MinPass>,
    Folded {
        session,
        projection,
    }: &Folded,
    history: &RunHistory,
) -> Result<Survey> {
    // Until here Ctrl-C ends the process at once: nothing is lost by it.
    progress::heed();
    let lives = |run| lives(session.dir(), history, run);
    let last = said(session, projection, context.recorded.as_deref());
    let watch = context.watch();
    Ok(Survey {
        last,
        min_pass,
        ..completeness::survey(session, projection, context::now(), &lives, watch.as_ref())?
    })
}

fn history(dir: &Path) -> Result<RunHistory, SessionError> {
    let (_, mut log) = Ledger::open(dir)?;
    let mut history = RunHistory::default();
    let read = log.read_on(&mut |entry| history.take(entry.line.at(), &entry.event));
    // The lines before the damage are still good.
    match read {
        Ok(()) | Err(SessionError::Damaged { .. }) => Ok(history),
        Err(error) => Err(error),
    }
}

/// Whether a run goes on: no line ends it, and its process lives or somebody holds its lock.
fn lives(dir: &Path, history: &RunHistory, run: RunId) -> bool {
    let known = history.get(run);
    let ended = known.is_some_and(|run| run.ended.is_some());
    let process = known.and_then(|run| run.began.process);
    !ended && live_runs::is_live(dir, run, process)
}

/// What the checks over the whole result say. They are not run as long as quests are TODO.
fn said(
    session: &Session,
    projection: &Projection,
    recorded: Option<&RecordedWorld>,
) -> FinalResult {
    let judged = || -> Result<FinalResult, JudgeError> {
        let context = JudgeContext::of(session, recorded)?;
        if !context.has_final_gate() {
            return Ok(FinalResult::default());
        }
        if projection.remaining() > 0 {
            return Ok(FinalResult::unjudged("quests are TODO"));
        }
        if progress::is_asked() {
            return Ok(FinalResult::unjudged("it was stopped"));
        }
        context.final_gate(session)
    };
    judged()
        .unwrap_or_else(|error| FinalResult::unjudged(format!("{:#}", anyhow::Error::new(error))))
}
