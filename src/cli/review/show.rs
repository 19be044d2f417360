//! One REVIEW, printed with all that the gate had before it.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::Args;

use crate::base::text::Escaped;
use crate::cli::context;
use crate::cli::context::Context;
use crate::cli::exit::{Exit, UsageError};
use crate::cli::output::{Paper, Tone};
use crate::gate::{CheckOutcome, Level, PanelReport, Passage, ReviewerReport, Vote};
use crate::judge;
use crate::quest::{QuestId, Submission};
use crate::review::{Excerpt, Item, SeenFact, Settling, Viewer};
use crate::session::{State, Store as _};

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

/// Writes an item as people read it.
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

/// The words that a doubt rests on, where they stand, and how sure it is.
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
