//! Asks the world again about every PASS, to find what has drifted since.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::gate::{Fact, Judgement};
use crate::judge::audit::history::Proven;
use crate::judge::audit::{Finding, Kind, Place};
use crate::judge::recheck::is_unanswered;
use crate::judge::{HostQueue, Job, JudgeError, Looked, Next, SharedWorld};
use crate::quest::Verdict;
use crate::session::{LineReader, Projection, QuestRecord, Session};
use crate::world::evidence::Evidence;

/// What the world says now of what was proven.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Live {
    /// How many were asked about.
    pub asked: usize,
    /// Those of which some lookup was not answered.
    pub unanswered: Vec<Silent>,
    /// What would not pass now, in the order of the lines.
    #[serde(skip)]
    pub drift: Vec<Finding>,
    /// How many were not asked about, since it was stopped.
    #[serde(skip_serializing_if = "is_none")]
    pub left: usize,
}

/// A proven quest about which the world does not say enough now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Silent {
    /// Where it was proven.
    #[serde(flatten)]
    pub place: Place,
    /// What was not answered.
    pub facts: Vec<Fact>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    Passes,
    Drifted,
    Unanswered,
}

const AT_ONCE: usize = 4096;

/// Asks the world about every quest of `proven`; each host politely, many at once.
///
/// What the session has passed for others is left out of it: that has been held against the
/// ledger, and a quest's own address is taken by itself.
///
/// `judged` is told of each judgement, and `stop` is asked whether to end early.
pub fn ask(
    session: &Session,
    board: &Projection,
    proven: &[Proven],
    world: &Arc<dyn SharedWorld>,
    judged: &dyn Fn(),
    stop: &dyn Fn() -> bool,
) -> Result<Live, JudgeError> {
    let mut reader = session.reader()?;
    let mut live = Live {
        left: proven.len(),
        ..Live::default()
    };
    for some in proven.chunks(AT_ONCE) {
        let mut jobs = Vec::with_capacity(some.len());
        for one in some {
            let standing = board.get(one.quest)?;
            jobs.extend(job(&mut reader, standing.as_ref())?);
        }
        let mut crowd = HostQueue::set_out(jobs, session.manifest(), Box::new(Arc::clone(world)))?;
        loop {
            let looked = match crowd.next(stop)? {
                Next::Looked(looked) => *looked,
                Next::Stopped => return Ok(live.sorted()),
                Next::Done => break,
            };
            judged();
            let one = some.iter().find(|one| one.quest == looked.job.quest.id);
            live.take(one.map(|one| one.line), looked);
        }
    }
    Ok(live.sorted())
}

fn job(reader: &mut LineReader, standing: Option<&QuestRecord>) -> Result<Option<Job>, JudgeError> {
    let Some(standing) = standing else {
        return Ok(None);
    };
    let quest = reader.quest(standing)?;
    let attempt = reader.last_attempt(standing)?;
    Ok(attempt.map(|attempt| Job {
        quest,
        submission: attempt.value.submission,
    }))
}

impl Live {
    fn take(&mut self, line: Option<u64>, looked: Looked) {
        self.asked += 1;
        self.left = self.left.saturating_sub(1);
        let place = Place {
            line,
            quest: Some(looked.job.quest.id),
            key: Some(looked.job.quest.key),
        };
        let facts = looked.judgement.facts.clone();
        match now(&looked.judgement, &looked.recording.evidence) {
            Now::Passes => {}
            Now::Drifted => {
                let what = format!(
                    "the gate says {} now that the world was asked again",
                    looked.judgement.verdict
                );
                let drift = Finding::new(Kind::Drift, place, what);
                self.drift.push(drift.with(facts));
            }
            Now::Unanswered => self.unanswered.push(Silent { place, facts }),
        }
    }

    fn sorted(mut self) -> Self {
        self.drift.sort_by_key(|finding| finding.place.line);
        self.unanswered.sort_by_key(|silent| silent.place.line);
        self
    }
}

fn now(judgement: &Judgement, evidence: &Evidence) -> Now {
    if judgement.verdict == Verdict::Pass {
        Now::Passes
    } else if is_unanswered(judgement, evidence) {
        Now::Unanswered
    } else {
        Now::Drifted
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands on a reference"
)]
fn is_none(left: &usize) -> bool {
    *left == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Cause, Level, RuleId};

    fn judged(rules: &[(&'static str, Level)]) -> Now {
        let fact = |(rule, level): &(&'static str, Level)| Fact {
            cause: match *rule {
                "mx-unanswered" => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
            rule: RuleId::known(rule),
            level: *level,
            field: None,
            location: None,
            expected: String::new(),
            actual: String::new(),
            count: 1,
        };
        let facts = rules.iter().map(fact).collect();
        let silence = r#"{"unanswered":{"silence":"timeout","detail":""}}"#;
        let asked = rules.iter().any(|(rule, _)| rule.ends_with("-unanswered"));
        let exchange = format!(r#"{{"get":{{"url":"https://acme.com/","answer":{silence}}}}}"#);
        let exchanges = if asked { exchange } else { String::new() };
        let evidence = format!(r#"{{"exchanges":[{exchanges}]}}"#);
        let evidence = serde_json::from_str(&evidence).unwrap();
        now(&Judgement::from_facts(facts, Vec::new()), &evidence)
    }

    #[test]
    fn what_fails_has_drifted_and_what_is_silent_has_not() {
        use Level::{Fail, Review};
        assert_eq!(judged(&[]), Now::Passes);
        assert_eq!(judged(&[("email-not-on-source", Fail)]), Now::Drifted);
        assert_eq!(judged(&[("company-not-on-site", Review)]), Now::Drifted);
        assert_eq!(judged(&[("mx-unanswered", Review)]), Now::Unanswered);
        let both = [("source-unanswered", Review), ("mx-null", Fail)];
        assert_eq!(judged(&both), Now::Drifted);
    }
}
