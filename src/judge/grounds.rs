//! What a verdict rests on, for the session's record.

use crate::gate::checks::UNCONFIRMED;
use crate::gate::{CheckOutcome, Judgement};
use crate::session::Grounds;

/// Rules that fire when a lookup was not answered.
pub(super) const SILENT: &[&str] = &["source-unanswered", "mx-unanswered", "identity-unanswered"];

pub(super) const REVIEWED: &[&str] = &[DOUBTED, "reviewers-unsettled"];

const DOUBTED: &str = "reviewers-doubt";

/// Rules that fire when a page may not or cannot be read.
const UNREAD: &[&str] = &["source-robots", "source-unreadable", "source-needs-script"];

/// What `judgement` rests on.
///
/// `looked_up`: the gate asked the world anything at all. `unanswered`: some lookup was not
/// answered. `confirming`: the checks that together bear a submission out.
#[must_use]
pub fn grounds(
    judgement: &Judgement,
    looked_up: bool,
    unanswered: bool,
    confirming: &[&str],
) -> Grounds {
    let fired = |rules: &[&str]| {
        let mut facts = judgement.facts.iter();
        facts.any(|fact| rules.contains(&fact.rule.as_str()))
    };
    let ended = |check: &str, outcome| {
        let mut checks = judgement.checks.iter();
        checks.any(|report| report.check == check && report.outcome == outcome)
    };
    let mut checks = judgement.checks.iter();
    let failed = checks.any(|report| report.outcome == CheckOutcome::Failed);
    let passed = |check: &&str| ended(check, CheckOutcome::Passed);
    let confirmed = !confirming.is_empty() && confirming.iter().all(passed);
    let mut facts = judgement.facts.iter();
    let unconfirmed = facts.any(|fact| fact.rule.as_str().ends_with(UNCONFIRMED));
    // What people or models doubt is no silence of the world, and is not asked again. That they
    // said too little bears nothing out: whoever can silence them could end every quest so.
    let (reviewed, doubted) = (fired(REVIEWED), fired(&[DOUBTED]));
    if !looked_up {
        Grounds::Submission
    } else if doubted && confirmed {
        Grounds::Confirmed
    } else if reviewed {
        Grounds::World
    } else if fired(SILENT) || (unanswered && !failed) {
        Grounds::Silence
    } else if fired(UNREAD) || unconfirmed {
        Grounds::Unread
    } else if confirmed && !failed {
        Grounds::Confirmed
    } else {
        Grounds::World
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{CheckReport, Fact, Level, RuleId};

    const CONFIRMING: &[&str] = &["source", "identity"];

    fn judged(rule: &'static str) -> Judgement {
        checked(rule, &[])
    }

    fn checked(rule: &'static str, checks: &[(&str, CheckOutcome)]) -> Judgement {
        let fact = Fact {
            rule: RuleId::known(rule),
            level: Level::Review,
            field: None,
            location: None,
            expected: String::new(),
            actual: String::new(),
            count: 1,
        };
        let reports = checks.iter().map(|(check, outcome)| CheckReport {
            check: (*check).to_owned(),
            outcome: *outcome,
        });
        Judgement::from_facts(vec![fact], reports.collect())
    }

    #[test]
    fn a_submission_is_confirmed_by_source_and_identity_together() {
        use CheckOutcome::{Failed, NotConfirmed, NotRun, Passed};
        let of = |source, identity, mail| {
            let checks = [("source", source), ("mail", mail), ("identity", identity)];
            grounds(&checked("freemail", &checks), true, false, CONFIRMING)
        };
        assert_eq!(of(Passed, Passed, Passed), Grounds::Confirmed);
        assert_eq!(of(Passed, Passed, NotConfirmed), Grounds::Confirmed);
        for (source, identity) in [
            (NotConfirmed, Passed),
            (Passed, NotConfirmed),
            (NotRun, Passed),
            (Passed, NotRun),
        ] {
            assert_eq!(of(source, identity, Passed), Grounds::World);
        }
        assert_eq!(of(Passed, Passed, Failed), Grounds::World);
        let silent = [("source", Passed), ("identity", Passed)];
        let silent = checked("mx-unanswered", &silent);
        assert_eq!(grounds(&silent, true, true, CONFIRMING), Grounds::Silence);
        assert_eq!(
            grounds(&judged("freemail"), true, false, CONFIRMING),
            Grounds::World
        );
    }

    #[test]
    fn reviewers_who_say_too_little_bear_nothing_out() {
        use CheckOutcome::Passed;
        let passed = [("source", Passed), ("identity", Passed)];
        let of = |rule| grounds(&checked(rule, &passed), true, true, CONFIRMING);
        assert_eq!(of("reviewers-unsettled"), Grounds::World);
        assert_eq!(of("reviewers-doubt"), Grounds::Confirmed);
    }

    #[test]
    fn silence_counts_before_what_could_not_be_read() {
        assert_eq!(
            grounds(&judged("mx-unanswered"), true, true, CONFIRMING),
            Grounds::Silence
        );
        assert_eq!(
            grounds(&judged("source-robots"), true, false, CONFIRMING),
            Grounds::Unread
        );
        // robots.txt itself did not answer.
        assert_eq!(
            grounds(&judged("source-robots"), true, true, CONFIRMING),
            Grounds::Silence
        );
        assert_eq!(
            grounds(&judged("freemail"), true, false, CONFIRMING),
            Grounds::World
        );
        assert_eq!(
            grounds(&judged("freemail"), false, false, CONFIRMING),
            Grounds::Submission
        );
    }
}
