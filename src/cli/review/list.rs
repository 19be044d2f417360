//! The queue, printed.

use anyhow::Result;

use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::{Paper, Tone};
use crate::review::{Group, Queue, Waiting};
use crate::session::Effective;

/// The most of one rule that the text names.
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
