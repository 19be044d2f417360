//! `comail audit`: verifies the ledger and judges every PASS again from its evidence.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Context, Folded};
use super::exit::Exit;
use super::progress::{self, WorkBar};
use super::recheck;
use crate::base::Digest;
use crate::gate::add_remedies;
use crate::judge::SessionKind;
use crate::judge::audit::{
    self, Asks, Checked, Finding, FindingKind, JudgeDifference, Live, NotedHead, Place, Plan,
    Proven, audit_ledger,
};
use crate::judge::quest_file::Definition;
use crate::session::{Repair, Session};

/// Verify the ledger, and judge every PASS again from its evidence
///
/// Checks the chain of the ledger and every event in it, session.json and the copies of the lists, the
/// signatures of people's decisions, the index, and the programs that checks run. A finding names the
/// quest and the line of the ledger, and the exit code is then 8.
///
/// If a PASS was judged by another version of comail and this version disagrees, the finding is of the
/// kind other-lists, which by itself does not mean tampering. Audit such a session with the version that
/// made it.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A ledger head that `status` printed earlier, which the ledger must still contain
    #[arg(long, value_name = "HASH")]
    head: Option<Digest>,

    /// Also fetch everything again for every PASS; one that would not pass now is a finding (drift), and
    /// lookups without an answer are listed
    #[arg(long)]
    live: bool,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Report {
    /// How it ended.
    pub(super) status: Status,
    /// What was found.
    pub(super) findings: Vec<Finding>,
    /// What was looked at; none when the ledger could not be read on.
    pub(super) checked: Option<Checked>,
    /// The ledger's head.
    pub(super) head: Option<Digest>,
    /// Where the noted head is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) noted: Option<NotedHead>,
    /// What is worth knowing and changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// In what this program differs from the one that the session was made with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) judge: Option<JudgeDifference>,
    /// What the world said, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) live: Option<Live>,
}

/// How an audit ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    /// Nothing was found.
    Clean,
    /// Something was.
    #[default]
    Found,
    /// Not everything was looked at.
    Interrupted,
}

pub(super) fn run(context: &mut Context, args: &AuditArgs) -> Result<Exit> {
    let report = match context.open_whole() {
        Ok(folded) => audit(context, args, &folded)?,
        // Nothing else is checked if the ledger or session.json is damaged.
        Err(error) => Report {
            findings: vec![audit::found(error)?],
            ..Report::default()
        },
    };
    context.output.page();
    context
        .output
        .show_as(&report, include_str!("text/audit.txt"))?;
    Ok(match report.status {
        Status::Clean => Exit::Done,
        Status::Found => Exit::Finding,
        Status::Interrupted => Exit::Interrupted,
    })
}

fn audit(
    context: &mut Context,
    args: &AuditArgs,
    Folded {
        session,
        projection,
    }: &Folded,
) -> Result<Report> {
    let mut findings = findings_of_repairs(context, session);
    let judge = JudgeDifference::of(session.manifest());
    let plan = Plan {
        session,
        projection,
        noted: args.head,
        same_judge: judge.is_same(),
    };
    // Up to here Ctrl-C ends the process at once, because nothing is lost.
    progress::handle_ctrl_c();
    let watch = context.watch();
    let audited = audit_ledger(plan, watch.as_ref())?;
    drop(watch);
    findings.extend(audited.findings);
    let definition = Definition::of(session.manifest())?;
    findings.extend(definition.iter().flat_map(audit::programs));
    let mut live = if args.live {
        let proven = audited.proven.iter().filter(|proven| !proven.by_others);
        let proven: Vec<Proven> = proven.copied().collect();
        let bar = WorkBar::of("judging again", proven.len() as u64);
        let world = Arc::new(recheck::world(session)?);
        let live = audit::ask_world(
            session,
            projection,
            &proven,
            &world,
            Asks::World,
            &|| bar.count(),
            &progress::is_asked,
        )?;
        findings.extend(live.drift.iter().cloned());
        Some(live)
    } else {
        None
    };
    let rules = SessionKind::load(session.manifest())?.rules();
    let unanswered = live.iter_mut().flat_map(|live| &mut live.unanswered);
    add_remedies(unanswered.flat_map(|one| &mut one.facts), &rules);
    add_remedies(findings.iter_mut().flat_map(|it| &mut it.facts), &rules);
    let mut notes: Vec<String> = definition.iter().flat_map(audit::edits).collect();
    notes.extend(audit::notes(&audited.forgotten));
    let forgetting = &projection.totals().forgetting;
    notes.extend(audit::left_over(&session.evidence(), forgetting)?);
    let status = match (progress::is_asked(), findings.is_empty()) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Clean,
        (false, false) => Status::Found,
    };
    Ok(Report {
        status,
        live,
        findings,
        checked: Some(audited.checked),
        head: Some(projection.tip().head),
        noted: audited.noted,
        notes,
        judge: Some(judge).filter(|judge| !judge.is_same()),
    })
}

/// Repairs of an index that did not match the ledger are findings. A torn line at the end of the ledger
/// is not, because no command had reported it as written.
fn findings_of_repairs(context: &mut Context, session: &Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    for mended in session.repairs() {
        match mended {
            Repair::Tail { .. } => context.output.note(&mended.to_string()),
            Repair::Index { .. } | Repair::Left { .. } => {
                let what = mended.to_string();
                findings.push(Finding::new(FindingKind::Index, Place::default(), what));
            }
        }
    }
    findings
}
