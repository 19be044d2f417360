//! What a verdict rests on, for the session's record.

use crate::gate::{CheckOutcome, Judgement};
use crate::session::Grounds;

/// Rules that fire when a lookup was not answered.
const SILENT: &[&str] = &["source-unanswered", "mx-unanswered", "identity-unanswered"];

/// Rules that fire when a page may not or cannot be read.
const UNREAD: &[&str] = &["source-robots", "source-unreadable", "source-needs-script"];

/// What `judgement` rests on.
///
/// `looked_up`: the gate asked the world anything at all. `unanswered`: some lookup was not
/// answered.
#[must_use]
pub fn grounds(judgement: &Judgement, looked_up: bool, unanswered: bool) -> Grounds {
    let fired = |rules: &[&str]| {
        let mut facts = judgement.facts.iter();
        facts.any(|fact| rules.contains(&fact.rule.as_str()))
    };
    let failed = judgement
        .checks
        .iter()
        .any(|report| report.outcome == CheckOutcome::Failed);
    if !looked_up {
        Grounds::Submission
    } else if fired(SILENT) || (unanswered && !failed) {
        Grounds::Silence
    } else if fired(UNREAD) {
        Grounds::Unread
    } else {
        Grounds::World
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Fact, Level, RuleId};

    fn judged(rule: &'static str) -> Judgement {
        let fact = Fact {
            rule: RuleId::known(rule),
            level: Level::Review,
            field: None,
            location: None,
            expected: String::new(),
            actual: String::new(),
            count: 1,
        };
        Judgement::from_facts(vec![fact], Vec::new())
    }

    #[test]
    fn silence_counts_before_what_could_not_be_read() {
        assert_eq!(
            grounds(&judged("mx-unanswered"), true, true),
            Grounds::Silence
        );
        assert_eq!(
            grounds(&judged("source-robots"), true, false),
            Grounds::Unread
        );
        // robots.txt itself did not answer.
        assert_eq!(
            grounds(&judged("source-robots"), true, true),
            Grounds::Silence
        );
        assert_eq!(grounds(&judged("freemail"), true, false), Grounds::World);
        assert_eq!(
            grounds(&judged("freemail"), false, false),
            Grounds::Submission
        );
    }
}
