//! The outcome of a quest, as `export` and `list` show it.

use itertools::Itertools as _;

use crate::gate::{Fact, Judgement};
use crate::judge::forgotten::{MASK, is_forgotten};
use crate::quest::Submission;
use crate::session::{
    Effective, LineReader, QuestRecord, Session, SessionError, State, Waiting, Worker, WorldKind,
};
use crate::table::results::{Outcome, RowError};

/// The result of a quest: that of its last attempt or, if that REVIEW was judged again, of the
/// later judgement. For a repeated answer, the facts are those of its first judgement.
pub(super) struct QuestOutcome {
    pub(super) shown: Outcome,
    /// Who gave the last answer.
    pub(super) worker: Option<Worker>,
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

    /// For a text that mentions the recorded world only once.
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
        let (people, reasons): (Vec<_>, Vec<_>) = settled.into_iter().chain(disputed).unzip();
        let shown = Outcome {
            fields,
            holds: effective.holds() && !record.is_disputed(),
            status,
            rules: facts
                .iter()
                .map(|fact| fact.rule.to_string())
                .unique()
                .collect(),
            facts: facts.iter().map(line).collect(),
            tries,
            judged_at,
            settled_by: people.into_iter().unique().collect(),
            notes: reasons.into_iter().unique().collect(),
        };
        Ok(QuestOutcome { shown, worker })
    }
}

/// The state and, in parentheses, the outcome of a REVIEW that was judged again or settled, followed by
/// notes: disputed, forgotten, blocked, or judged by a recorded world.
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
    fn the_status_names_the_outcome_and_never_calls_a_review_a_pass() {
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
