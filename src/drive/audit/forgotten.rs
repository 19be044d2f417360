//! What an audit says of an address that was forgotten: notes, and no findings.

use super::finding::Place;
use crate::session::{EvidenceStore, Forgetting, SessionError};

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
