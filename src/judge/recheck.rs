//! Judges REVIEWs again that only an unanswered lookup kept from a verdict.

use std::cell::RefCell;

use serde_json::value::to_raw_value;
use url::Url;

use crate::base::clock::Clock;
use crate::gate::{Case, Cause, Fact, Gate, Judgement};
use crate::judge::accepted::marks;
use crate::judge::error::JudgeError;
use crate::judge::forgotten::{is_masked, without_forgotten};
use crate::judge::host_queue::{Job, Looked};
use crate::judge::masking::MASK;
use crate::judge::recorded::{RecordedJudgement, is_reviewed};
use crate::judge::submit::{Declined, Refusal};
use crate::quest::Verdict;
use crate::session::{Appended, Attempt, Event, Outcome, QuestRecord, Resolution, Session};
use crate::world::evidence::Evidence;

/// What became of a REVIEW that was judged again.
#[derive(Debug)]
pub enum Rechecked {
    Resolved(Outcome, Judgement),
    /// Some lookup is still not answered; nothing was recorded.
    Unanswered(Judgement),
    /// Somebody else has resolved it meanwhile; nothing was recorded.
    Meanwhile,
}

/// The submissions of the REVIEWs that only an unanswered lookup kept from a verdict, and that were
/// not judged again yet, in order of quests.
pub fn to_recheck(session: &Session) -> Result<Vec<Job>, JudgeError> {
    let mut reader = session.reader()?;
    let mut jobs = Vec::new();
    for standing in session.unanswered()? {
        let Some(last) = reader.last_attempt(&standing)? else {
            continue;
        };
        if rests_on_silence_alone(&last.value)? {
            jobs.push(Job {
                quest: reader.quest(&standing)?,
                submission: last.value.submission,
            });
        }
    }
    Ok(jobs)
}

fn rests_on_silence_alone(attempt: &Attempt) -> Result<bool, JudgeError> {
    // A submission from which an address was removed is no longer the one that was judged.
    let redacted = is_masked(&attempt.submission) || attempt.evidence.get().contains(MASK);
    if redacted {
        return Ok(false);
    }
    let judgement: Judgement = serde_json::from_str(attempt.judgement.get())?;
    let evidence: Evidence = serde_json::from_str(attempt.evidence.get())?;
    Ok(is_silence_alone(&judgement, &evidence))
}

/// Records the new judgement of a REVIEW.
///
/// It was made without the session's lock. Under the lock, what the session knows is checked, and
/// whether the REVIEW is still unresolved: if two processes judge it again at once, one is
/// recorded. A lookup that is still unanswered changes nothing.
pub fn resolve(
    session: &mut Session,
    gate: &dyn Gate,
    looked: Looked,
    clock: &mut dyn Clock,
) -> Result<Rechecked, JudgeError> {
    let Looked {
        job,
        judgement,
        recording,
    } = looked;
    let mut rechecked = None;
    let (evidence, new) = (session.evidence(), RefCell::default());
    let decide = |session: &Session, _| {
        let standing = session.standing(job.quest.id)?;
        let standing = standing.filter(QuestRecord::is_unanswered);
        let standing = standing.ok_or(Declined::Refusal(Refusal::Overtaken))?;
        let case = Case {
            quest: &job.quest,
            submission: &job.submission,
        };
        let made = RecordedJudgement::by_gate(gate, judgement, recording)
            .judge_again(gate, case, session)?;
        let made = without_forgotten(&session.forgetting(), made);
        if is_unanswered(&made.judgement, &made.recording.evidence) {
            rechecked = Some(Rechecked::Unanswered(made.judgement));
            return Ok(Vec::new());
        }
        let resolution = resolution(&standing, &job, &made, gate)?;
        made.keep(&evidence, &new)?;
        rechecked = Some(Rechecked::Resolved(resolution.outcome, made.judgement));
        Ok::<_, Declined>(vec![Event::Resolution(Box::new(resolution))])
    };
    let undo = || new.borrow().iter().for_each(|body| evidence.remove(*body));
    let appended = session.append_or(clock, decide, undo)?;
    match appended {
        Appended::Refused(Declined::Error(error)) => Err(error),
        Appended::Refused(Declined::Refusal(_)) => Ok(Rechecked::Meanwhile),
        Appended::Done => Ok(rechecked.unwrap_or(Rechecked::Meanwhile)),
    }
}

fn resolution(
    standing: &QuestRecord,
    job: &Job,
    made: &RecordedJudgement,
    gate: &dyn Gate,
) -> Result<Resolution, JudgeError> {
    let case = Case {
        quest: &job.quest,
        submission: &job.submission,
    };
    let outcome = Outcome::of(made.judgement.verdict);
    Ok(Resolution {
        quest: standing.id,
        attempt: standing.attempts,
        outcome,
        verdict: made.judgement.verdict,
        grounds: made.grounds,
        rules: made.fired(),
        holds: match outcome {
            Outcome::Confirmed => marks(gate, case),
            Outcome::Refuted | Outcome::Open => Vec::new(),
        },
        judgement: to_raw_value(&made.judgement)?,
        evidence: to_raw_value(&made.recording.evidence)?,
    })
}

/// Whether `judgement` is a REVIEW that only unanswered lookups keep from a verdict.
pub(super) fn is_silence_alone(judgement: &Judgement, evidence: &Evidence) -> bool {
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && judgement.facts.iter().all(|fact| is_silent(fact, evidence))
}

/// Whether `judgement` is a REVIEW on which some lookup may say more later.
///
/// What reviewers were asked about passed every check, so that nothing in it waits for an answer:
/// judging it again would only ask them until they say something else.
pub(super) fn is_unanswered(judgement: &Judgement, evidence: &Evidence) -> bool {
    judgement.verdict == Verdict::Review
        && !is_reviewed(judgement)
        && (evidence.rests_on_silence()
            || judgement.facts.iter().any(|fact| is_silent(fact, evidence)))
}

fn is_silent(fact: &Fact, evidence: &Evidence) -> bool {
    match fact.cause {
        // A home page that may not be read is an answer as well.
        Cause::Unanswered => evidence.rests_on_silence(),
        // A robots.txt that does not answer forbids its site for now (RFC 9309, section 2.3.1.4).
        Cause::Unreadable => {
            let page = fact.location.as_deref();
            let page = page.and_then(|location| Url::parse(location).ok());
            page.is_some_and(|page| evidence.robots_unanswered(&page))
        }
        Cause::Wrong | Cause::Ambiguous => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Level, PanelReport, RuleId};

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
            field: None,
            location: Some(PAGE.into()),
            expected: String::new(),
            actual: String::new(),
            count: 1,
        };
        Judgement::from_facts(rules.iter().map(fact).collect(), Vec::new())
    }

    /// Evidence in which this URL did not answer.
    fn silent(url: &str) -> Evidence {
        let silence = r#"{"unanswered":{"silence":"status","detail":"","status":503}}"#;
        let text = format!(r#"{{"exchanges":[{{"get":{{"url":"{url}","answer":{silence}}}}}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn silence_alone_is_every_fact_a_silent_one() {
        let heard = Evidence::default();
        let quiet = silent(PAGE);
        let alone = |rules: &[&'static str], evidence| is_silence_alone(&judged(rules), evidence);
        assert!(alone(&["source-unanswered", "mx-unanswered"], &quiet));
        assert!(alone(&["source-unanswered", "identity-unanswered"], &quiet));
        assert!(!alone(&["source-unanswered", "freemail"], &quiet));
        assert!(!alone(&["email-obfuscated"], &quiet));
        // robots.txt forbids the home page, and has said so.
        assert!(!alone(&["identity-unanswered"], &heard));
        // Only private addresses: DNS has answered.
        assert!(!alone(&["mx-unanswered"], &heard));
        assert!(!alone(&[], &quiet), "a PASS is no REVIEW");
    }

    #[test]
    fn a_ban_of_robots_txt_is_silence_where_it_did_not_answer_itself() {
        let ban = judged(&["source-robots", "identity-unanswered"]);
        assert!(is_silence_alone(
            &ban,
            &silent("https://acme.com/robots.txt")
        ));
        assert!(!is_silence_alone(&ban, &silent(PAGE)));
        assert!(!is_silence_alone(&ban, &Evidence::default()));
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
        assert!(!is_silence_alone(&reviewed, &silent(PAGE)));
    }
}
