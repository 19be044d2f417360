//! `comail report`: whether the session is complete, and what became of every quest.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::{self, Exit, UsageError};
use super::export::{PageWanted, write_page};
use super::export_rows::Findings;
use super::output::Paper;
use super::report_made::{Made, Wanted, made};
use crate::judge::completeness::MinPass;
use crate::report::run::{Report, markdown, word};
use crate::session::RunId;

/// Report whether the session is complete, and the result of every quest
///
/// COMPLETE only if nothing is TODO, no worker that is gone holds a quest, the working tree is as
/// it was where nobody may write, every PASS follows from its evidence, the ledger's chain holds,
/// and the checks over the whole result passed (`[final]` in a quest file); else NOT COMPLETE, with
/// the reasons and the quests, and exit 8. What share ended with nothing proven is said either way.
///
/// The session is looked at as it stands, whoever worked at it. The text is Markdown.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
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

const EXAMPLES: &str = "\
Examples:
  comail report > report.md
  comail report --min-pass 80%
  comail report --run 7f3a09c2";

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
    context.output.show(&made.report, text)?;
    Ok(if made.stopped {
        Exit::Interrupted
    } else {
        exit::of_completeness(made.report.complete)
    })
}

/// Writes the page, and says so.
fn write(context: &mut Context, made: &Made, path: &Path, force: bool) -> Result<()> {
    match &made.seen {
        Ok((session, board)) => {
            let findings = Findings { session, board };
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
        // What cannot be believed is told in words alone.
        Err(damage) => {
            let note = format!("no page was written, for the session does not read: {damage}");
            context.output.note(&note);
        }
    }
    Ok(())
}

/// Refuses a name that promises something else.
fn refuse_name(path: &Path) -> Result<(), UsageError> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending == "html" || ending == "htm" {
        return Ok(());
    }
    let text = format!("{}: a page is named .html", path.display());
    Err(UsageError(text))
}

fn text(paper: &mut Paper, report: &Report) {
    for line in markdown(report).lines() {
        paper.line(line);
    }
}
