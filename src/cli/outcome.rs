//! What became of a quest, as `export` and `list` show it.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::{MASK, is_forgotten};
use crate::quest::{Fields, Submission};
use crate::session::{
    Effective, LineReader, QuestRecord, Session, SessionError, State, Waiting, Worker, WorldKind,
};
use crate::table::results::{Cell, Columns, Outcome, RowError};

/// The result of a quest: that of its last attempt or, if that REVIEW was judged again, of the
/// later judgement. For a repeated answer, the facts are those of its first judgement.
pub(super) struct QuestOutcome {
    /// The answer, unless it failed or a person rejected it.
    pub(super) fields: Option<Fields>,
    /// Whether the answer counts as right, and nobody disputed it.
    pub(super) holds: bool,
    pub(super) status: String,
    pub(super) facts: Vec<Fact>,
    pub(super) tries: u32,
    pub(super) judged_at: Option<Timestamp>,
    /// Who gave the last answer.
    pub(super) worker: Option<Worker>,
    /// Who decided on it, and why.
    decisions: Vec<(String, String)>,
}

pub(super) struct OutcomeReader {
    reader: LineReader,
    waiting: Waiting,
    /// Whether the status of each quest names the recorded world.
    names_world: bool,
}

impl OutcomeReader {
    pub(super) fn new(session: &Session, waiting: Waiting) -> Result<Self, SessionError> {
        Ok(Self {
            reader: session.reader()?,
            waiting,
            names_world: session.manifest().frozen.world_kind() == WorldKind::Recorded,
        })
    }

    /// For a text that says once that the world is recorded.
    pub(super) fn without_world(self) -> Self {
        Self {
            names_world: false,
            ..self
        }
    }

    pub(super) fn read(&mut self, record: &QuestRecord) -> Result<QuestOutcome, RowError> {
        let reader = &mut self.reader;
        let last = reader.last_attempt(record)?;
        let repeated = reader.repeated_attempt(record)?;
        let resolution = reader.resolution(record)?;
        let settled = reader.settlement(record)?.map(|it| it.value);
        let dispute = reader.dispute(record)?.map(|it| it.value);
        let forgotten = is_forgotten(reader, record)?;

        let attempt = last.as_ref().map(|it| (it.at, &it.value.judgement));
        let resolved = resolution.as_ref().map(|it| (it.at, &it.value.judgement));
        let judged = resolved.or(attempt);
        let judged_at = judged.map(|(at, _)| at);
        let first = repeated.as_ref().map(|it| &it.value.judgement);
        let facts = match first.or(judged.map(|(_, judgement)| judgement)) {
            Some(judgement) => serde_json::from_str::<Judgement>(judgement.get())?.facts,
            None => Vec::new(),
        };
        let effective = Effective::of(record);
        let is_decided = record.resolution.is_some() || record.settled.is_some();
        let noted = [
            record.is_disputed().then_some("disputed"),
            forgotten.then_some("forgotten"),
            self.waiting.blocks(record.id).then_some("blocked"),
            self.names_world.then_some("recorded world"),
        ];
        let status = status(
            record.progress.state,
            is_decided.then_some(effective),
            noted.into_iter().flatten(),
        );
        // A carried PASS keeps the number of tries of its own session.
        let tries = last.as_ref().map_or(0, |last| last.value.number);
        let (mut fields, mut worker) = (None, None);
        if let Some(last) = last {
            worker = last.value.worker;
            if let Submission::Fields(mut submitted) = last.value.submission
                && effective.stands()
            {
                submitted.retain(|_, text| !(forgotten && text.contains(MASK)));
                fields = Some(submitted);
            }
        }
        let settled = settled.map(|it| (it.by, it.note));
        let disputed = dispute.map(|it| (it.by, it.note));
        Ok(QuestOutcome {
            fields,
            holds: effective.holds() && !record.is_disputed(),
            status,
            facts,
            tries,
            judged_at,
            worker,
            decisions: settled.into_iter().chain(disputed).collect(),
        })
    }
}

impl QuestOutcome {
    /// The rules that fired, each once.
    pub(super) fn rules(&self) -> Vec<&str> {
        distinct(self.facts.iter().map(|fact| fact.rule.as_str()))
    }

    pub(super) fn cells(&self, columns: &Columns) -> Vec<Cell> {
        let facts: Vec<String> = self.facts.iter().map(line).collect();
        let people = self.decisions.iter();
        columns.cells(&Outcome {
            fields: self.fields.as_ref(),
            holds: self.holds,
            status: &self.status,
            rule: &self.rules().join(", "),
            facts: &facts.join("\n"),
            tries: self.tries,
            judged_at: self.judged_at,
            settled_by: &distinct(people.clone().map(|(by, _)| by.as_str())).join("\n"),
            note: &distinct(people.map(|(_, note)| note.as_str())).join("\n"),
        })
    }
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

/// The state and, in parentheses, what became of a REVIEW that was judged again or settled, and
/// that it was disputed or forgotten, waits for a quest that ended without a PASS, or was judged by
/// a recorded world.
fn status<'a>(
    state: State,
    became: Option<Effective>,
    noted: impl Iterator<Item = &'a str>,
) -> String {
    let became = became.filter(|_| state == State::Review);
    let became = became.map(Effective::name);
    let said: Vec<&str> = became.into_iter().chain(noted).collect();
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
    fn the_status_says_what_became_of_it_and_calls_no_review_a_pass() {
        use Effective::{Accepted, Confirmed, Open, Pass, Refuted, Rejected};

        let (none, disputed, blocked) = (&[][..], &["disputed"][..], &["blocked"][..]);
        let status = |state, became, noted: &[&'static str]| {
            super::status(state, became, noted.iter().copied())
        };
        for (state, became, noted, expected) in [
            (State::Review, None, none, "REVIEW"),
            (State::Review, Some(Accepted), none, "REVIEW (accepted)"),
            (State::Review, Some(Confirmed), none, "REVIEW (confirmed)"),
            (State::Review, Some(Rejected), none, "REVIEW (rejected)"),
            (State::Review, Some(Refuted), none, "REVIEW (refuted)"),
            (State::Review, Some(Open), none, "REVIEW (open)"),
            (State::Pass, Some(Pass), disputed, "PASS (disputed)"),
            (State::Todo, None, blocked, "TODO (blocked)"),
        ] {
            assert_eq!(status(state, became, noted), expected);
        }
        let both = status(State::Review, Some(Accepted), disputed);
        assert_eq!(both, "REVIEW (accepted, disputed)");
    }
}
