//! `comail recheck`: REVIEWs that nothing but an unanswered lookup stood in the way of.

#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::output::{Paper, Tone};
use super::progress::Interrupt;
use super::progress::JudgingBar;
use super::rules;
use crate::base::text::{Escaped, plural};
use crate::gate::{Fact, Gate, Judgement};
use crate::judge::{self, HostQueue, Looked, Next, Rechecked, SessionKind, SharedWorld, WithBench};
use crate::quest::QuestId;
use crate::session::{Outcome, Session};
use crate::world::fetch::live::LiveWorld;

/// Judge again what is in REVIEW only because a lookup got no answer
///
/// If an answer passes now, it is confirmed; if it fails, it is refuted. Its state remains REVIEW.
/// Without an answer, nothing changes. Hosts are contacted in parallel, each at its own rate. Ctrl-C
/// stops the command and keeps finished work.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RecheckArgs {}

const EXAMPLES: &str = "\
Examples:
  comail recheck               # later, when the sites answer again
  comail recheck --json";

/// The JSON form of `recheck`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Report {
    status: Status,
    confirmed: usize,
    refuted: usize,
    open: usize,
    unanswered: usize,
    /// How many were not judged, since it was stopped.
    left: usize,
    /// What became of each that was judged, in order of id.
    quests: Vec<Shown>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    Done,
    Interrupted,
}

/// What became of one quest.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Shown {
    id: QuestId,
    key: String,
    became: Became,
    facts: Vec<Fact>,
}

/// What became of a REVIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Became {
    /// The gate passes it now.
    Confirmed,
    /// The gate fails it now.
    Refuted,
    /// The world answered, and the gate cannot decide.
    Open,
    /// Some lookup is still not answered.
    Unanswered,
    /// Another `recheck` has settled it meanwhile.
    Meanwhile,
}

pub(super) fn run(context: &mut Context, _args: &RecheckArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let jobs = judge::to_recheck(&session)?;
    let interrupt = Interrupt::heed();
    let bar = JudgingBar::of(jobs.len());
    let mut crowd = HostQueue::set_out(jobs, session.manifest(), world(context, &session)?)?;
    let mut quests = Vec::new();
    let judged = judge(&mut session, &mut crowd, interrupt, &bar, &mut quests);
    drop(bar);
    context.report_mended(&session);
    let status = judged.with_context(|| {
        let count = u32::try_from(quests.len()).unwrap_or(u32::MAX);
        format!(
            "it stopped early: what {} came to before is kept",
            plural(count, "quest")
        )
    })?;
    let report = report(status, crowd.left(), quests);
    // What was judged is recorded; a reader who has gone does not change how it ended.
    let _ = context.output.show(&report, text);
    Ok(match report.status {
        Status::Done => Exit::Done,
        Status::Interrupted => Exit::Interrupted,
    })
}

/// The world that a session is judged by, for many at once.
pub(super) fn world(context: &Context, session: &Session) -> Result<Box<dyn SharedWorld>> {
    if let Some(recorded) = context.recorded_world() {
        return Ok(Box::new(recorded.clone()));
    }
    let kind = SessionKind::load(session.manifest())?;
    let live = LiveWorld::new(
        &judge::network_of(session.manifest())?,
        Some(session.dir().join("hosts")),
    )?;
    let bench = kind.bench(session.evidence(), session.dir().to_owned())?;
    Ok(match bench {
        Some(bench) => Box::new(WithBench {
            world: Box::new(live),
            bench,
        }),
        None => Box::new(live),
    })
}

/// Settles one judgement after the other, each on disk before the next is waited for.
fn judge(
    session: &mut Session,
    crowd: &mut HostQueue,
    interrupt: Interrupt,
    bar: &JudgingBar,
    quests: &mut Vec<Shown>,
) -> Result<Status> {
    let gate = SessionKind::load(session.manifest())?.gate;
    loop {
        let looked = match crowd.next(&|| interrupt.is_asked())? {
            Next::Looked(looked) => *looked,
            Next::Stopped => return Ok(Status::Interrupted),
            Next::Done => return Ok(Status::Done),
        };
        quests.push(settle(session, &gate, looked)?);
        bar.judged();
    }
}

fn settle(session: &mut Session, gate: &dyn Gate, looked: Looked) -> Result<Shown> {
    let (id, key) = (looked.job.quest.id, looked.job.quest.key.to_string());
    let clock = &mut context::clock();
    let rechecked = judge::resolve(session, gate, looked, clock)?;
    let (became, judgement) = became(rechecked);
    Ok(Shown {
        id,
        key,
        became,
        facts: judgement.map_or_else(Vec::new, |judgement| judgement.facts),
    })
}

fn became(rechecked: Rechecked) -> (Became, Option<Judgement>) {
    match rechecked {
        Rechecked::Resolved(outcome, judgement) => {
            let became = match outcome {
                Outcome::Confirmed => Became::Confirmed,
                Outcome::Refuted => Became::Refuted,
                Outcome::Open => Became::Open,
            };
            (became, Some(judgement))
        }
        Rechecked::Unanswered(judgement) => (Became::Unanswered, Some(judgement)),
        Rechecked::Meanwhile => (Became::Meanwhile, None),
    }
}

fn report(status: Status, left: usize, mut quests: Vec<Shown>) -> Report {
    quests.sort_by_key(|shown| shown.id);
    let of = |became| quests.iter().filter(|shown| shown.became == became).count();
    Report {
        status,
        confirmed: of(Became::Confirmed),
        refuted: of(Became::Refuted),
        open: of(Became::Open),
        unanswered: of(Became::Unanswered),
        left,
        quests,
    }
}

fn text(paper: &mut Paper, report: &Report) {
    if report.quests.is_empty() && report.left == 0 {
        paper
            .line("no REVIEW rests on an unanswered lookup alone; there is nothing to judge again");
        return;
    }
    for shown in &report.quests {
        let (tone, word, what) = match shown.became {
            Became::Confirmed => (Tone::Good, "confirmed", "the gate passes it now"),
            Became::Refuted => (
                Tone::Bad,
                "refuted",
                "the gate fails it now; a person settles it",
            ),
            Became::Open => (Tone::Doubt, "open", "answered now; a person settles it"),
            Became::Unanswered => (
                Tone::Doubt,
                "unanswered",
                "still no answer; nothing recorded",
            ),
            Became::Meanwhile => (Tone::Strong, "meanwhile", "another recheck has settled it"),
        };
        let word = paper.tint(tone, word);
        let key = Escaped(&shown.key);
        paper.line(format!("{word} quest {}, {key}: {what}", shown.id));
        rules::write_facts(paper, &shown.facts, &[]);
    }
    paper.line(format!(
        "{} judged again: {} confirmed, {} refuted, {} open, {} still unanswered",
        report.quests.len(),
        report.confirmed,
        report.refuted,
        report.open,
        report.unanswered
    ));
    if report.status == Status::Interrupted {
        paper.line(format!(
            "stopped, {} left; what was judged is kept, and `comail recheck` goes on",
            report.left
        ));
    }
}
