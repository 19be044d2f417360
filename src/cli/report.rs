//! `comail report`: whether the session is complete, and what became of every quest.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;

use super::context::{Context, Folded};
use super::exit::{Exit, refuse};
use super::output_file::{refuse_in_session, write_atomically};
use super::progress::{self, WorkBar};
use super::state_args::StateArgs;
use super::{context, exit};
use crate::base::text::{Escaped, plural};
use crate::judge::audit::Live;
use crate::judge::completeness::{JudgedAgain, MinPass, Survey};
use crate::judge::{self, FinalResult, JudgeContext, JudgeError, audit, completeness, live_runs};
use crate::quest::QuestId;
use crate::report::draw::{self, MOST_QUESTS};
use crate::report::page;
use crate::report::picture::{Picture, Word};
use crate::report::run::{Report, RunHistory, Telling, markdown, word};
use crate::session::{Ledger, Projection, RunId, Session, SessionError, State, read_manifest};

/// Report whether the session is complete, and the result of every quest
///
/// A session is COMPLETE if every quest is PASS or was decided by a person, no lost worker holds a
/// claim, the working tree is unchanged outside the write zones, every PASS follows from its evidence,
/// the chain of the ledger is intact, and the checks of the whole result pass (`[final]` in a quest
/// file). If all that prevents this are open REVIEWs and DONE quests, it is settled, but not proven.
/// Otherwise it is NOT COMPLETE. In both cases the report lists the reasons with their quests, and the
/// exit code is 8.
///
/// Every PASS that rests on a tree, on commands or on services is judged again by these as they are
/// now, within the time limits of the session. One that no longer holds is listed with its facts; if
/// it fails and no worker holds a claim, it is recorded as regressed, and its quest is TODO again with
/// all its tries. Pages and DNS are answered from the evidence, and reviewers are not asked.
/// `comail audit --live` also asks the network again, and records nothing.
///
/// The report describes the current state of the session, whichever agent worked on it. It is printed
/// as Markdown, or written to a file: as a web page in one file, with the progress, the rules that
/// fired and the evidence of every quest, if its name ends in .html, or as Markdown if it ends in .md.
/// --state selects the quests that a page lists; its figures count all of them.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Report on this run [default: the last run that did something, with the figures of all runs]
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,

    /// Minimum share of quests with PASS, such as 80%
    #[arg(long, value_name = "PERCENT")]
    min_pass: Option<MinPass>,

    /// Exit with 0 also if REVIEWs are open or quests are DONE
    #[arg(long)]
    accept_unproven: bool,

    /// Do not judge PASSes again by the tree and the commands as they are now; the report says so, and
    /// exit code 0 then means that the work is complete as recorded
    #[arg(long)]
    quick: bool,

    /// The file to write, .html or .md [default: print the report]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    state: StateArgs,

    /// Replace an existing file, but never the list
    #[arg(long, requires = "out")]
    force: bool,
}

/// The form of a report in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Markdown,
    Page,
}

pub(super) fn run(context: &mut Context, args: &ReportArgs) -> Result<Exit> {
    let target = target(context, args)?;
    let asked = Asked {
        run: args.run,
        min_pass: args.min_pass,
        accept_unproven: args.accept_unproven,
        judge_again: if args.quick {
            JudgeAgain::LeftOut
        } else {
            JudgeAgain::Now
        },
        stop: &progress::is_asked,
    };
    let made = made(context, &asked)?;
    for regressed in &made.regressed {
        let note = format!("quest {regressed} no longer holds, and is TODO again");
        context.output.note(&note);
    }
    let text = markdown(&made.report)?;
    let target = target.filter(|_| !made.stopped);
    let written = target.map(|target| write(context, &made, target, args, &text));
    let text = if let Some(written) = written.transpose()?.flatten() {
        let summary = text.split("\n## ").next().unwrap_or_default();
        format!("{}\n\n{written}", summary.trim_end())
    } else {
        context.output.page();
        text
    };
    context
        .output
        .show(&made.report, |out, _| out.line(text.trim_end()))?;
    Ok(if made.stopped {
        Exit::Interrupted
    } else {
        exit::of_finding(made.report.complete)
    })
}

/// Writes the report, and says where it is; none if it cannot be written.
fn write(
    context: &mut Context,
    made: &Made,
    (path, format): (&Path, Format),
    args: &ReportArgs,
    text: &str,
) -> Result<Option<String>> {
    let folded = match &made.seen {
        Ok(folded) => folded,
        // A file about a damaged ledger would look reliable.
        Err(damage) => {
            context.output.note(&format!(
                "no file was written, because the session cannot be read: {damage}"
            ));
            return Ok(None);
        }
    };
    let session = &folded.session;
    let totals = folded.projection.totals();
    let mut lists = String::new();
    write_atomically(path, args.force, session, totals, |out| {
        if format == Format::Markdown {
            return Ok(out.write_all(text.as_bytes())?);
        }
        let (picture, html) = page(context, folded, word(&made.report), &args.state.states)?;
        if picture.left_out > 0 {
            let all = plural(totals.tally.total(), "quest");
            lists = format!("; it lists {} of {all}", picture.quests.len());
        }
        Ok(out.write_all(html.as_bytes())?)
    })?;
    let place = path.display().to_string();
    Ok(Some(format!("written to {}{lists}", Escaped(&place))))
}

/// A page that lists the quests in these states, or all if none is named.
pub(super) fn page(
    context: &Context,
    folded: &Folded,
    completeness: Word,
    only: &[State],
) -> Result<(Picture, String)> {
    let picture = picture(context, folded, completeness, only)?;
    let html = page::html(&picture)?;
    Ok((picture, html))
}

fn picture(
    context: &Context,
    folded: &Folded,
    completeness: Word,
    only: &[State],
) -> Result<Picture> {
    let watch = context.watch();
    let asked = draw::Asked {
        at: context::now(),
        completeness,
        only,
        most: MOST_QUESTS,
        watch: watch.as_ref(),
    };
    Ok(draw::picture(&folded.session, &folded.projection, asked)?)
}

/// The page of a server, without judging PASSes again.
pub(super) fn live_page(context: &mut Context) -> Result<Exit> {
    let asked = Asked {
        run: None,
        min_pass: None,
        accept_unproven: false,
        judge_again: JudgeAgain::LeftOut,
        stop: &progress::is_asked,
    };
    let made = made(context, &asked)?;
    let folded = match &made.seen {
        Ok(folded) => folded,
        Err(damage) => bail!("the session cannot be read: {damage}"),
    };
    let picture = picture(context, folded, word(&made.report), &[])?;
    let html = page::live(&picture, folded.projection.tip().length)?;
    context.output.pass_on(&html)?;
    Ok(Exit::Done)
}

/// The file to write, and the form that its name implies.
fn target<'a>(context: &Context, args: &'a ReportArgs) -> Result<Option<(&'a Path, Format)>> {
    let named = args.out.as_deref().map(|path| {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match ending.to_str() {
            Some("html" | "htm") => Format::Page,
            Some("md") => Format::Markdown,
            _ => {
                return refuse(format!(
                    "{}: name the report .html for a web page, or .md for Markdown",
                    path.display()
                ));
            }
        };
        refuse_in_session(path, &context.dir)?;
        Ok((path, format))
    });
    let named = named.transpose()?;
    let is_page = named.is_some_and(|(_, format)| format == Format::Page);
    if !is_page && !args.state.states.is_empty() {
        return refuse("--state selects the quests of a web page: name it with --out FILE.html");
    }
    Ok(named)
}

/// Whether PASSes are judged again by the current tree and commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgeAgain {
    Now,
    LeftOut,
    /// They were a moment ago, and all of them hold.
    Done,
}

pub(super) struct Asked<'a> {
    /// The run that the report is about; by default the last one.
    pub(super) run: Option<RunId>,
    pub(super) min_pass: Option<MinPass>,
    /// Whether a session with open REVIEWs and DONE quests counts as complete.
    pub(super) accept_unproven: bool,
    pub(super) judge_again: JudgeAgain,
    /// Whether to end that early.
    pub(super) stop: &'a dyn Fn() -> bool,
}

pub(super) struct Made {
    pub(super) report: Report,
    /// The session, or why it cannot be read.
    pub(super) seen: Result<Folded, String>,
    /// Whether Ctrl-C stopped it early.
    pub(super) stopped: bool,
    /// The quests that are TODO again, because their PASS no longer holds.
    pub(super) regressed: Vec<QuestId>,
}

/// Makes a report, in which a session that cannot be read is a shortfall and not an error.
pub(super) fn made(context: &mut Context, asked: &Asked<'_>) -> Result<Made> {
    let (dir, run) = (context.dir.clone(), asked.run);
    let mut regressed = Vec::new();
    let (seen, manifest, history, shortfalls, survey) = match context.open_whole() {
        Ok(mut folded) => {
            context.report_repairs(&folded.session);
            let history = history(&dir)?;
            if let Some(run) = run.filter(|run| history.get(*run).is_none()) {
                return refuse(format!("this session has no run {run}"));
            }
            let mut survey = survey(context, asked, &folded, &history)?;
            regressed = record_lost(context, &folded, &survey)?;
            if !regressed.is_empty() {
                folded = context.open_whole()?;
                survey.note_todo(&regressed);
            }
            let manifest = folded.session.manifest().clone();
            let shortfalls = completeness::decide(&survey);
            (Ok(folded), Some(manifest), history, shortfalls, survey)
        }
        Err(error) => {
            let why = error.to_string();
            let shortfalls = completeness::of_damage(&audit::found(error)?);
            // Runs are reported up to the damage of the ledger.
            let history = history(&dir).unwrap_or_default();
            let manifest = read_manifest(&dir).map(|(manifest, _)| manifest);
            (
                Err(why),
                manifest.ok(),
                history,
                shortfalls,
                Survey::default(),
            )
        }
    };
    let unproven_changes = match &seen {
        Ok(folded) => judge::unproven_changes(&folded.session, None)?,
        Err(_) => Vec::new(),
    };
    let judged_again = JudgedAgain::of(&survey, asked.judge_again != JudgeAgain::LeftOut);
    let report = Report::of(&Telling {
        at: context::now(),
        manifest: manifest.as_ref(),
        projection: seen.as_ref().ok().map(|folded| &folded.projection),
        history: &history,
        shortfalls: &shortfalls,
        forgotten: &survey.forgotten,
        unproven_changes: &unproven_changes,
        judged_again: seen.is_ok().then_some(judged_again),
        last: seen.is_ok().then_some(survey.last.word),
        run,
        lives: &|run| lives(&dir, &history, run),
    })?;
    Ok(Made {
        report,
        seen,
        stopped: survey.stopped,
        regressed,
    })
}

fn survey(
    context: &Context,
    asked: &Asked<'_>,
    Folded {
        session,
        projection,
    }: &Folded,
    history: &RunHistory,
) -> Result<Survey> {
    // Up to here Ctrl-C ends the process at once, because nothing is lost.
    progress::handle_ctrl_c();
    let lives = |run| lives(session.dir(), history, run);
    let text = |error: JudgeError| format!("{:#}", anyhow::Error::new(error));
    let mut judges = JudgeContext::of(session).map_err(text);
    // All later judgements use the tree of one moment.
    let held = match &mut judges {
        Ok(judges) => judges.world.hold_tree().map_err(text),
        Err(why) => Err(why.clone()),
    };
    let last = said(session, projection, judges.as_ref());
    let world = judges.map(|judges| Arc::new(judges.world));
    let tree = match (&world, &held) {
        (Ok(world), Ok(())) => Ok(world.as_ref()),
        (Err(why), _) | (_, Err(why)) => Err(why.as_str()),
    };
    let watch = context.watch();
    let now = context::now();
    let mut survey = Survey {
        last,
        min_pass: asked.min_pass,
        accept_unproven: asked.accept_unproven,
        ..completeness::survey(session, projection, tree, now, &lives, watch.as_ref())?
    };
    drop(watch);
    if asked.judge_again == JudgeAgain::Done {
        survey.again = Some(Live::default());
    }
    if asked.judge_again == JudgeAgain::Now
        && let Ok(world) = &world
    {
        let bar = WorkBar::of("judging again", survey.on_machine.len() as u64);
        let count = || bar.count();
        completeness::judge_again(session, projection, world, &mut survey, &count, asked.stop)?;
    }
    Ok(survey)
}

/// Makes quests TODO again whose PASS fails now, unless somebody works: a tree that is being changed
/// says nothing about the result. Returns these quests.
fn record_lost(context: &mut Context, folded: &Folded, survey: &Survey) -> Result<Vec<QuestId>> {
    let lost = survey.again.as_ref().map(|again| again.lost.clone());
    let Some(lost) = lost.filter(|lost| !lost.is_empty()) else {
        return Ok(Vec::new());
    };
    let now = context::now();
    let claims = folded.projection.claims()?;
    let live = live_runs::live_runs(&context.dir, &folded.projection.totals().runs);
    if !live.is_empty() || claims.iter().any(|claim| claim.is_live(now)) {
        return Ok(Vec::new());
    }
    let recorded = context.open_session().and_then(|mut session| {
        let recorded = judge::record_lost(&mut session, lost, &mut context::clock());
        Ok(recorded?)
    });
    // The report is as true without it, such as of a copy that cannot be written.
    Ok(recorded.unwrap_or_else(|why| {
        let note = format!("what no longer holds could not be recorded: {why:#}");
        context.output.note(&note);
        Vec::new()
    }))
}

fn history(dir: &Path) -> Result<RunHistory, SessionError> {
    let (_, mut log) = Ledger::open(dir)?;
    let mut history = RunHistory::default();
    let read = log.read_on(&mut |entry| history.take(entry.line.at(), &entry.event));
    // The lines before the damage can be used.
    match read {
        Ok(()) | Err(SessionError::Damaged { .. }) => Ok(history),
        Err(error) => Err(error),
    }
}

/// Whether a run is alive: it has no end in the ledger, and its process lives or its lock is held.
fn lives(dir: &Path, history: &RunHistory, run: RunId) -> bool {
    let known = history.get(run);
    let ended = known.is_some_and(|run| run.ended.is_some());
    let process = known.and_then(|run| run.began.process);
    !ended && live_runs::is_live(dir, run, process)
}

/// The result of the checks over the whole result, which do not run as long as quests are TODO.
fn said(
    session: &Session,
    projection: &Projection,
    judges: Result<&JudgeContext, &String>,
) -> FinalResult {
    let judges = match judges {
        Ok(judges) if !judges.has_final_gate() => return FinalResult::default(),
        Ok(judges) => judges,
        Err(why) => return FinalResult::unjudged(why),
    };
    if projection.remaining() > 0 {
        return FinalResult::unjudged("quests are TODO");
    }
    if progress::is_asked() {
        return FinalResult::unjudged("it was stopped");
    }
    let result = judges.final_gate(session);
    result.unwrap_or_else(|error| FinalResult::unjudged(format!("{:#}", anyhow::Error::new(error))))
}
