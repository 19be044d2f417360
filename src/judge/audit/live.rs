//! Asks the world again about every PASS, to find what has drifted since.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{Finding, FindingKind, Place, Proven};
use crate::gate::Fact;
use crate::judge::error::JudgeError;
use crate::judge::host_queue::{HostQueue, Job, JudgedJob, Next};
use crate::judge::kind::JudgeWorld;
use crate::judge::recheck::is_unanswered;
use crate::quest::{QuestId, Verdict};
use crate::session::{Projection, Session};

/// What the world says now of what was proven.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Live {
    pub asked: usize,
    /// Those with a lookup that was not answered.
    pub unanswered: Vec<Silent>,
    /// What would not pass now, in the order of the lines.
    #[serde(skip)]
    pub drift: Vec<Finding>,
    /// How many were not judged again, since it was stopped.
    #[serde(skip_serializing_if = "is_zero")]
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

/// How many submissions are in memory at once.
const BATCH: usize = 4096;

/// Asks the world about every quest of `proven`; each host politely, many at once.
///
/// What the session has passed for others is left out of it: that was compared with the ledger, and
/// a quest's own address is taken by itself.
///
/// `judged` is called for each judgement, and `stop` tells whether to end early.
pub fn ask(
    session: &Session,
    projection: &Projection,
    proven: &[Proven],
    world: &Arc<JudgeWorld>,
    judged: &dyn Fn(),
    stop: &dyn Fn() -> bool,
) -> Result<Live, JudgeError> {
    let mut reader = session.reader()?;
    let mut live = Live {
        left: proven.len(),
        ..Live::default()
    };
    'batches: for batch in proven.chunks(BATCH) {
        let mut jobs = Vec::with_capacity(batch.len());
        for one in batch {
            let Some(record) = projection.get(one.quest)? else {
                continue;
            };
            if let Some(attempt) = reader.last_attempt(&record)? {
                jobs.push(Job {
                    quest: reader.quest(&record)?,
                    submission: attempt.value.submission,
                });
            }
        }
        let lines: BTreeMap<QuestId, u64> =
            batch.iter().rev().map(|it| (it.quest, it.line)).collect();
        let mut queue = HostQueue::start(jobs, session.manifest(), Arc::clone(world))?;
        loop {
            match queue.next(stop)? {
                Next::Judged(one) => {
                    judged();
                    live.take(lines.get(&one.job.quest.id).copied(), *one);
                }
                Next::Stopped => break 'batches,
                Next::Done => break,
            }
        }
    }
    live.drift.sort_by_key(|finding| finding.place.line);
    live.unanswered.sort_by_key(|silent| silent.place.line);
    Ok(live)
}

impl Live {
    fn take(&mut self, line: Option<u64>, judged: JudgedJob) {
        self.asked += 1;
        self.left = self.left.saturating_sub(1);
        let judgement = judged.judgement;
        if judgement.verdict == Verdict::Pass {
            return;
        }
        let place = Place {
            line,
            quest: Some(judged.job.quest.id),
            key: Some(judged.job.quest.key),
        };
        // An unanswered lookup is no drift: the world may still agree.
        if is_unanswered(&judgement, &judged.recording.evidence) {
            let facts = judgement.facts;
            self.unanswered.push(Silent { place, facts });
            return;
        }
        let what = format!(
            "the gate says {} now that the world was asked again",
            judgement.verdict
        );
        self.drift.push(Finding {
            facts: judgement.facts,
            ..Finding::new(FindingKind::Drift, place, what)
        });
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands on a reference"
)]
fn is_zero(left: &usize) -> bool {
    *left == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Cause, Judgement, Level, RuleId};
    use crate::quest::{Key, Quest, Submission};
    use crate::world::evidence::Recording;

    /// How many drifted, and how many are unanswered, of one judgement by these rules.
    fn counts(rules: &[(&'static str, Level)]) -> (usize, usize) {
        let fact = |(rule, level): &(&'static str, Level)| Fact {
            cause: match *rule {
                "mx-unanswered" => Cause::Unanswered,
                _ => Cause::Ambiguous,
            },
            level: *level,
            rule: RuleId::known(rule),
            ..Fact::wrong("", "")
        };
        let facts = rules.iter().map(fact).collect();
        let silence = r#"{"unanswered":{"silence":"timeout","detail":""}}"#;
        let asked = rules.iter().any(|(rule, _)| rule.ends_with("-unanswered"));
        let exchange = format!(r#"{{"get":{{"url":"https://acme.com/","answer":{silence}}}}}"#);
        let exchanges = if asked { exchange } else { String::new() };
        let evidence = format!(r#"{{"exchanges":[{exchanges}]}}"#);
        let mut live = Live::default();
        live.take(
            None,
            JudgedJob {
                job: Job {
                    quest: Quest {
                        rows: vec![1],
                        ..Quest::new(QuestId::FIRST, Key::new("Acme Foods").unwrap())
                    },
                    submission: Submission::None(String::new()),
                },
                judgement: Judgement::from_facts(facts, Vec::new()),
                recording: Recording {
                    evidence: serde_json::from_str(&evidence).unwrap(),
                    ..Recording::default()
                },
            },
        );
        (live.drift.len(), live.unanswered.len())
    }

    #[test]
    fn what_fails_has_drifted_and_what_is_unanswered_has_not() {
        use Level::{Fail, Review};
        assert_eq!(counts(&[]), (0, 0));
        assert_eq!(counts(&[("email-not-on-source", Fail)]), (1, 0));
        assert_eq!(counts(&[("company-not-on-site", Review)]), (1, 0));
        assert_eq!(counts(&[("mx-unanswered", Review)]), (0, 1));
        let both = [("source-unanswered", Review), ("mx-null", Fail)];
        assert_eq!(counts(&both), (1, 0));
    }
}
