//! Judges by the world and keeps as evidence what the judgement needs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::base::Digest;
use crate::gate::{Case, Cause, CheckOutcome, Gate, Judgement};
use crate::judge::accepted::SessionAccepted;
use crate::judge::error::JudgeError;
use crate::quest::{Key, email};
use crate::session::{EvidenceStore, Session, VerdictBasis};
use crate::world::evidence::prune::pruned;
use crate::world::evidence::record::Recorder;
use crate::world::evidence::replay::Replay;
use crate::world::evidence::{Recording, pack};
use crate::world::mailbox::Mailbox;
use crate::world::{EarlierDoubt, UniqueValue, UniquenessIndex, World};

/// Judges `case` by `world`, and keeps what the judgement needs as evidence.
pub fn record(
    gate: &dyn Gate,
    case: Case<'_>,
    world: World<'_>,
) -> Result<(Judgement, Recording), serde_json::Error> {
    let recorder = Recorder::new(world);
    let judgement = gate.judge(case, &recorder.world());
    let recording = trimmed(gate, case, &judgement, recorder.finish())?;
    Ok((judgement, recording))
}

/// The recording with no more of the pages than the judgement needs: judged again from it, the
/// judgement is the same, byte for byte.
pub(super) fn trimmed(
    gate: &dyn Gate,
    case: Case<'_>,
    judgement: &Judgement,
    recording: Recording,
) -> Result<Recording, serde_json::Error> {
    let less = pruned(&recording, &named_mailboxes(case, judgement));
    Ok(match judge_from(gate, case, &less) {
        Some(again) if same(&again, judgement)? => less,
        _ => recording,
    })
}

/// Judges `case` again by its evidence when what the session knows has changed since.
pub fn record_again(
    gate: &dyn Gate,
    case: Case<'_>,
    recording: &Recording,
    accepted: &dyn UniquenessIndex,
) -> Option<(Judgement, Recording)> {
    let evidence = &recording.evidence;
    if !evidence.session_differs(accepted) && !evidence.doubts_differ(accepted) {
        return None;
    }
    let _told = tracing::info_span!("judged from the evidence").entered();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let since = Since {
        accepted,
        replay: &replay,
    };
    let recorder = Recorder::new(replay.world_with(&since));
    let judgement = gate.judge(case, &recorder.world());
    Some((judgement, recorder.finish()))
}

struct Since<'a> {
    accepted: &'a dyn UniquenessIndex,
    replay: &'a Replay<'a>,
}

impl UniquenessIndex for Since<'_> {
    fn holder(&self, taken: &UniqueValue) -> Option<Key> {
        self.accepted.holder(taken)
    }

    fn doubts(&self) -> Vec<EarlierDoubt> {
        self.accepted.doubts()
    }

    fn may_ask(&self) -> bool {
        self.replay.may_ask()
    }
}

/// The judgement that evidence alone leads to; none when it does not answer every question.
#[must_use]
pub fn judge_from(gate: &dyn Gate, case: Case<'_>, recording: &Recording) -> Option<Judgement> {
    let _told = tracing::info_span!("judged from the evidence").entered();
    let replay = Replay::new(&recording.evidence, &recording.bodies);
    let judgement = gate.judge(case, &replay.world());
    replay.missing().is_empty().then_some(judgement)
}

fn same(one: &Judgement, two: &Judgement) -> Result<bool, serde_json::Error> {
    Ok(serde_json::to_vec(one)? == serde_json::to_vec(two)?)
}

fn named_mailboxes(case: Case<'_>, judgement: &Judgement) -> Vec<Mailbox> {
    let submitted = case.submission.field(email::EMAIL.as_str());
    let facts = judgement.facts.iter();
    let words = facts
        .flat_map(|fact| [fact.expected.as_str(), fact.actual.as_str()])
        .flat_map(|text| text.split(|c: char| c.is_whitespace() || ",;()\"".contains(c)));
    let named: BTreeSet<Mailbox> = submitted
        .into_iter()
        .chain(words)
        .filter_map(|word| Mailbox::parse(word).ok())
        .collect();
    named.into_iter().collect()
}

/// A judgement as the ledger records it.
#[derive(Debug)]
pub(crate) struct RecordedJudgement {
    pub(crate) judgement: Judgement,
    pub(crate) grounds: VerdictBasis,
    pub(crate) recording: Recording,
}

impl RecordedJudgement {
    /// A judgement for which nothing was looked up.
    pub(crate) fn by_house(judgement: Judgement, grounds: VerdictBasis) -> Self {
        Self {
            judgement,
            grounds,
            recording: Recording::default(),
        }
    }

    pub(crate) fn by_gate(gate: &dyn Gate, judgement: Judgement, recording: Recording) -> Self {
        let evidence = &recording.evidence;
        let looked_up = !evidence.exchanges.is_empty();
        let silent = evidence.rests_on_silence();
        let grounds = grounds(&judgement, looked_up, silent, &gate.confirming());
        Self {
            judgement,
            grounds,
            recording,
        }
    }

    /// Judges again, from evidence alone, when what the session knows has changed.
    pub(crate) fn judge_again(
        self,
        gate: &dyn Gate,
        case: Case<'_>,
        store: &Session,
    ) -> Result<Self, JudgeError> {
        let accepted = SessionAccepted::new(store, case.quest.id);
        let again = record_again(gate, case, &self.recording, &accepted);
        Ok(match accepted.told(again)? {
            None => self,
            Some((judgement, recording)) => Self::by_gate(gate, judgement, recording),
        })
    }

    /// Puts the bodies that a ledger line is about to name on disk, and notes those that were not
    /// there.
    pub(crate) fn keep(
        &self,
        store: &EvidenceStore,
        new: &RefCell<Vec<Digest>>,
    ) -> Result<(), JudgeError> {
        for (digest, body) in &self.recording.bodies {
            if store.keep(*digest, &pack(body))? {
                new.borrow_mut().push(*digest);
            }
        }
        Ok(())
    }

    pub(crate) fn fired(&self) -> Vec<String> {
        let mut rules: Vec<String> = Vec::new();
        for fact in &self.judgement.facts {
            if !rules.iter().any(|rule| rule == fact.rule.as_str()) {
                rules.push(fact.rule.to_string());
            }
        }
        rules
    }
}

/// Whether reviewers raised a doubt, or did not settle the answer. They are asked about a PASS only,
/// so that every fact of such a judgement is theirs.
pub(super) fn is_reviewed(judgement: &Judgement) -> bool {
    judgement.panel.is_some() && !judgement.facts.is_empty()
}

/// What `judgement` rests on.
///
/// `looked_up`: the gate asked the world anything at all. `unanswered`: some lookup was not
/// answered. `confirming`: the checks that together confirm a submission.
#[must_use]
pub fn grounds(
    judgement: &Judgement,
    looked_up: bool,
    unanswered: bool,
    confirming: &[&str],
) -> VerdictBasis {
    let caused = |cause: Cause| judgement.facts.iter().any(|fact| fact.cause == cause);
    let passed = |check: &&str| {
        let mut checks = judgement.checks.iter();
        checks.any(|report| report.check == *check && report.outcome == CheckOutcome::Passed)
    };
    let mut checks = judgement.checks.iter();
    let failed = checks.any(|report| report.outcome == CheckOutcome::Failed);
    let confirmed = !confirming.is_empty() && confirming.iter().all(passed);
    if !looked_up {
        VerdictBasis::Submission
    } else if is_reviewed(judgement) {
        // Reviewers who say too little confirm nothing: whoever can silence them could otherwise
        // end every quest as proven.
        if caused(Cause::Wrong) && confirmed {
            VerdictBasis::Confirmed
        } else {
            VerdictBasis::World
        }
    } else if unanswered && (!failed || caused(Cause::Unanswered)) {
        VerdictBasis::Unanswered
    } else if caused(Cause::Unreadable) || caused(Cause::Unanswered) {
        VerdictBasis::Unread
    } else if confirmed && !failed {
        VerdictBasis::Confirmed
    } else {
        VerdictBasis::World
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{CheckReport, Fact, Level, PanelReport, RuleId};

    const CONFIRMING: &[&str] = &["source", "identity"];

    fn judged(rule: &'static str) -> Judgement {
        checked(rule, &[])
    }

    fn checked(rule: &'static str, checks: &[(&str, CheckOutcome)]) -> Judgement {
        let fact = Fact {
            cause: match rule {
                "reviewers-doubt" => Cause::Wrong,
                "source-robots" => Cause::Unreadable,
                "mx-unanswered" => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
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
        assert_eq!(of(Passed, Passed, Passed), VerdictBasis::Confirmed);
        assert_eq!(of(Passed, Passed, NotConfirmed), VerdictBasis::Confirmed);
        for (source, identity) in [
            (NotConfirmed, Passed),
            (Passed, NotConfirmed),
            (NotRun, Passed),
            (Passed, NotRun),
        ] {
            assert_eq!(of(source, identity, Passed), VerdictBasis::World);
        }
        assert_eq!(of(Passed, Passed, Failed), VerdictBasis::World);
        let silent = [("source", Passed), ("identity", Passed)];
        let silent = checked("mx-unanswered", &silent);
        assert_eq!(
            grounds(&silent, true, true, CONFIRMING),
            VerdictBasis::Unanswered
        );
        assert_eq!(
            grounds(&judged("freemail"), true, false, CONFIRMING),
            VerdictBasis::World
        );
    }

    #[test]
    fn reviewers_who_say_too_little_bear_nothing_out() {
        use CheckOutcome::Passed;
        let passed = [("source", Passed), ("identity", Passed)];
        let of = |rule| {
            let mut judgement = checked(rule, &passed);
            judgement.panel = Some(Box::new(PanelReport {
                plant: None,
                reviewers: Vec::new(),
            }));
            grounds(&judgement, true, true, CONFIRMING)
        };
        assert_eq!(of("reviewers-unsettled"), VerdictBasis::World);
        assert_eq!(of("reviewers-doubt"), VerdictBasis::Confirmed);
    }

    #[test]
    fn silence_counts_before_what_could_not_be_read() {
        assert_eq!(
            grounds(&judged("mx-unanswered"), true, true, CONFIRMING),
            VerdictBasis::Unanswered
        );
        assert_eq!(
            grounds(&judged("source-robots"), true, false, CONFIRMING),
            VerdictBasis::Unread
        );
        // robots.txt itself did not answer.
        assert_eq!(
            grounds(&judged("source-robots"), true, true, CONFIRMING),
            VerdictBasis::Unanswered
        );
        assert_eq!(
            grounds(&judged("freemail"), true, false, CONFIRMING),
            VerdictBasis::World
        );
        assert_eq!(
            grounds(&judged("freemail"), false, false, CONFIRMING),
            VerdictBasis::Submission
        );
    }
}
