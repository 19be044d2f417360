//! Judges REVIEWs again that are undecided only because of an unanswered lookup.

use serde_json::value::to_raw_value;

use crate::base::clock::Clock;
use crate::gate::{Case, Gate, Judgement};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::MASK;
use crate::judge::forgotten::{is_masked, without_forgotten};
use crate::judge::host_queue::{Job, JudgedJob};
use crate::judge::recorded::marks;
use crate::judge::recorded::{KeptBodies, NewJudgement, is_reviewed, may_answer};
use crate::quest::Verdict;
use crate::session::{Event, Outcome, QuestRecord, Resolution, Session};
use crate::world::evidence::Evidence;

/// The result of judging a REVIEW again.
#[derive(Debug)]
pub enum Rechecked {
    Resolved(Outcome, Judgement),
    /// Some lookup is still not answered; nothing was recorded.
    Unanswered(Judgement),
    /// Another process has resolved it in the meantime; nothing was recorded.
    Meanwhile,
}

/// The submissions of REVIEWs that are undecided only because of an unanswered lookup and that were
/// not judged again yet, in order of quests.
pub fn to_recheck(session: &Session) -> Result<Vec<Job>, JudgeError> {
    let mut reader = session.reader()?;
    let mut jobs = Vec::new();
    for record in session.unanswered()? {
        let Some(last) = reader.last_attempt(&record)? else {
            continue;
        };
        let attempt = last.value;
        // A masked submission is not the one that was judged.
        if is_masked(&attempt.submission) || attempt.evidence.get().contains(MASK) {
            continue;
        }
        let judgement: Judgement = serde_json::from_str(attempt.judgement.get())?;
        let evidence: Evidence = serde_json::from_str(attempt.evidence.get())?;
        if is_only_unanswered(&judgement, &evidence) {
            jobs.push(Job {
                quest: reader.quest(&record)?,
                submission: attempt.submission,
                offline: None,
            });
        }
    }
    Ok(jobs)
}

/// Records the new judgement of a REVIEW.
///
/// It was made without the session's lock. Under the lock, it is compared with the session again, and
/// the REVIEW must still be unresolved. If two processes judge it concurrently, only one is recorded.
/// If a lookup is still unanswered, nothing is recorded.
pub fn resolve(
    session: &mut Session,
    gate: &dyn Gate,
    judged: JudgedJob,
    clock: &mut dyn Clock,
) -> Result<Rechecked, JudgeError> {
    let JudgedJob {
        job,
        judgement,
        recording,
    } = judged;
    let kept = KeptBodies::new(session.evidence());
    let decide = |session: &Session, _| {
        let record = session.quest_record(job.quest.id)?;
        let Some(record) = record.filter(QuestRecord::is_unanswered) else {
            return Ok((Vec::new(), Rechecked::Meanwhile));
        };
        let case = Case::new(&job.quest, &job.submission);
        let made =
            NewJudgement::by_gate(gate, judgement, recording).judge_again(gate, case, session)?;
        let made = without_forgotten(&session.forgetting(), made);
        if is_unanswered(&made.judgement, &made.recording.evidence) {
            return Ok((Vec::new(), Rechecked::Unanswered(made.judgement)));
        }
        let verdict = made.judgement.verdict;
        let outcome = Outcome::of(verdict);
        let resolution = Resolution {
            quest: record.id,
            attempt: record.attempts,
            outcome,
            verdict,
            grounds: made.grounds,
            rules: made.fired(),
            holds: match outcome {
                Outcome::Confirmed => marks(gate, case),
                Outcome::Refuted | Outcome::Open => Vec::new(),
            },
            judgement: to_raw_value(&made.judgement)?,
            evidence: to_raw_value(&made.recording.evidence)?,
        };
        kept.keep(&made.recording)?;
        let rechecked = Rechecked::Resolved(outcome, made.judgement);
        Ok((vec![Event::Resolution(Box::new(resolution))], rechecked))
    };
    session.append_or_undo(clock, decide, || kept.remove())
}

/// Whether `judgement` is a REVIEW only because of unanswered lookups.
pub(super) fn is_only_unanswered(judgement: &Judgement, evidence: &Evidence) -> bool {
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && judgement
            .facts
            .iter()
            .all(|fact| may_answer(fact, evidence))
}

/// Whether `judgement` is a REVIEW for which some lookup may be answered later.
///
/// A submission that reviewers were asked about had passed every check, so it has no unanswered lookup.
/// Judging it again would only ask the reviewers until they change their mind.
pub(super) fn is_unanswered(judgement: &Judgement, evidence: &Evidence) -> bool {
    let mut facts = judgement.facts.iter();
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && (evidence.rests_on_silence() || facts.any(|fact| may_answer(fact, evidence)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::gate::{Cause, Fact, Level, PanelReport, RuleId};

    const PAGE: &str = "https://acme.com/contact";

    fn judged(rules: &[&'static str]) -> Judgement {
        let fact = |rule: &&'static str| Fact {
            cause: match *rule {
                "source-robots" => Cause::Unreadable,
                rule if rule.ends_with("-unanswered") => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
            rule: RuleId::known(rule),
            level: Level::Review,
            location: Some(match *rule {
                "mx-unanswered" => "acme.com".into(),
                _ => PAGE.into(),
            }),
            ..Fact::wrong("", "")
        };
        Judgement::from_facts(rules.iter().map(fact).collect(), Vec::new())
    }

    fn evidence(exchange: &str) -> Evidence {
        serde_json::from_str(&format!(r#"{{"exchanges":[{exchange}]}}"#)).unwrap()
    }

    #[test]
    fn rechecks_a_review_only_if_a_lookup_may_still_answer() {
        let silent = |url: &str| {
            let silence = r#"{"unanswered":{"silence":"status","detail":"","status":503}}"#;
            evidence(&format!(
                r#"{{"get":{{"url":"{url}","answer":{silence}}}}}"#
            ))
        };
        let (quiet, heard) = (silent(PAGE), Evidence::default());
        let robots = silent("https://acme.com/robots.txt");
        // DNS answered with private addresses alone, which its owner will correct.
        let private = r#"{"found":{"addresses":["10.0.0.1"]}}"#;
        let private = format!(r#"{{"dns":{{"name":"acme.com","kind":"A","answer":{private}}}}}"#);
        let private = evidence(&private);
        let ban = ["source-robots", "identity-unanswered"];
        // Each row: the rules, the evidence, whether they are only unanswered, and whether a lookup
        // may say more.
        for (rules, evidence, only, some) in rows! {
            &["source-unanswered", "mx-unanswered"][..], &quiet, true => true;
            &["source-unanswered", "identity-unanswered"], &quiet, true => true;
            &["source-unanswered", "freemail"], &quiet, false => true;
            &["email-obfuscated"], &quiet, false => true;
            &["email-obfuscated", "mx-unanswered"], &quiet, false => true;
            &["email-obfuscated"], &heard, false => false;
            // robots.txt forbids the home page, and has said so.
            &["identity-unanswered"], &heard, false => false;
            &["mx-unanswered"], &private, true => true;
            &["mx-unanswered", "freemail"], &private, false => true;
            // DNS was not asked.
            &["mx-unanswered"], &heard, false => false;
            // A PASS is no REVIEW.
            &[], &quiet, false => false;
            // A ban counts as unanswered where robots.txt did not answer itself.
            &ban, &robots, true => true;
            &ban, &quiet, false => true;
            &ban, &heard, false => false;
        } {
            let judgement = judged(rules);
            assert_eq!(is_only_unanswered(&judgement, evidence), only, "{rules:?}");
            assert_eq!(is_unanswered(&judgement, evidence), some, "{rules:?}");
        }
        let mut reviewed = judged(&["reviewers-unsettled"]);
        reviewed.panel = Some(Box::new(PanelReport {
            plant: None,
            reviewers: Vec::new(),
        }));
        assert!(!is_unanswered(&reviewed, &quiet), "it is an answer");
        assert!(!is_only_unanswered(&reviewed, &quiet));
    }
}
