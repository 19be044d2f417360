//! What the session found, row by row of the list.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::progress::WorkBar;
use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::is_forgotten;
use crate::judge::masking::MASK;
use crate::quest::{Listing, ListingError, QuestId, Submission, map_schema};
use crate::session::{
    Attempt, Board, Dated, Effective, LineReader, Resolution, Session, SessionError, Standing,
    State,
};
use crate::table::results::{Cell, ResultRow, RowError};
use crate::table::results::{Columns, Outcome};

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

/// What the quests come to that have rows in the file, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub(super) struct Comes {
    /// How many come to what.
    #[schemars(schema_with = "map_schema::<Effective, u32>")]
    pub(super) effective: BTreeMap<Effective, u32>,
    /// How many of them the world contradicted.
    pub(super) disputed: u32,
    /// How many have answers that were blotted out.
    pub(super) forgotten: u32,
}

impl Comes {
    pub(super) fn of(findings: Findings<'_>, map: &RowMap) -> Result<Self, SessionError> {
        Self::of_quests(findings, map.rows.iter().map(|(_, id)| *id))
    }

    pub(super) fn of_quests(
        findings: Findings<'_>,
        ids: impl Iterator<Item = QuestId>,
    ) -> Result<Self, SessionError> {
        let mut reader = findings.session.reader()?;
        let forgets = !findings.board.totals().forgetting.is_empty();
        let mut comes = Self::default();
        let mut counted = vec![false; findings.board.quests().len()];
        for standing in ids.filter_map(|id| findings.board.get(id)) {
            if std::mem::replace(&mut counted[standing.id.index()], true) {
                continue;
            }
            *comes.effective.entry(Effective::of(standing)).or_default() += 1;
            comes.disputed += u32::from(standing.dispute.is_some());
            comes.forgotten += u32::from(forgets && is_forgotten(&mut reader, standing)?);
        }
        Ok(comes)
    }

    /// `1 PASS, 2 REVIEW (1 accepted, 1 open), 0 DONE, 0 still TODO`, and what was noted since.
    pub(super) fn text(&self) -> String {
        use Effective::{Accepted, Confirmed, Done, Open, Pass, Refuted, Rejected, Todo};
        let of = |effective| self.effective.get(&effective).copied().unwrap_or(0);
        let said = |counts: &[(u32, &str)]| {
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let said: Vec<String> = counts
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            said.join(", ")
        };
        let settled = [Accepted, Confirmed, Refuted, Rejected];
        let settled = settled.map(|effective| (of(effective), effective.name()));
        let reviews = of(Open) + settled.iter().map(|(count, _)| count).sum::<u32>();
        let became = if reviews == of(Open) {
            String::new()
        } else {
            let open = [(of(Open), Open.name())];
            format!(" ({})", said(&[&settled[..], &open[..]].concat()))
        };
        let noted = said(&[(self.disputed, "disputed"), (self.forgotten, "forgotten")]);
        let noted = if noted.is_empty() {
            noted
        } else {
            format!("; of these {noted}")
        };
        format!(
            "{} PASS, {reviews} REVIEW{became}, {} DONE, {} still TODO{noted}",
            of(Pass),
            of(Done),
            of(Todo)
        )
    }
}

impl RowMap {
    /// The rows of `listing` that belong to quests in the wanted states; of all when none is
    /// named.
    pub(super) fn new(
        board: &Board,
        listing: Listing,
        only: &[State],
    ) -> Result<Self, ListingError> {
        let listed = listing.finish()?;
        let gone = u32::try_from(listed.without_row()).unwrap_or(u32::MAX);
        let wanted = |id: QuestId| {
            board
                .get(id)
                .is_some_and(|standing| only.is_empty() || only.contains(&standing.progress.state))
        };
        let mut rows = listed.known_rows();
        rows.retain(|(_, id)| wanted(*id));
        Ok(Self { rows, gone })
    }

    #[must_use]
    pub(super) fn gone(&self) -> u32 {
        self.gone
    }

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
    let bar = WorkBar::of("writing the results", map.len());
    Ok(map.rows.iter().map(move |(row, id)| {
        bar.step()?;
        let standing = findings
            .board
            .get(*id)
            .ok_or("a row belongs to a quest that is not there")?;
        let told = Told::read(&mut reader, standing)?;
        let blocked = waiting.blocks(*id);
        let cells = cells(standing, blocked, &told, columns)?;
        Ok(ResultRow { row: *row, cells })
    }))
}

struct Told {
    last: Option<Dated<Box<Attempt>>>,
    resolution: Option<Dated<Box<Resolution>>>,
    /// Who decided, and why.
    people: Vec<(String, String)>,
    /// Whether what was answered was blotted out.
    forgotten: bool,
}

impl Told {
    fn read(reader: &mut LineReader, standing: &Standing) -> Result<Self, SessionError> {
        let last = reader.last_attempt(standing)?;
        let resolution = reader.resolution(standing)?;
        let settled = reader.settlement(standing)?;
        let settled = settled.map(|settled| (settled.value.by, settled.value.note));
        let disputed = reader.dispute(standing)?;
        let disputed = disputed.map(|dispute| (dispute.value.by, dispute.value.note));
        Ok(Self {
            last,
            resolution,
            people: settled.into_iter().chain(disputed).collect(),
            forgotten: is_forgotten(reader, standing)?,
        })
    }
}

/// The results of a quest: those of its last attempt or, where that REVIEW was judged again, of
/// the later judgement.
fn cells(
    standing: &Standing,
    blocked: bool,
    told: &Told,
    columns: &Columns,
) -> Result<Vec<Cell>, RowError> {
    let judged = match (&told.resolution, &told.last) {
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
    let effective = Effective::of(standing);
    let fields = told
        .last
        .as_ref()
        .and_then(|last| match &last.value.submission {
            Submission::Fields(fields) if effective.stands() => Some(fields.clone()),
            _ => None,
        });
    let fields = fields.map(|mut fields| {
        fields.retain(|_, text| !(told.forgotten && text.contains(MASK)));
        fields
    });
    Ok(columns.cells(&Outcome {
        fields: fields.as_ref(),
        status: &Stands::of(standing, blocked, told.forgotten).text(),
        rule: &rules.join(", "),
        facts: &lines.join("\n"),
        tries: standing.progress.tries,
        judged_at: judged.map(|(at, _)| at),
        settled_by: &distinct(told.people.iter().map(|(by, _)| by.as_str())),
        note: &distinct(told.people.iter().map(|(_, note)| note.as_str())),
    }))
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut seen = HashSet::new();
    let texts: Vec<&str> = texts.filter(|text| seen.insert(*text)).collect();
    texts.join("\n")
}

#[derive(Clone, Copy)]
struct Stands {
    state: State,
    /// What became of a REVIEW, where anything did beside its own attempts.
    became: Option<Effective>,
    disputed: bool,
    /// Whether what was answered was blotted out.
    forgotten: bool,
    /// Whether it waits for one that ended without a PASS.
    blocked: bool,
}

impl Stands {
    fn of(standing: &Standing, blocked: bool, forgotten: bool) -> Self {
        Self {
            state: standing.progress.state,
            became: (standing.resolution.is_some() || standing.settled.is_some())
                .then(|| Effective::of(standing)),
            disputed: standing.dispute.is_some(),
            forgotten,
            blocked,
        }
    }

    /// The state and, in parentheses, what became of a REVIEW that was judged again or settled,
    /// that it was disputed or forgotten, that it waits in vain.
    fn text(self) -> String {
        let of_review = self.became.filter(|_| self.state == State::Review);
        let said = [
            of_review.map(Effective::name),
            self.disputed.then_some("disputed"),
            self.forgotten.then_some("forgotten"),
            self.blocked.then_some("blocked"),
        ];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        if said.is_empty() {
            return self.state.to_string();
        }
        format!("{} ({})", self.state, said.join(", "))
    }
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
        let plain = |state| Stands {
            state,
            became: None,
            disputed: false,
            forgotten: false,
            blocked: false,
        };
        let review = |effective| Stands {
            became: Some(effective),
            ..plain(State::Review)
        };
        assert_eq!(plain(State::Review).text(), "REVIEW");
        let expected = [
            (Effective::Accepted, "REVIEW (accepted)"),
            (Effective::Confirmed, "REVIEW (confirmed)"),
            (Effective::Rejected, "REVIEW (rejected)"),
            (Effective::Refuted, "REVIEW (refuted)"),
            (Effective::Open, "REVIEW (open)"),
        ];
        for (effective, text) in expected {
            assert_eq!(review(effective).text(), text);
        }
        let disputed = Stands {
            disputed: true,
            ..review(Effective::Accepted)
        };
        assert_eq!(disputed.text(), "REVIEW (accepted, disputed)");
        let disputed = Stands {
            disputed: true,
            ..plain(State::Pass)
        };
        assert_eq!(disputed.text(), "PASS (disputed)");
        let blocked = Stands {
            blocked: true,
            ..plain(State::Todo)
        };
        assert_eq!(blocked.text(), "TODO (blocked)");
    }
}
