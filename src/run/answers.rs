//! Answers that an agent prints, on their way to the gate.

use serde_json::Value;

use super::plan::RunError;
use super::quest_run::{QuestRun, Submitted};
use super::worker::RunWorker;
use crate::judge::{self, Fixed, JudgeError, Refusal};
use crate::quest::{BadFields, Fields, QuestKind, Submission, fields_of, missing};
use crate::run::agent::AgentEnd;
use crate::session::{Attempt, Reason, State};

pub const NONE: &str = "none";

#[derive(Debug, thiserror::Error)]
enum NotSubmitted {
    #[error(transparent)]
    Fields(#[from] BadFields),
    #[error("{0} is missing")]
    Missing(String),
    #[error("\"none\" needs a reason: what was tried, and where")]
    NoWhy,
}

impl RunWorker<'_> {
    /// Judges the answer that an agent printed. Output that is not a submission uses no try; the
    /// next prompt says what was wrong.
    pub(super) fn judge_answer(
        &mut self,
        end: &AgentEnd,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let kind = judge::kind_of(self.session.manifest())?;
        let submission = match (&end.answer, &end.bad_answer) {
            (Some(answer), _) => submission(&kind, answer.clone()).map_err(|why| why.to_string()),
            (None, Some(why)) => Err(why.clone()),
            (None, None) => Err("it printed no JSON object".to_owned()),
        };
        match submission {
            Ok(submission) => self.judge(&submission, quest_run),
            Err(why) => {
                let fact = format!("the output of the last agent could not be judged: {why}");
                quest_run.facts.push(fact);
                Ok(None)
            }
        }
    }

    pub(super) fn judge_world(
        &mut self,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        self.judge(&Submission::Fields(Fields::new()), quest_run)
    }

    fn judge(
        &mut self,
        submission: &Submission,
        quest_run: &mut QuestRun,
    ) -> Result<Option<Reason>, RunError> {
        let worker = quest_run.guard.worker.clone();
        let answer = judge::Answer {
            quest: quest_run.guard.quest,
            worker: Some(&worker),
            submission,
        };
        let clock = &mut (self.now, self.salts);
        let refusal = match self.context.submit(&mut self.session, answer, clock) {
            Ok(Fixed { judged, .. }) => {
                quest_run.seen = judged.attempt;
                let rules = judged.judgement.facts.iter();
                let submitted = Submitted {
                    text: shown(submission),
                    rules: rules.map(|fact| fact.rule.as_str().to_owned()).collect(),
                };
                let alarm = quest_run.submits((submission.digest(), submitted));
                let settled = judged.state != State::Todo;
                return Ok(alarm.filter(|_| !settled));
            }
            Err(JudgeError::Refused(refusal)) => refusal,
            Err(error) => return Err(error.into()),
        };
        Ok(Some(match refusal {
            Refusal::Paused { .. } => Reason::Paused,
            Refusal::Locked { .. } => Reason::Settled,
            Refusal::Waits { .. } | Refusal::Claimed { .. } | Refusal::Overtaken => {
                Reason::AgentFailed
            }
        }))
    }
}

impl Submitted {
    pub(super) fn of(attempt: &Attempt) -> Self {
        Self {
            text: shown(&attempt.submission),
            rules: attempt.rules.clone(),
        }
    }
}

fn submission(kind: &QuestKind, answer: Value) -> Result<Submission, NotSubmitted> {
    if let Value::Object(members) = &answer
        && members.len() == 1
        && let Some(Value::String(why)) = members.get(NONE)
    {
        return if why.trim().is_empty() {
            Err(NotSubmitted::NoWhy)
        } else {
            Ok(Submission::None(why.clone()))
        };
    }
    let fields = fields_of(kind, answer)?;
    let absent: Vec<_> = missing(kind, &fields).map(ToString::to_string).collect();
    if absent.is_empty() {
        Ok(Submission::Fields(fields))
    } else {
        Err(NotSubmitted::Missing(absent.join(", ")))
    }
}

fn shown(submission: &Submission) -> String {
    match submission {
        Submission::Fields(fields) => serde_json::json!(fields).to_string(),
        Submission::None(why) => serde_json::json!({ NONE: why }).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::quest::email;

    fn read(answer: Value) -> Result<Submission, String> {
        submission(&email::kind(), answer).map_err(|error| error.to_string())
    }

    #[test]
    fn an_object_with_every_required_field_is_a_submission() {
        let whole = json!({"email": "a@b.test", "site": "b.test", "source": "https://b.test"});
        assert!(matches!(read(whole), Ok(Submission::Fields(_))));
        let part = read(json!({"email": "a@b.test"})).unwrap_err();
        assert_eq!(part, "site, source is missing");
        assert!(read(json!({"email": 3})).is_err());
        assert!(read(json!({"done": true})).is_err());
    }

    #[test]
    fn nothing_found_says_why() {
        let none = read(json!({"none": "looked everywhere"}));
        assert_eq!(none, Ok(Submission::None("looked everywhere".to_owned())));
        assert!(read(json!({"none": " "})).is_err());
    }
}
