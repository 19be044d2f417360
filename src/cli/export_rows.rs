//! The results of a session, row by row of the list.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::progress::WorkBar;
use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::is_forgotten;
use crate::judge::masking::MASK;
use crate::quest::{Listing, QuestId, Submission, map_schema};
use crate::session::{
    Effective, LineReader, Projection, QuestRecord, Session, SessionError, State,
};
use crate::table::results::{Cell, Columns, Outcome, ResultRow, RowError};

/// A session, and the record of each of its quests by the whole ledger.
#[derive(Clone, Copy)]
pub(super) struct Findings<'a> {
    pub(super) session: &'a Session,
    pub(super) board: &'a Projection,
}

/// Which quest each row of the list belongs to, in the order of the rows.
pub(super) struct RowMap {
    rows: Vec<(u32, QuestId)>,
    gone: u32,
}

/// The outcomes of the quests that have rows in the file, each counted once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct Comes {
    /// How many have each outcome.
    #[schemars(schema_with = "map_schema::<Effective, u32>")]
    pub(super) effective: BTreeMap<Effective, u32>,
    /// How many of them the world contradicted.
    pub(super) disputed: u32,
    /// How many have answers that were redacted.
    pub(super) forgotten: u32,
}

impl Comes {
    pub(super) fn of(
        findings: Findings<'_>,
        ids: impl Iterator<Item = QuestId>,
    ) -> Result<Self, SessionError> {
        let mut reader = findings.session.reader()?;
        let forgets = !findings.board.totals().forgetting.is_empty();
        let mut comes = Self::default();
        let mut counted = vec![false; findings.board.count()];
        for id in ids {
            let Some(standing) = findings.board.get(id)? else {
                continue;
            };
            if std::mem::replace(&mut counted[standing.id.index()], true) {
                continue;
            }
            *comes.effective.entry(Effective::of(&standing)).or_default() += 1;
            comes.disputed += u32::from(standing.dispute.is_some());
            comes.forgotten += u32::from(forgets && is_forgotten(&mut reader, &standing)?);
        }
        Ok(comes)
    }
}

impl RowMap {
    /// The rows of `listing` that belong to quests in the wanted states; of all when none is
    /// named.
    pub(super) fn new(
        board: &Projection,
        listing: Listing,
        only: &[State],
    ) -> anyhow::Result<Self> {
        let listed = listing.finish()?;
        let gone = u32::try_from(listed.without_row()).unwrap_or(u32::MAX);
        let mut wanted = vec![only.is_empty(); board.count()];
        if !only.is_empty() {
            for quest in board.quests() {
                let quest = quest?;
                wanted[quest.id.index()] = only.contains(&quest.progress.state);
            }
        }
        let mut rows = listed.known_rows();
        rows.retain(|(_, id)| wanted.get(id.index()) == Some(&true));
        Ok(Self { rows, gone })
    }

    pub(super) fn gone(&self) -> u32 {
        self.gone
    }

    pub(super) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    pub(super) fn quests(&self) -> impl Iterator<Item = QuestId> {
        self.rows.iter().map(|(_, id)| *id)
    }
}

/// The results of every row of a map, read when they are asked for.
pub(super) fn results<'a>(
    findings: Findings<'a>,
    map: &'a RowMap,
    columns: &'a Columns,
) -> Result<impl Iterator<Item = Result<ResultRow, RowError>> + 'a, SessionError> {
    let mut reader = findings.session.reader()?;
    let waiting = findings.board.waiting()?;
    let bar = WorkBar::of("writing the results", map.len());
    Ok(map.rows.iter().map(move |(row, id)| {
        bar.step()?;
        let standing = findings
            .board
            .get(*id)?
            .ok_or("a row belongs to a quest that is not there")?;
        let cells = cells(&mut reader, &standing, waiting.blocks(*id), columns)?;
        Ok(ResultRow { row: *row, cells })
    }))
}

/// The results of a quest: those of its last attempt or, if that REVIEW was judged again, of the
/// later judgement.
fn cells(
    reader: &mut LineReader,
    standing: &QuestRecord,
    blocked: bool,
    columns: &Columns,
) -> Result<Vec<Cell>, RowError> {
    let last = reader.last_attempt(standing)?;
    let resolution = reader.resolution(standing)?;
    let settled = reader.settlement(standing)?.map(|it| it.value);
    let dispute = reader.dispute(standing)?.map(|it| it.value);
    let forgotten = is_forgotten(reader, standing)?;

    let attempt = last.as_ref().map(|it| (it.at, &it.value.judgement));
    let resolved = resolution.as_ref().map(|it| (it.at, &it.value.judgement));
    let judged = resolved.or(attempt);
    let facts = match judged {
        Some((_, judgement)) => serde_json::from_str::<Judgement>(judgement.get())?.facts,
        None => Vec::new(),
    };
    let rules = distinct(facts.iter().map(|fact| fact.rule.as_str()), ", ");
    let facts: Vec<String> = facts.iter().map(line).collect();
    let effective = Effective::of(standing);
    let mut fields = None;
    if let Some(last) = &last
        && let Submission::Fields(submitted) = &last.value.submission
        && effective.stands()
    {
        let mut submitted = submitted.clone();
        submitted.retain(|_, text| !(forgotten && text.contains(MASK)));
        fields = Some(submitted);
    }
    let is_decided = standing.resolution.is_some() || standing.settled.is_some();
    let noted = [
        (standing.dispute.is_some(), "disputed"),
        (forgotten, "forgotten"),
        (blocked, "blocked"),
    ];
    let status = status(
        standing.progress.state,
        is_decided.then_some(effective),
        &noted,
    );
    let settled_by = settled.as_ref().map(|it| (&*it.by, &*it.note));
    let disputed_by = dispute.as_ref().map(|it| (&*it.by, &*it.note));
    let people = || settled_by.into_iter().chain(disputed_by);
    Ok(columns.cells(&Outcome {
        fields: fields.as_ref(),
        status: &status,
        rule: &rules,
        facts: &facts.join("\n"),
        tries: standing.progress.tries,
        judged_at: judged.map(|(at, _)| at),
        settled_by: &distinct(people().map(|(by, _)| by), "\n"),
        note: &distinct(people().map(|(_, note)| note), "\n"),
    }))
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>, separator: &str) -> String {
    let mut seen = HashSet::new();
    let texts: Vec<&str> = texts.filter(|text| seen.insert(*text)).collect();
    texts.join(separator)
}

/// The state and, in parentheses, what became of a REVIEW that was judged again or settled, and
/// that it was disputed or forgotten, or waits for a quest that ended without a PASS.
fn status(state: State, became: Option<Effective>, noted: &[(bool, &str)]) -> String {
    let became = became.filter(|_| state == State::Review);
    let noted = noted.iter().filter(|(holds, _)| *holds);
    let said: Vec<&str> = became
        .map(Effective::name)
        .into_iter()
        .chain(noted.map(|(_, what)| *what))
        .collect();
    if said.is_empty() {
        return state.to_string();
    }
    format!("{state} ({})", said.join(", "))
}

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
    fn what_was_submitted_is_shown_unless_it_failed_or_was_rejected() {
        use Effective::{Accepted, Confirmed, Open, Pass};
        for effective in Effective::ALL {
            let shown = matches!(effective, Pass | Accepted | Confirmed | Open);
            assert_eq!(effective.stands(), shown, "{effective:?}");
        }
    }

    #[test]
    fn the_status_says_what_became_of_it_and_calls_no_review_a_pass() {
        use Effective::{Accepted, Confirmed, Open, Pass, Refuted, Rejected};

        let (none, disputed) = (&[][..], &[(true, "disputed"), (false, "forgotten")][..]);
        let blocked = &[(true, "blocked")];
        for (state, became, noted, expected) in [
            (State::Review, None, none, "REVIEW"),
            (State::Review, Some(Accepted), none, "REVIEW (accepted)"),
            (State::Review, Some(Confirmed), none, "REVIEW (confirmed)"),
            (State::Review, Some(Rejected), none, "REVIEW (rejected)"),
            (State::Review, Some(Refuted), none, "REVIEW (refuted)"),
            (State::Review, Some(Open), none, "REVIEW (open)"),
            (
                State::Review,
                Some(Accepted),
                disputed,
                "REVIEW (accepted, disputed)",
            ),
            (State::Pass, Some(Pass), disputed, "PASS (disputed)"),
            (State::Todo, None, blocked, "TODO (blocked)"),
        ] {
            assert_eq!(status(state, became, noted), expected);
        }
    }
}
