//! The operator's seal under what only a person decides.

use crate::base::Digest;
use crate::session::{Court, Decided, Event, Seal};

/// What is wrong with the seal under `event`, which stands after the line with the hash `after`;
/// nothing where the event needs none, or has it.
#[must_use]
pub fn broken(court: &Court, event: &Event, after: Digest) -> Option<String> {
    let what = match event {
        Event::Settled(settlement) => {
            let (by, decision) = (&settlement.by, settlement.decision.name());
            let why = why(court, settlement.as_ref(), after)?;
            format!("a decision ({decision} by {by:?}) {why}")
        }
        Event::Disputed(dispute) => {
            let why = why(court, dispute.as_ref(), after)?;
            format!("a dispute (by {:?}) {why}", dispute.by)
        }
        Event::Forgotten(forgotten) => {
            let why = why(court, forgotten.as_ref(), after)?;
            format!("a decision to forget (by {:?}) {why}", forgotten.by)
        }
        _ => return None,
    };
    Some(format!("{what}: nobody made it, and it changed nothing"))
}

fn why<T: Decided>(court: &Court, decided: &T, after: Digest) -> Option<&'static str> {
    if court.admits(decided, after) {
        return None;
    }
    Some(match decided.seal() {
        None => "without the operator's seal",
        Some(Seal { after: there, .. }) if *there != after => {
            "under a seal that was made for another place in the ledger"
        }
        Some(_) => "under a seal that the operator's key did not make for it",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::QuestId;
    use crate::session::{Decision, SettledQuest, Settlement, SigningKey};

    fn settlement() -> Settlement {
        Settlement {
            quests: vec![SettledQuest {
                quest: QuestId::FIRST,
                attempt: 1,
            }],
            decision: Decision::Accepted,
            by: "kim".to_owned(),
            note: "called".to_owned(),
            seal: None,
        }
    }

    #[test]
    fn each_way_of_forging_is_named() {
        let key = SigningKey::read(&[7; 32]).unwrap();
        let court = Court {
            session: Digest::of(b"session"),
            key: Some(key.public()),
        };
        let here = Digest::of(b"line 7");
        let found = |settlement| broken(&court, &Event::Settled(Box::new(settlement)), here);
        let sealed = |after| court.seal(settlement(), after, &key).unwrap();
        assert_eq!(found(sealed(here)), None);
        let changed = Settlement {
            note: "did not".to_owned(),
            ..sealed(here)
        };
        for (forged, word) in [
            (settlement(), "without the operator's seal"),
            (sealed(Digest::of(b"line 3")), "another place"),
            (changed, "did not make for it"),
        ] {
            let what = found(forged).unwrap();
            assert!(what.contains(word), "{what}");
            assert!(what.contains(r#"accepted by "kim""#), "{what}");
        }
        let keyless = Court { key: None, ..court };
        let event = Event::Settled(Box::new(settlement()));
        assert_eq!(broken(&keyless, &event, here), None);
    }
}
