//! A recorded judgement, held against the one that its evidence leads to.

use serde_json::value::RawValue;

use super::finding::{Finding, Kind, Place};
use crate::gate::Judgement;
use crate::judge::ReplayError;

/// What is found of a judgement that was made `again` from its evidence; nothing when it is the
/// recorded one, byte for byte.
///
/// `same_judge`: this program and its lists are those that the session was made with.
#[must_use]
pub fn replayed(
    place: Place,
    recorded: &RawValue,
    again: Result<Judgement, ReplayError>,
    same_judge: bool,
) -> Option<Finding> {
    let other = if same_judge {
        Kind::Replay
    } else {
        Kind::OtherLists
    };
    match again {
        Ok(judgement) if is(&judgement, recorded) => None,
        Ok(judgement) => {
            let what = format!(
                "judged again from its evidence it is {}, and that is not the recorded judgement",
                judgement.verdict
            );
            Some(Finding::new(other, place, what).with(judgement.facts))
        }
        Err(error @ ReplayError::Unanswered) => Some(Finding::new(other, place, error.to_string())),
        Err(error) => Some(Finding::new(Kind::Evidence, place, told(&error))),
    }
}

fn is(judgement: &Judgement, recorded: &RawValue) -> bool {
    serde_json::to_string(judgement).is_ok_and(|text| text == recorded.get())
}

fn told(error: &ReplayError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let why = error.to_string();
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::base::Digest;
    use crate::gate::house;

    fn found(recorded: &str, again: Result<Judgement, ReplayError>, same: bool) -> Option<Kind> {
        let recorded = RawValue::from_string(recorded.to_owned()).unwrap();
        replayed(Place::default(), &recorded, again, same).map(|finding| finding.kind)
    }

    #[test]
    fn the_same_bytes_are_no_finding_and_every_other_spelling_is() {
        let judgement = || house::no_result("why");
        let recorded = to_raw_value(&judgement()).unwrap();
        let recorded = recorded.get();
        assert_eq!(found(recorded, Ok(judgement()), true), None);
        assert_eq!(found(recorded, Ok(judgement()), false), None);
        let spaced = recorded.replace(':', ": ");
        assert_eq!(found(&spaced, Ok(judgement()), true), Some(Kind::Replay));
        let other = || house::no_result("why not");
        assert_eq!(found(recorded, Ok(other()), true), Some(Kind::Replay));
        assert_eq!(found(recorded, Ok(other()), false), Some(Kind::OtherLists));
    }

    #[test]
    fn lost_evidence_is_so_under_whatever_lists() {
        for same in [true, false] {
            let digest = Digest::of(b"page");
            let lost = Err(ReplayError::BodyMissing { digest });
            assert_eq!(found("{}", lost, same), Some(Kind::Evidence));
        }
        let more = || Err(ReplayError::Unanswered);
        assert_eq!(found("{}", more(), true), Some(Kind::Replay));
        assert_eq!(found("{}", more(), false), Some(Kind::OtherLists));
    }
}
