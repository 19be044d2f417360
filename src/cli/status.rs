//! `comail status`: how far it is.

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::counted::counted;
use super::escape::Plain;
use super::exit::Exit;
use super::next;
use super::output::{Paper, Tone};
use crate::drive::forget::is_forgotten;
use crate::report::{self, Overview};
use crate::session::{Effective, Session, State, Store as _};

/// Print how many quests stand where, and which rules fire
#[derive(Debug, Args)]
pub struct StatusArgs {}

/// The most rules that the text shows.
const MOST_RULES: usize = 8;

pub(super) fn run(context: &mut Context, _args: &StatusArgs) -> Result<Exit> {
    let session = context.open_session()?;
    let overview = report::overview(&session, forgotten(&session)?)?;
    context.output.show(&overview, text)?;
    Ok(Exit::Done)
}

/// How many quests are PASS or REVIEW by answers that were blotted out.
fn forgotten(session: &Session) -> Result<u32> {
    let mut count = 0;
    // Only such a session is read for it.
    if !session.forgetting().is_empty() {
        let mut reader = session.reader()?;
        for standing in session.board()?.quests() {
            count += u32::from(is_forgotten(&mut reader, standing)?);
        }
    }
    Ok(count)
}

/// Writes an overview as people read it.
pub(super) fn text(paper: &mut Paper, overview: &Overview) {
    let tally = overview.tally;
    paper.line(format!(
        "{}, {} left, {} judged",
        counted(overview.total, "quest"),
        tally.todo,
        counted(overview.attempts, "submission")
    ));
    for state in State::ALL {
        let tone = match state {
            State::Pass => Tone::Good,
            State::Review => Tone::Doubt,
            State::Done => Tone::Bad,
            State::Todo => Tone::Strong,
        };
        let count = tally.of(state);
        let word = paper.tint(tone, &format!("{state:6}"));
        let note = note(state, overview);
        let share = f64::from(count) * 100.0 / f64::from(overview.total.max(1));
        paper.line(format!("  {word} {count:>8}  {share:>5.1} %{note}"));
    }
    blocked(paper, overview);
    people(paper, overview);
    if !overview.rules.is_empty() {
        paper.line("rules that fired, in submissions");
        for count in overview.rules.iter().take(MOST_RULES) {
            let rule = Plain(&count.rule);
            paper.line(format!("  {:>8}  {rule}", count.attempts));
        }
    }
    if overview.paused {
        paper.line(next::paused(overview.streak));
    }
    paper.line(format!("ledger head {}", overview.head));
}

/// Says what people noted, and what only looks so.
fn people(paper: &mut Paper, overview: &Overview) {
    if overview.disputed > 0 {
        let disputed = counted(overview.disputed, "quest");
        paper.line(format!(
            "disputed: the world contradicted {disputed} since; `export` tells which"
        ));
    }
    if overview.forgotten > 0 {
        let forgotten = counted(overview.forgotten, "quest");
        paper.line(format!(
            "forgotten: the answer of {forgotten} was blotted out; `export` tells which"
        ));
    }
    if overview.unsealed > 0 {
        let word = paper.tint(Tone::Bad, "not sealed");
        let unsealed = counted(overview.unsealed, "line");
        paper.line(format!(
            "{word}: {unsealed} of the ledger that only the operator's key could make, and that \
             changed nothing; `audit` tells which"
        ));
    }
}

/// Names what waits in vain, and for what.
fn blocked(paper: &mut Paper, overview: &Overview) {
    if overview.blocked == 0 {
        return;
    }
    let count = paper.tint(Tone::Bad, &format!("blocked {}", overview.blocked));
    paper.line(format!(
        "{count}, of what is TODO: never handed out as it stands"
    ));
    for quest in &overview.first_blocked {
        let (key, by) = (Plain(quest.key.as_str()), &quest.by);
        let by_key = Plain(by.key.as_str());
        paper.line(format!(
            "  quest {} ({key}) waits for quest {} ({by_key}), which is {}",
            quest.id, by.id, by.state
        ));
    }
    let more = (overview.blocked as usize).saturating_sub(overview.first_blocked.len());
    if more > 0 {
        paper.line(format!("  and {more} more"));
    }
}

/// How many open REVIEWs are told: none where every REVIEW is open and was never judged again,
/// which goes without saying.
fn said_open(overview: &Overview) -> u32 {
    let open = overview.effective.get(&Effective::Open).copied();
    let open = open.unwrap_or(0);
    let untouched = open == overview.tally.review && overview.resolutions.open == 0;
    if untouched { 0 } else { open }
}

/// What is said of some of the quests in `state`, in parentheses.
fn note(state: State, overview: &Overview) -> String {
    let of = |effective| overview.effective.get(&effective).copied().unwrap_or(0);
    let said = match state {
        State::Pass => vec![
            (overview.unanchored, "unanchored"),
            (overview.carried, "carried"),
        ],
        State::Review => vec![
            (of(Effective::Accepted), "accepted"),
            (of(Effective::Confirmed), "confirmed"),
            (of(Effective::Refuted), "refuted"),
            (of(Effective::Rejected), "rejected"),
            (said_open(overview), "open"),
        ],
        State::Done | State::Todo => Vec::new(),
    };
    let said: Vec<String> = said
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() {
        return String::new();
    }
    format!("  ({})", said.join(", "))
}
