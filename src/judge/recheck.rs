//! Judges REVIEWs again that only an unanswered lookup kept from a verdict.

use serde_json::value::to_raw_value;

use crate::base::clock::Clock;
use crate::gate::{Case, Gate, Judgement};
use crate::judge::error::JudgeError;
use crate::judge::forgotten::{is_masked, without_forgotten};
use crate::judge::host_queue::{Job, JudgedJob};
use crate::judge::masking::MASK;
use crate::judge::recorded::marks;
use crate::judge::recorded::{KeptBodies, RecordedJudgement, is_reviewed, may_answer};
use crate::judge::submit::appended;
use crate::quest::Verdict;
use crate::session::{Event, Outcome, QuestRecord, Resolution, Session};
use crate::world::evidence::Evidence;

/// What became of a REVIEW that was judged again.
#[derive(Debug)]
pub enum Rechecked {
    Resolved(Outcome, Judgement),
    /// Some lookup is still not answered; nothing was recorded.
    Unanswered(Judgement),
    /// Another process has resolved it in the meantime; nothing was recorded.
    Meanwhile,
}

/// The submissions of the REVIEWs that only an unanswered lookup kept from a verdict, and that were
/// not judged again yet, in order of quests.
pub fn to_recheck(session: &Session) -> Result<Vec<Job>, JudgeError> {
    let mut reader = session.reader()?;
    let mut jobs = Vec::new();
    for record in session.unanswered()? {
        let Some(last) = reader.last_attempt(&record)? else {
            continue;
        };
        let attempt = last.value;
        // A submission from which an address was removed is no longer the one that was judged.
        if is_masked(&attempt.submission) || attempt.evidence.get().contains(MASK) {
            continue;
        }
        let judgement: Judgement = serde_json::from_str(attempt.judgement.get())?;
        let evidence: Evidence = serde_json::from_str(attempt.evidence.get())?;
        if is_only_unanswered(&judgement, &evidence) {
            jobs.push(Job {
                quest: reader.quest(&record)?,
                submission: attempt.submission,
            });
        }
    }
    Ok(jobs)
}

/// Records the new judgement of a REVIEW.
///
/// It was made without the session's lock. Under the lock, what the session knows is checked, and
/// whether the REVIEW is still unresolved: if two processes judge it again at once, one is
/// recorded. A lookup that is still unanswered changes nothing.
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
    let mut rechecked = Rechecked::Meanwhile;
    let kept = KeptBodies::new(session.evidence());
    let decide = |session: &Session, _| {
        let record = session.standing(job.quest.id)?;
        let Some(record) = record.filter(QuestRecord::is_unanswered) else {
            return Ok(Vec::new());
        };
        let case = Case {
            quest: &job.quest,
            submission: &job.submission,
        };
        let made = RecordedJudgement::by_gate(gate, judgement, recording)
            .judge_again(gate, case, session)?;
        let made = without_forgotten(&session.forgetting(), made);
        if is_unanswered(&made.judgement, &made.recording.evidence) {
            rechecked = Rechecked::Unanswered(made.judgement);
            return Ok(Vec::new());
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
        rechecked = Rechecked::Resolved(outcome, made.judgement);
        Ok::<_, JudgeError>(vec![Event::Resolution(Box::new(resolution))])
    };
    appended(session.append_or(clock, decide, || kept.remove())?)?;
    Ok(rechecked)
}

/// Whether `judgement` is a REVIEW that only unanswered lookups keep from a verdict.
pub(super) fn is_only_unanswered(judgement: &Judgement, evidence: &Evidence) -> bool {
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && judgement
            .facts
            .iter()
            .all(|fact| may_answer(fact, evidence))
}

/// Whether `judgement` is a REVIEW on which some lookup may say more later.
///
/// What reviewers were asked about passed every check, so that nothing in it waits for an answer:
/// judging it again would only ask them until they say something else.
pub(super) fn is_unanswered(judgement: &Judgement, evidence: &Evidence) -> bool {
    let mut facts = judgement.facts.iter();
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && (evidence.rests_on_silence() || facts.any(|fact| may_answer(fact, evidence)))
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Evidence in which this URL did not answer.
    fn silent(url: &str) -> Evidence {
        let silence = r#"{"unanswered":{"silence":"status","detail":"","status":503}}"#;
        let text = format!(r#"{{"exchanges":[{{"get":{{"url":"{url}","answer":{silence}}}}}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// Evidence in which DNS answered, with private addresses alone.
    fn private() -> Evidence {
        let dns = r#"{"name":"acme.com","kind":"A","answer":{"found":{"addresses":["10.0.0.1"]}}}"#;
        serde_json::from_str(&format!(r#"{{"exchanges":[{{"dns":{dns}}}]}}"#)).unwrap()
    }

    #[test]
    fn every_fact_is_of_a_lookup_that_may_still_answer() {
        let heard = Evidence::default();
        let quiet = silent(PAGE);
        let alone = |rules: &[&'static str], evidence| is_only_unanswered(&judged(rules), evidence);
        assert!(alone(&["source-unanswered", "mx-unanswered"], &quiet));
        assert!(alone(&["source-unanswered", "identity-unanswered"], &quiet));
        assert!(!alone(&["source-unanswered", "freemail"], &quiet));
        assert!(!alone(&["email-obfuscated"], &quiet));
        // robots.txt forbids the home page, and has said so.
        assert!(!alone(&["identity-unanswered"], &heard));
        let private = private();
        // Only private addresses: DNS has answered, and its owner will correct it.
        assert!(alone(&["mx-unanswered"], &private));
        assert!(!alone(&["mx-unanswered", "freemail"], &private));
        assert!(!alone(&["mx-unanswered"], &heard), "DNS was not asked");
        assert!(!alone(&[], &quiet), "a PASS is no REVIEW");
    }

    #[test]
    fn a_ban_of_robots_txt_is_silence_where_it_did_not_answer_itself() {
        let ban = judged(&["source-robots", "identity-unanswered"]);
        assert!(is_only_unanswered(
            &ban,
            &silent("https://acme.com/robots.txt")
        ));
        assert!(!is_only_unanswered(&ban, &silent(PAGE)));
        assert!(!is_only_unanswered(&ban, &Evidence::default()));
    }

    #[test]
    fn what_some_lookup_still_owes_is_unanswered() {
        let of =
            |rules: &[&'static str], evidence: &Evidence| is_unanswered(&judged(rules), evidence);
        assert!(of(&["email-obfuscated"], &silent(PAGE)));
        assert!(of(&["email-obfuscated", "mx-unanswered"], &silent(PAGE)));
        assert!(!of(&["email-obfuscated"], &Evidence::default()));
        assert!(!of(&[], &silent(PAGE)), "a PASS is settled");
        let mut reviewed = judged(&["reviewers-unsettled"]);
        reviewed.panel = Some(Box::new(PanelReport {
            plant: None,
            reviewers: Vec::new(),
        }));
        assert!(!is_unanswered(&reviewed, &silent(PAGE)), "it is an answer");
        assert!(!is_only_unanswered(&reviewed, &silent(PAGE)));
    }
}
