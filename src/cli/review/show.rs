//! `comail review show`, and the list of open REVIEWs.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use crate::base::text::{Escaped, plural};
use crate::cli::context;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::output::{Paper, Tone};
use crate::gate::{CheckOutcome, Level, PanelReport, Passage, ReviewerReport, Vote};
use crate::judge;
use crate::judge::excerpts::Excerpt;
use crate::quest::{QuestId, Submission};
use crate::review::{Group, Item, Queue, SeenFact, Settling, Viewer, Waiting};
use crate::session::{Effective, State, Store as _};

/// Which one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The number of the quest
    #[arg(required_unless_present = "key")]
    id: Option<QuestId>,

    /// The key of the quest
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  comail review show 17
  comail review show --key \"Acme\"";

pub(super) fn run(context: &mut Context, args: &ShowArgs) -> Result<Exit> {
    let session = context.open_folded()?;
    let unit = judge::kind_of(session.manifest())?.unit;
    let id = context::choose(&session, args.id, args.key.as_deref(), &unit)?;
    let standing = session.standing(id)?;
    let standing = standing.filter(|standing| standing.progress.state == State::Review);
    let item = match standing {
        Some(standing) => Viewer::new(&session, &BTreeSet::from([id]))?.item(&standing)?,
        None => None,
    };
    let Some(item) = item else {
        return Err(UsageError(format!("quest {id} is no REVIEW")).into());
    };
    context.output.show(&item, text)?;
    Ok(Exit::Done)
}

pub(in crate::cli) fn text(paper: &mut Paper, item: &Item) {
    head(paper, item);
    paper.line("submitted");
    submission(paper, &item.submission);
    paper.line("facts");
    for fact in &item.facts {
        self::fact(paper, fact);
    }
    if let Some(damage) = &item.damage {
        paper.line(format!(
            "what the gate saw is not shown: {}",
            Escaped(damage)
        ));
    }
    if !item.pages.is_empty() {
        paper.line("pages");
        for page in &item.pages {
            let url = page.url.as_str();
            paper.line(format!("  {}  {}", Escaped(url), Escaped(&page.answer)));
        }
    }
    checks(paper, item);
    panel(paper, item);
    earlier(paper, item);
}

fn head(paper: &mut Paper, item: &Item) {
    let name = paper.tint(
        Tone::Strong,
        &format!("quest {}, {}", item.id, Escaped(item.key.as_str())),
    );
    paper.line(format!(
        "{name}: REVIEW, {}, since {:.0}, attempt {}",
        item.effective.name(),
        item.since,
        item.attempt
    ));
    for cell in item.listed() {
        paper.line(format!(
            "  {}: {}",
            Escaped(&cell.label),
            Escaped(&cell.text)
        ));
    }
}

fn submission(paper: &mut Paper, submission: &Submission) {
    match submission {
        Submission::Fields(fields) => {
            for (name, text) in fields {
                paper.line(format!("  {}: {}", Escaped(name.as_str()), Escaped(text)));
            }
        }
        Submission::None(why) => paper.line(format!("  nothing: {}", Escaped(why))),
    }
}

fn fact(paper: &mut Paper, seen: &SeenFact) {
    let fact = &seen.fact;
    let tone = match fact.level {
        Level::Fail => Tone::Bad,
        Level::Review => Tone::Doubt,
    };
    let level = paper.tint(tone, &fact.level.to_string());
    let place = fact.location.as_ref();
    let place = place.map(|place| format!("  at {}", Escaped(place)));
    let rule = Escaped(fact.rule.as_str());
    paper.line(format!("  {level} {rule}{}", place.unwrap_or_default()));
    paper.line(format!("    expected: {}", Escaped(&fact.expected)));
    paper.line(format!("    actual:   {}", Escaped(&fact.actual)));
    if let Some(excerpt) = &seen.excerpt {
        self::excerpt(paper, excerpt);
    }
}

fn excerpt(paper: &mut Paper, excerpt: &Excerpt) {
    paper.line(format!("    in {}", Escaped(&excerpt.of)));
    for line in &excerpt.lines {
        let mark = if line.found { ">" } else { " " };
        paper.line(format!("    {mark} {}", Escaped(&line.text)));
    }
}

fn checks(paper: &mut Paper, item: &Item) {
    let of = |outcome: CheckOutcome| {
        let those = item.checks.iter().filter(|it| it.outcome == outcome);
        let names: Vec<&str> = those.map(|it| it.check.as_str()).collect();
        names.join(", ")
    };
    paper.line("checks");
    for (word, outcome) in [
        ("passed", CheckOutcome::Passed),
        ("not confirmed", CheckOutcome::NotConfirmed),
        ("failed", CheckOutcome::Failed),
        ("not run", CheckOutcome::NotRun),
    ] {
        let names = of(outcome);
        if !names.is_empty() {
            paper.line(format!("  {word}: {}", Escaped(&names)));
        }
    }
}

/// What reviewers said: who, and what of each question.
fn panel(paper: &mut Paper, item: &Item) {
    let Some(panel) = &item.panel else {
        return;
    };
    paper.line("reviewers");
    match serde_json::from_value::<PanelReport>(panel.clone()) {
        Ok(panel) => {
            for reviewer in &panel.reviewers {
                self::reviewer(paper, reviewer);
            }
        }
        Err(error) => paper.line(format!("  what they said does not read: {error}")),
    }
}

fn reviewer(paper: &mut Paper, reviewer: &ReviewerReport) {
    let (name, model) = (Escaped(&reviewer.name), Escaped(&reviewer.model));
    let heard = if reviewer.counts {
        ""
    } else {
        ", not heard: it did not find the planted defect"
    };
    paper.line(format!("  {name}, {model}{heard}"));
    for on in &reviewer.votes {
        let question = Escaped(&on.question);
        paper.line(match &on.vote {
            Vote::Doubt(passage) => format!("    doubts {question}: {}", quoted(passage)),
            Vote::Unsure(passage) => format!("    asks {question}: {}", quoted(passage)),
            Vote::Faint(passage) => {
                format!("    clears {question}, hardly doubting {}", quoted(passage))
            }
            Vote::Cleared(checked) => format!("    clears {question}: {}", Escaped(checked)),
            Vote::Error(why) => format!("    no vote on {question}: {}", Escaped(why)),
        });
    }
    for error in &reviewer.errors {
        paper.line(format!("    error: {}", Escaped(error)));
    }
}

fn quoted(passage: &Passage) -> String {
    let place = match (&passage.file, passage.line) {
        (Some(file), Some(line)) => format!(", {}:{line}", Escaped(file)),
        (Some(file), None) => format!(", {}", Escaped(file)),
        (None, _) => String::new(),
    };
    let sure = passage.confidence.map(|sure| format!(", {sure} % sure"));
    let sure = sure.unwrap_or_default();
    format!("\"{}\"{place}{sure}", Escaped(&passage.quotation))
}

fn earlier(paper: &mut Paper, item: &Item) {
    if !item.earlier.is_empty() {
        paper.line("earlier attempts");
    }
    for attempt in &item.earlier {
        let rules: Vec<&str> = attempt.facts.iter().map(|it| it.rule.as_str()).collect();
        let (number, at, verdict) = (attempt.number, attempt.at, attempt.verdict);
        let rules = Escaped(&rules.join(", ")).to_string();
        paper.line(format!("  {number}  {at:.0}  {verdict} {rules}"));
    }
    for again in &item.again {
        let (at, outcome) = (again.at, again.outcome.name());
        paper.line(format!("judged again {at:.0}: {outcome}"));
    }
    if !item.settlements.is_empty() {
        paper.line("decisions");
    }
    for settling in &item.settlements {
        paper.line(format!("  {}", decision(settling)));
    }
    for dispute in &item.disputes {
        let unsealed = unsealed(dispute.counts);
        let (by, note) = (Escaped(&dispute.by), Escaped(&dispute.note));
        paper.line(format!(
            "  {:.0}  disputed by {by}: {note}{unsealed}",
            dispute.at
        ));
    }
}

fn decision(settling: &Settling) -> String {
    let (at, what) = (settling.at, settling.decision.name());
    let (by, note) = (Escaped(&settling.by), Escaped(&settling.note));
    let unsealed = unsealed(settling.counts);
    format!("{at:.0}  {what} by {by}: {note}{unsealed}")
}

fn unsealed(counts: bool) -> &'static str {
    if counts {
        ""
    } else {
        " (without the operator's seal: it changed nothing)"
    }
}

const MOST_NAMED: usize = 20;

pub(super) fn list(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let queue = Queue::read(&session)?;
    context.output.show(&queue, show_queue)?;
    Ok(Exit::Done)
}

fn show_queue(paper: &mut Paper, queue: &Queue) {
    if queue.open == 0 {
        paper.line("no REVIEW waits for a person");
        return;
    }
    let verb = if queue.open == 1 { "waits" } else { "wait" };
    paper.line(format!(
        "{} {verb} for a person",
        plural(queue.open as u64, "REVIEW")
    ));
    for group in &queue.groups {
        self::group(paper, group);
    }
    paper.line("comail review show N  prints one; accept, reject and reopen settle, with --note");
}

fn group(paper: &mut Paper, group: &Group) {
    let rule = paper.tint(Tone::Doubt, &Escaped(&group.rule).to_string());
    paper.line(format!("{rule}  {}", group.quests.len()));
    for one in group.quests.iter().take(MOST_NAMED) {
        paper.line(format!("  {}", line(one)));
    }
    let more = group.quests.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        paper.line(format!("  and {more} more"));
    }
}

fn line(one: &Waiting) -> String {
    let others = one.rules.get(1..).unwrap_or_default().join(", ");
    let beside = if others.is_empty() {
        String::new()
    } else {
        format!("; also {}", Escaped(&others))
    };
    let refuted = if one.effective == Effective::Refuted {
        "; judged again it fails"
    } else {
        ""
    };
    let (id, key, since) = (one.id, Escaped(one.key.as_str()), one.since);
    format!("{since:.0}  quest {id}, {key}{beside}{refuted}")
}
