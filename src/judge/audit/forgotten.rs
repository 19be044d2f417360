//! What an audit says of an address that was forgotten: notes and, where it came back, findings.

use super::finding::{Finding, Kind, Place};
use crate::privacy::names;
use crate::session::{
    Board, Court, Entry, Event, EvidenceStore, Forgetting, SessionError, Suppressed,
};

#[derive(Debug)]
pub(super) struct ForgottenBefore {
    court: Court,
    suppressed: Vec<Suppressed>,
}

impl ForgottenBefore {
    /// None as yet.
    pub(super) fn new(court: Court) -> Self {
        Self {
            court,
            suppressed: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, board: &Board, entry: &Entry<'_>, line: u64) -> Option<Finding> {
        match &entry.event {
            Event::Forgotten(forgotten) => {
                if self.court.admits(forgotten.as_ref(), entry.line.prev()) {
                    self.suppressed.push(forgotten.address);
                }
                None
            }
            Event::Attempt(attempt) if names(&self.suppressed, &attempt.submission) => {
                let place = board
                    .get(attempt.quest)
                    .map_or_else(|| Place::of_line(line), |it| Place::of_quest(line, it));
                let what = "it submits an address that was forgotten before, and that the rule \
                            forgotten-address fails: run `comail forget` again";
                Some(Finding::new(Kind::Forgotten, place, what))
            }
            _ => None,
        }
    }
}

/// A note for each line that is not judged again, for something that it rests on is gone.
#[must_use]
pub fn notes(places: &[Place]) -> Vec<String> {
    let note = |place: &Place| {
        let line = place.line.unwrap_or_default();
        let quest = place
            .quest
            .map_or(String::new(), |id| format!(", quest {id}"));
        format!(
            "line {line}{quest}: forgotten: an address was blotted out, and it is not judged again"
        )
    };
    places.iter().map(note).collect()
}

/// A note where bodies lie in `store` that were to be forgotten.
///
/// Forgetting was cut off, or the same page was seen again for another quest.
pub fn left_over(
    store: &EvidenceStore,
    forgetting: &Forgetting,
) -> Result<Option<String>, SessionError> {
    let mut left = 0;
    for body in forgetting.bodies() {
        left += u32::from(store.load(body)?.is_some());
    }
    let note =
        "pages in evidence/ hold an address that was to be forgotten: run `comail forget` again";
    Ok((left > 0).then(|| format!("{left} {note}")))
}
