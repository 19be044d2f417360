//! `comail report`: whether the session is complete, and what became of every quest.

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::{self, Exit};
use super::output::Paper;
use super::report_made::{Wanted, made};
use crate::drive::completeness::MinPass;
use crate::report::run::{Report, markdown};
use crate::session::RunId;

/// Print whether the session is complete, and what became of every quest
///
/// COMPLETE only if nothing is TODO, no worker that is gone holds a quest, the working tree is as
/// it was where nobody may write, every PASS follows from its evidence, the ledger's chain holds,
/// and the checks over the whole result passed (`[final]` in a quest file); else NOT COMPLETE, with
/// the reasons and the quests, and exit 8. What share ended with nothing proven is said either way.
///
/// The session is looked at as it stands, whoever worked at it. The text is Markdown.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run that it is about, and whose numbers are told for each quest
    /// [default: the last, and the numbers of all]
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,

    /// Make it a condition that so many quests are PASS, such as 80%
    #[arg(long, value_name = "PERCENT")]
    min_pass: Option<MinPass>,
}

pub(super) fn run(context: &mut Context, args: &ReportArgs) -> Result<Exit> {
    let wanted = Wanted {
        run: args.run,
        min_pass: args.min_pass,
        ended: None,
    };
    let made = made(context, &wanted)?;
    context.output.show(&made.report, text)?;
    Ok(if made.stopped {
        Exit::Interrupted
    } else {
        exit::of_completeness(made.report.complete)
    })
}

fn text(paper: &mut Paper, report: &Report) {
    for line in markdown(report).lines() {
        paper.line(line);
    }
}
