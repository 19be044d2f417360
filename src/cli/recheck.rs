//! `comail recheck`: judges again what is in REVIEW only because a lookup got no answer.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::progress::{self, WorkBar};
use crate::base::text::plural;
use crate::gate::{Fact, add_remedies};
use crate::judge::{self, HostQueue, JudgeWorld, Next, Rechecked, SessionKind};
use crate::quest::QuestId;
use crate::session::{Outcome, Session};

/// Judge again what is in REVIEW only because a lookup got no answer
///
/// If an answer passes now, it is confirmed; if it fails, it is refuted. Its state remains REVIEW.
/// Without an answer, nothing changes. Hosts are contacted in parallel, each at its own rate. Ctrl-C
/// stops the command and keeps finished work.
#[derive(Debug, Args)]
pub struct RecheckArgs {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecheckReport {
    status: Status,
    confirmed: usize,
    refuted: usize,
    open: usize,
    unanswered: usize,
    /// How many were not judged, because Ctrl-C stopped the command.
    left: usize,
    /// Those that were judged, in order of id.
    quests: Vec<RecheckedQuest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    Done,
    Interrupted,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecheckedQuest {
    id: QuestId,
    key: String,
    became: Became,
    facts: Vec<Fact>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Became {
    Confirmed,
    Refuted,
    /// The lookups were answered, and the gate cannot decide.
    Open,
    Unanswered,
    /// Another `recheck` settled it first.
    Meanwhile,
}

pub(super) fn run(context: &mut Context, _args: &RecheckArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let jobs = judge::to_recheck(&session)?;
    progress::handle_ctrl_c();
    let bar = WorkBar::of("judging again", jobs.len() as u64);
    let world = Arc::new(world(&session)?);
    let mut queue = HostQueue::start(jobs, session.manifest(), world)?;
    let mut quests = Vec::new();
    let judged = judge(&mut session, &mut queue, &bar, &mut quests);
    drop(bar);
    context.report_repairs(&session);
    let status = judged.with_context(|| {
        let judged = plural(quests.len() as u64, "quest");
        format!("stopped early; the results of {judged} are kept")
    })?;
    let report = report(status, queue.left(), quests);
    // The results are recorded; a closed pipe does not change how the command ended.
    let _ = context
        .output
        .show_as(&report, include_str!("text/recheck.txt"));
    context.hint_at_closing(&session);
    Ok(match report.status {
        Status::Done => Exit::Done,
        Status::Interrupted => Exit::Interrupted,
    })
}

pub(super) fn world(session: &Session) -> Result<JudgeWorld> {
    let kind = SessionKind::load(session.manifest())?;
    Ok(JudgeWorld::of(session, &kind)?)
}

/// Settles one judgement after the other. Each is on disk before the next one is awaited.
fn judge(
    session: &mut Session,
    queue: &mut HostQueue,
    bar: &WorkBar,
    quests: &mut Vec<RecheckedQuest>,
) -> Result<Status> {
    let kind = SessionKind::load(session.manifest())?;
    let rules = kind.rules();
    loop {
        let judged = match queue.next(&progress::is_asked)? {
            Next::Judged(judged) => *judged,
            Next::Stopped => return Ok(Status::Interrupted),
            Next::Done => return Ok(Status::Done),
        };
        let (id, key) = (judged.job.quest.id, judged.job.quest.key.to_string());
        let rechecked = judge::resolve(session, &kind.gate, judged, &mut context::clock())?;
        let (became, judgement) = match rechecked {
            Rechecked::Resolved(Outcome::Confirmed, it) => (Became::Confirmed, Some(it)),
            Rechecked::Resolved(Outcome::Refuted, it) => (Became::Refuted, Some(it)),
            Rechecked::Resolved(Outcome::Open, it) => (Became::Open, Some(it)),
            Rechecked::Unanswered(it) => (Became::Unanswered, Some(it)),
            Rechecked::Meanwhile => (Became::Meanwhile, None),
        };
        let mut facts = judgement.map_or_else(Vec::new, |judgement| judgement.facts);
        add_remedies(&mut facts, &rules);
        quests.push(RecheckedQuest {
            id,
            key,
            became,
            facts,
        });
        bar.count();
    }
}

fn report(status: Status, left: usize, mut quests: Vec<RecheckedQuest>) -> RecheckReport {
    quests.sort_by_key(|quest| quest.id);
    let count = |became| quests.iter().filter(|quest| quest.became == became).count();
    RecheckReport {
        status,
        confirmed: count(Became::Confirmed),
        refuted: count(Became::Refuted),
        open: count(Became::Open),
        unanswered: count(Became::Unanswered),
        left,
        quests,
    }
}
