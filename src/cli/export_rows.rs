//! What the session found, row by row of the list.

use std::collections::HashSet;

use crate::gate::{Fact, Judgement};
use crate::quest::{Listing, QuestId, Submission};
use crate::session::{
    Attempt, Board, Dated, Outcome as Resolved, Progress, Resolution, Session, SessionError, State,
};
use crate::table::result_columns::{Columns, Outcome};
use crate::table::results::{Cell, ResultRow, RowError};

/// A session, and where every quest of it stands by the whole ledger.
#[derive(Clone, Copy)]
pub(super) struct Findings<'a> {
    pub(super) session: &'a Session,
    pub(super) board: &'a Board,
}

/// Which quest each row of the list belongs to, in the order of the rows.
pub(super) struct RowMap {
    rows: Vec<(u32, QuestId)>,
    gone: u32,
}

impl RowMap {
    /// The rows of `listing` that belong to quests in the wanted states; of all when none is
    /// named.
    #[must_use]
    pub(super) fn new(board: &Board, listing: Listing, only: &[State]) -> Self {
        let (quests, _) = listing.finish();
        let wanted = |id: QuestId| {
            board
                .get(id)
                .is_some_and(|standing| only.is_empty() || only.contains(&standing.progress.state))
        };
        let mut rows: Vec<_> = quests
            .iter()
            .filter(|quest| wanted(quest.id))
            .flat_map(|quest| quest.rows.iter().map(|row| (*row, quest.id)))
            .collect();
        rows.sort_unstable();
        let gone = quests.iter().filter(|quest| quest.rows.is_empty()).count();
        Self {
            rows,
            gone: u32::try_from(gone).unwrap_or(u32::MAX),
        }
    }

    /// How many quests have no row.
    #[must_use]
    pub(super) fn gone(&self) -> u32 {
        self.gone
    }

    /// How many rows there are.
    #[must_use]
    pub(super) fn len(&self) -> u64 {
        self.rows.len() as u64
    }
}

/// The results of every row of a map, read when they are asked for.
pub(super) fn results<'a>(
    findings: Findings<'a>,
    map: &'a RowMap,
    columns: &'a Columns,
) -> Result<impl Iterator<Item = Result<ResultRow, RowError>> + 'a, SessionError> {
    let mut reader = findings.session.reader()?;
    let waiting = findings.board.waiting();
    Ok(map.rows.iter().map(move |(row, id)| {
        let standing = findings
            .board
            .get(*id)
            .ok_or("a row belongs to a quest that is not there")?;
        let last = reader.last_attempt(standing)?;
        let resolution = reader.resolution(standing)?;
        let quest = Place {
            progress: standing.progress,
            blocked: waiting.blocks(*id),
        };
        let cells = cells(quest, last.as_ref(), resolution.as_ref(), columns)?;
        Ok(ResultRow { row: *row, cells })
    }))
}

/// Where a quest stands.
#[derive(Clone, Copy)]
struct Place {
    progress: Progress,
    /// Whether it waits for one that ended without a PASS.
    blocked: bool,
}

/// The results of a quest: those of its last attempt or, where that REVIEW was judged again, of
/// the later judgement.
fn cells(
    quest: Place,
    last: Option<&Dated<Box<Attempt>>>,
    resolution: Option<&Dated<Box<Resolution>>>,
    columns: &Columns,
) -> Result<Vec<Cell>, RowError> {
    let Place { progress, blocked } = quest;
    let outcome = resolution.map(|dated| dated.value.outcome);
    let judged = match (resolution, last) {
        (Some(dated), _) => Some((dated.at, &dated.value.judgement)),
        (None, Some(dated)) => Some((dated.at, &dated.value.judgement)),
        (None, None) => None,
    };
    let facts = match judged {
        Some((_, judgement)) => serde_json::from_str::<Judgement>(judgement.get())?.facts,
        None => Vec::new(),
    };
    let mut seen = HashSet::new();
    let rules = facts.iter().map(|fact| fact.rule.as_str());
    let rules: Vec<&str> = rules.filter(|rule| seen.insert(*rule)).collect();
    let lines: Vec<String> = facts.iter().map(line).collect();
    let fields = last.and_then(|last| match &last.value.submission {
        Submission::Fields(fields) if is_shown(progress.state, outcome) => Some(fields),
        _ => None,
    });
    Ok(columns.cells(&Outcome {
        fields,
        status: &status(progress.state, outcome, blocked),
        rule: &rules.join(", "),
        facts: &lines.join("\n"),
        tries: progress.tries,
        judged_at: judged.map(|(at, _)| at),
    }))
}

/// Whether what was submitted is shown. What failed is nobody's address: it must not stand where
/// somebody would mail to it.
fn is_shown(state: State, outcome: Option<Resolved>) -> bool {
    match state {
        State::Pass => true,
        State::Review => outcome != Some(Resolved::Refuted),
        State::Done | State::Todo => false,
    }
}

/// The state and, of a REVIEW that was judged again, what became of it; of a quest that waits in
/// vain, that it does.
fn status(state: State, outcome: Option<Resolved>, blocked: bool) -> String {
    match outcome {
        Some(outcome) => format!("{state} ({})", outcome.name()),
        None if blocked => format!("{state} (blocked)"),
        None => state.to_string(),
    }
}

/// A fact on one line of a cell.
fn line(fact: &Fact) -> String {
    let place = match &fact.location {
        Some(location) => format!(" at {location}"),
        None => String::new(),
    };
    format!(
        "{}{place}: expected {}; actual {}",
        fact.rule, fact.expected, fact.actual
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_submitted_is_shown_unless_it_failed() {
        let shown = |state| is_shown(state, None);
        assert_eq!(State::ALL.map(shown), [true, true, false, false]);
        let resolved = |outcome| is_shown(State::Review, Some(outcome));
        assert_eq!(Resolved::ALL.map(resolved), [true, false, true]);
    }

    #[test]
    fn a_review_that_was_judged_again_says_what_became_of_it() {
        assert_eq!(status(State::Review, None, false), "REVIEW");
        let resolved = |outcome| status(State::Review, Some(outcome), false);
        let expected = ["REVIEW (confirmed)", "REVIEW (refuted)", "REVIEW (open)"];
        assert_eq!(Resolved::ALL.map(resolved), expected);
        assert_eq!(status(State::Todo, None, true), "TODO (blocked)");
    }
}
