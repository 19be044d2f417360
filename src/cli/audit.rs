//! `comail audit`: whether everything that the session says follows from what it keeps.

use anyhow::Result;
use clap::Args;

use super::audit_report::{self, Report};
use super::context::Context;
use super::exit::Exit;
use crate::drive::audit::lists::OtherJudge;
use crate::drive::audit::{Finding, Kind, Onlooker, Place, Plan, damage, walk};
use crate::quest::Digest;
use crate::session::{Board, Mended, Session, SessionError};

/// Check that all the session says follows from what it keeps
///
/// The ledger's chain and every step in it; session.json and the kept lists; every PASS, judged
/// again from its evidence; what the session told the gate; the index. Any finding ends with
/// exit 8 and names the quest and the line of the ledger.
///
/// A PASS that was judged by other lists or another version of comail, and that this one judges
/// otherwise, is a finding of its own kind, other-lists: it may be honest, and this program
/// cannot tell. Audit with the version that made the session.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A head that `status` printed earlier: it must still be the head of one of the lines
    #[arg(long, value_name = "HASH")]
    head: Option<Digest>,
}

pub(super) fn run(context: &mut Context, args: &AuditArgs) -> Result<Exit> {
    let report = match open(context) {
        Ok((session, board)) => audit(context, args, &session, &board)?,
        Err(error) => Report::of_damage(damage::found(error)?),
    };
    context.output.show(&report, audit_report::text)?;
    Ok(if report.findings.is_empty() {
        Exit::Done
    } else {
        Exit::Finding
    })
}

/// The session and its whole ledger, folded.
fn open(context: &mut Context) -> Result<(Session, Board), SessionError> {
    let mut session = Session::open_watched(context.session_dir(), context.watch())?;
    let board = session.fold()?;
    Ok((session, board))
}

fn audit(
    context: &mut Context,
    args: &AuditArgs,
    session: &Session,
    board: &Board,
) -> Result<Report> {
    let mut findings = mended(context, session);
    let judge = OtherJudge::of(session.manifest());
    let plan = Plan {
        session,
        board,
        noted: args.head,
        same_judge: judge.is_same(),
    };
    let watch = context.watch();
    let onlooker = Onlooker {
        watch: watch.as_ref(),
        stop: &|| false,
    };
    let audited = walk(plan, onlooker)?;
    drop(watch);
    findings.extend(audited.findings);
    Ok(Report {
        findings,
        checked: Some(audited.checked),
        head: Some(board.tip().head),
        noted: audited.noted,
        judge: Some(judge).filter(|judge| !judge.is_same()),
    })
}

/// What was mended when the session was opened and folded: an index that did not fit is a
/// finding, a line that was never acknowledged is not.
fn mended(context: &mut Context, session: &Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    for mended in session.mended() {
        match mended {
            Mended::Tail { .. } => context.output.note(&mended.to_string()),
            Mended::Index { .. } => {
                let what = mended.to_string();
                findings.push(Finding::new(Kind::Index, Place::default(), what));
            }
        }
    }
    findings
}
