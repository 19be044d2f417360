//! `comail run`: an agent is driven over the quests until the work is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{self, Exit, UsageError};
use super::export_page::page;
use super::export_rows::Findings;
use super::interrupt::Interrupt;
use super::output::Output;
use super::report_made::{Made, Wanted, made};
use super::run_args::RunArgs;
use super::run_check::check;
use super::run_prompt::RunDesk;
use super::run_shown;
use super::shell_line::words;
use crate::base::text::Escaped;
use crate::judge::live_runs::run_above;
use crate::report::run::{word, write_page, write_report};
use crate::run::agent::{Given, command_line};
use crate::run::{Audience, News, Plan, Sources, drive_all};
use crate::session::{Reason, RunId, Session, Store as _};

/// The JSON form of `run --dry-run`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DryRun {
    argv: Vec<String>,
    /// How the prompt comes to the agent.
    prompt: Way,
}

/// A line of `run --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RunTells<'a> {
    /// What happens.
    News(&'a News),
    /// Where the report lies, at the end.
    Report(Told),
}

/// The last line of `run --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    #[schemars(extend("const" = "report"))]
    what: &'static str,
    run: RunId,
    complete: bool,
    /// Where the report lies, as text; `report.json` lies beside it.
    path: String,
}

/// How the prompt comes to the agent.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    Stdin,
    Argument,
    File,
}

pub(super) fn run(context: &mut Context, args: &RunArgs) -> Result<Exit> {
    let run = new_run();
    let plan = args.plan(run)?;
    if args.dry_run {
        return dry_run(context, &plan);
    }
    // What is wrong is told before anything is started.
    let session = context.open_session()?;
    refuse_inside_a_run(&session)?;
    if let Some(note) = check(&session, &plan)? {
        context.output.note(&note);
    }
    drop(session);
    let dir = context.session_dir().to_owned();
    let mut watcher = Watcher {
        output: &mut context.output,
        interrupt: Interrupt::heed(),
        terminated: terminated(),
    };
    let sources = Sources {
        now: context::now,
        salts: context::salt,
    };
    let desk = RunDesk::new(&dir, args.lessons()?)?;
    let driven = drive_all(&dir, plan, &desk, &mut watcher, sources);
    // Whatever the run ended for, its report says where the session stands.
    let complete = report(context, args, run);
    let (reason, complete) = (driven?, complete?);
    Ok(match reason {
        Reason::Interrupted => Exit::Interrupted,
        Reason::Complete => exit::of_completeness(complete),
        _ => Exit::Finding,
    })
}

/// Writes the report on a run that has ended; whether the session is complete.
fn report(context: &mut Context, args: &RunArgs, run: RunId) -> Result<bool> {
    let wanted = Wanted {
        run: Some(run),
        min_pass: args.min_pass,
        ended: None,
    };
    let Made { report, seen, .. } = made(context, &wanted)?;
    let place = write_report(context.session_dir(), run, &report)?;
    if let Ok((session, board)) = &seen {
        let findings = Findings { session, board };
        let page = page(findings, Some(word(&report)), &[], context.watch().as_ref());
        let written = page.and_then(|page| Ok(write_page(context.session_dir(), run, &page.html)?));
        if let Err(error) = written {
            // The report stands; the page shows the same and more.
            context
                .output
                .note(&format!("no page was written: {error:#}"));
        }
    }
    let word = if report.complete {
        "COMPLETE"
    } else {
        "NOT COMPLETE"
    };
    let note = format!("{word}: see {}", place.display());
    context.output.note(&note);
    if context.output.is_json() {
        let told = RunTells::Report(Told {
            what: "report",
            run,
            complete: report.complete,
            path: place.display().to_string(),
        });
        // As for what the run told before.
        let _ = context.output.show(&told, |_, _| {});
    }
    Ok(report.complete)
}

/// Refuses to drive a session for an agent that is driven itself.
fn refuse_inside_a_run(session: &Session) -> Result<()> {
    let inside = std::env::var_os("COMAIL_RUN").is_some_and(|run| !run.is_empty());
    if inside || run_above(&session.totals().runs).is_some() {
        let text = "a run inside a run: what a run started must not start another; nothing changed";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(())
}

/// Prints what would be started.
fn dry_run(context: &mut Context, plan: &Plan) -> Result<Exit> {
    let given = Given {
        prompt: "PROMPT",
        prompt_file: Some("PROMPT_FILE".as_ref()),
        model: plan.model.as_deref(),
        conversation: None,
    };
    let line = command_line(&plan.command, &given)?;
    let dry = DryRun {
        argv: line
            .argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        prompt: if line.stdin.is_some() {
            Way::Stdin
        } else if line.needs_file {
            Way::File
        } else {
            Way::Argument
        },
    };
    context.output.show(&dry, |paper, dry| {
        paper.line(Escaped(&words(&dry.argv)).to_string());
        paper.line(match dry.prompt {
            Way::Stdin => "the prompt comes by standard input; nothing was started",
            Way::Argument => "PROMPT stands for the prompt; nothing was started",
            Way::File => "PROMPT_FILE stands for the file of the prompt; nothing was started",
        });
    })?;
    Ok(Exit::Done)
}

/// A name for a run that none had before it, as far as randomness goes.
fn new_run() -> RunId {
    let mut bytes = [0; 4];
    // Without randomness the time tells runs apart.
    if getrandom::fill(&mut bytes).is_err() {
        bytes = context::now().subsec_nanosecond().to_le_bytes();
    }
    RunId::new(u32::from_le_bytes(bytes))
}

/// Set once the process is asked to end by a signal other than that of Ctrl-C.
fn terminated() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Where it cannot be caught it ends the process at once; what is on disk stays.
        let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
    }
    asked
}

/// Shows what happens, and listens for who wants it to end.
struct Watcher<'a> {
    output: &'a mut Output,
    interrupt: Interrupt,
    terminated: Arc<AtomicBool>,
}

impl Audience for Watcher<'_> {
    fn hear(&mut self, news: &News) {
        if let News::Note { text } = news {
            self.output.note(text);
        } else {
            // A reader who has gone does not change what the run does.
            let tells = RunTells::News(news);
            let _ = self
                .output
                .show(&tells, |paper, _| run_shown::write(paper, news));
        }
    }

    fn wants_an_end(&self) -> bool {
        self.interrupt.is_asked() || self.terminated.load(Ordering::SeqCst)
    }
}
