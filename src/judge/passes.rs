//! The PASSes of a session, judged again.

use std::sync::Arc;

use crate::gate::Fact;
use crate::judge::audit::{Asks, Live, Proven, ask_world};
use crate::judge::error::JudgeError;
use crate::judge::kind::JudgeWorld;
use crate::quest::QuestId;
use crate::session::{Decision, Outcome, QuestRecord, Session, State};
use crate::world::evidence::Evidence;

/// The quests that are PASS by evidence which `is_wanted`, in order.
pub(super) fn passes(
    session: &Session,
    is_wanted: &dyn Fn(&Evidence) -> bool,
) -> Result<Vec<QuestId>, JudgeError> {
    let passed = |record: &QuestRecord| record.progress.state == State::Pass;
    judged(session, &passed, is_wanted)
}

/// The same of the REVIEWs that a person has accepted, or may accept.
pub(super) fn reviews(
    session: &Session,
    is_wanted: &dyn Fn(&Evidence) -> bool,
) -> Result<Vec<QuestId>, JudgeError> {
    let may_count = |record: &QuestRecord| {
        let (settled, looked) = (record.settled.as_ref(), record.resolution.as_ref());
        record.progress.state == State::Review
            && settled.is_none_or(|it| it.decision != Decision::Rejected)
            && looked.is_none_or(|it| it.outcome != Outcome::Refuted)
    };
    judged(session, &may_count, is_wanted)
}

fn judged(
    session: &Session,
    counts: &dyn Fn(&QuestRecord) -> bool,
    is_wanted: &dyn Fn(&Evidence) -> bool,
) -> Result<Vec<QuestId>, JudgeError> {
    let projection = session.projection()?;
    let mut reader = session.reader()?;
    let mut passes = Vec::new();
    for record in projection.quests() {
        let record = record?;
        if !counts(&record) {
            continue;
        }
        if let Some(attempt) = reader.last_attempt(&record)?
            && is_wanted(&serde_json::from_str(attempt.value.evidence.get())?)
        {
            passes.push(record.id);
        }
    }
    Ok(passes)
}

/// Judges these PASSes again, without the network.
pub(super) fn judge_passes(
    session: &Session,
    world: JudgeWorld,
    passes: &[QuestId],
    stop: &dyn Fn() -> bool,
) -> Result<Live, JudgeError> {
    let proven = passes.iter().map(|quest| Proven {
        quest: *quest,
        line: 0,
        by_others: false,
        on_machine: true,
    });
    let proven: Vec<_> = proven.collect();
    let projection = session.projection()?;
    let world = Arc::new(world);
    let asks = Asks::Machine;
    ask_world(session, &projection, &proven, &world, asks, &|| (), stop)
}

pub(super) fn sentence(fact: &Fact) -> String {
    let field = fact.field.as_ref().map(|field| format!(" field {field}"));
    let place = fact.location.as_ref().map(|place| format!(" at {place}"));
    let (field, place) = (field.unwrap_or_default(), place.unwrap_or_default());
    let (rule, expected, actual) = (&fact.rule, &fact.expected, &fact.actual);
    format!("{rule}{field}{place}: expected {expected}, found {actual}")
}
