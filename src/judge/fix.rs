//! Runs the operator's fixer on a submission that failed, and judges it again.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::base::Digest;
use crate::gate::{Judgement, Level};
use crate::judge::context::JudgeContext;
use crate::judge::error::JudgeError;
use crate::judge::quest_file::FixerPlan;
use crate::judge::submit::{Judged, Outcome};
use crate::quest::{QuestId, Verdict};
use crate::session::{Session, State};
use crate::world::sandbox::{Bench, End, Order, Ran, run_in_tree};
use crate::world::tree::Snapshot;

/// What came of a submission, and of what was done about it.
#[derive(Debug)]
pub struct Fixed {
    pub outcome: Outcome,
    pub fixes: Vec<Fix>,
}

/// What came of one start of the fixer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "fixer", rename_all = "kebab-case")]
pub enum Fix {
    /// It changed something, and the submission was judged again.
    Changed,
    /// It changed nothing, which ends it: the submission is not judged again.
    ChangedNothing,
    /// It did not end well, which ends it: the submission is not judged again.
    Failed {
        /// Why.
        why: String,
    },
}

const MAX_SHOWN: usize = 500;

/// Judges a submission and, while it fails only by rules that the kind's fixer exists for, starts
/// the fixer and judges again.
///
/// Each judgement is an attempt like any other: a FAIL costs a try, and a quest that is settled is
/// not fixed. What the fixer itself does is no attempt.
pub(super) fn submit_and_fix(
    session: &mut Session,
    context: &JudgeContext<'_>,
    quest: QuestId,
    judge: &mut dyn FnMut(&mut Session) -> Result<Outcome, JudgeError>,
) -> Result<Fixed, JudgeError> {
    let mut outcome = judge(session)?;
    let mut fixes = Vec::new();
    let found = failed(&outcome).and_then(|_| Fixer::of(session, context, quest).transpose());
    let Some(tool) = found.transpose()? else {
        return Ok(Fixed { outcome, fixes });
    };
    while let Some(judged) = failed(&outcome).filter(|it| tool.mends(&it.judgement)) {
        if fixes.len() >= tool.plan.max_fixes as usize {
            break;
        }
        let fix = tool.run(&judged.judgement);
        let again = fix == Fix::Changed;
        fixes.push(fix);
        if !again {
            break;
        }
        // The first judgement is in the ledger, so that it is reported whatever happens now.
        match judge(session) {
            Ok(judged) => outcome = judged,
            Err(error) => {
                let why = format!("the submission could not be judged again: {error}");
                fixes.push(Fix::Failed { why });
                break;
            }
        }
    }
    Ok(Fixed { outcome, fixes })
}

fn failed(outcome: &Outcome) -> Option<&Judged> {
    match outcome {
        Outcome::Judged(judged) => {
            let open = judged.state == State::Todo && judged.judgement.verdict == Verdict::Fail;
            open.then_some(judged)
        }
        Outcome::Refused(_) => None,
    }
}

struct Fixer<'a> {
    plan: &'a FixerPlan,
    bench: &'a Bench,
    quest: serde_json::Value,
}

impl<'a> Fixer<'a> {
    fn of(
        session: &Session,
        context: &'a JudgeContext<'_>,
        quest: QuestId,
    ) -> Result<Option<Self>, JudgeError> {
        let (Some(plan), Some(bench)) = (&context.kind.fixer, context.bench()) else {
            return Ok(None);
        };
        let Some(standing) = session.standing(quest)? else {
            return Ok(None);
        };
        let quest = session.quest(&standing)?;
        let cells = context.kind.quest.columns.iter().map(|column| {
            let text = quest.cell(column).unwrap_or_default();
            (column.clone(), json!(text))
        });
        let input: serde_json::Map<_, _> = cells.collect();
        let quest = json!({"id": quest.id, "key": quest.key, "input": input});
        Ok(Some(Self { plan, bench, quest }))
    }

    fn mends(&self, judgement: &Judgement) -> bool {
        mends(self.plan, judgement)
    }

    fn run(&self, judgement: &Judgement) -> Fix {
        let told = json!({"quest": self.quest, "facts": judgement.facts});
        let order = Order {
            stdin: told.to_string(),
            ..self.plan.order.clone()
        };
        self.changed(&order)
            .unwrap_or_else(|why| Fix::Failed { why })
    }

    fn changed(&self, order: &Order) -> Result<Fix, String> {
        let state = || written(self.bench).map_err(|error| error.to_string());
        let before = state()?;
        let ran = run_in_tree(self.bench, order)?;
        if let Some(why) = ended_badly(order, &ran) {
            return Err(why);
        }
        Ok(if state()? == before {
            Fix::ChangedNothing
        } else {
            Fix::Changed
        })
    }
}

fn mends(plan: &FixerPlan, judgement: &Judgement) -> bool {
    let mut facts = judgement.facts.iter();
    facts.all(|fact| fact.level == Level::Review || plan.rules.contains(fact.rule.as_str()))
}

/// Why a fixer's end is none that anything can be built on.
fn ended_badly(order: &Order, ran: &Ran) -> Option<String> {
    let how = match &ran.end {
        End::Exited(0) => return None,
        End::Exited(code) => format!("it ended with {code}"),
        End::Signalled(signal) => format!("it was ended by signal {signal}"),
        End::TimedOut => format!("it was still running after {} ms", order.timeout_ms),
        End::TooMuchOutput => format!("it printed more than {} bytes", order.output_bytes),
        End::NotStarted(why) => format!("it cannot be started: {why}"),
        End::Withheld(why) => why.clone(),
    };
    let printed = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    let skipped = printed.chars().count().saturating_sub(MAX_SHOWN);
    let tail: String = printed.chars().skip(skipped).collect();
    Some(match tail.as_str() {
        "" => how,
        tail => format!("{how}: {tail}"),
    })
}

/// The identity of what is judged now: the tree as it was found, with what is written in its
/// zones. None for quests that are about no files.
pub(super) fn written(bench: &Bench) -> Result<Option<Digest>, JudgeError> {
    let Some(root) = &bench.root else {
        return Ok(None);
    };
    let taken = Snapshot::take(root, &bench.baseline, &bench.zones, &bench.ignored);
    let (snapshot, _) = taken.map_err(|error| JudgeError::Workshop(error.to_string()))?;
    Ok(Some(snapshot.digest()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::gate::{Fact, RuleId};
    use crate::world::sandbox::{Confinement, Network};

    fn plan() -> FixerPlan {
        FixerPlan {
            order: Order {
                name: "fixer".to_owned(),
                argv: vec!["/bin/true".to_owned()],
                env: BTreeMap::new(),
                pass: Vec::new(),
                dir: String::new(),
                stdin: String::new(),
                timeout_ms: 7,
                output_bytes: 9,
                writable: Vec::new(),
                network: Network::None,
                reports: Vec::new(),
                edits: Vec::new(),
                round: 0,
            },
            max_fixes: 3,
            rules: ["tidy".to_owned()].into(),
        }
    }

    fn judged(facts: &[(&'static str, Level)]) -> Judgement {
        let facts = facts.iter().map(|(rule, level)| Fact {
            cause: crate::gate::Cause::Wrong,
            rule: RuleId::known(rule),
            level: *level,
            field: None,
            location: None,
            expected: String::new(),
            actual: String::new(),
            count: 1,
        });
        Judgement::from_facts(facts.collect(), Vec::new())
    }

    #[test]
    fn a_fixer_is_there_for_what_its_checks_say_and_nothing_else() {
        use Level::{Fail, Review};
        for (facts, expected) in [
            (&[("tidy", Fail)][..], true),
            (&[("tidy", Fail), ("links-unconfirmed", Review)], true),
            (&[("tidy", Fail), ("links", Fail)], false),
            (&[("no-result", Fail)], false),
        ] {
            assert_eq!(mends(&plan(), &judged(facts)), expected, "{facts:?}");
        }
    }

    #[test]
    fn only_an_end_with_nought_is_built_on() {
        let of = |end, stderr: &str| {
            let ran = Ran {
                end,
                stdout: Vec::new(),
                stderr: stderr.into(),
                reports: BTreeMap::new(),
                confinement: Confinement::default(),
                millis: 0,
            };
            ended_badly(&plan().order, &ran)
        };
        assert_eq!(of(End::Exited(0), "warning"), None);
        assert_eq!(of(End::Exited(3), " no\n").unwrap(), "it ended with 3: no");
        let long = of(End::Exited(1), &"가".repeat(9_000)).unwrap();
        assert_eq!(long.chars().filter(|c| *c == '가').count(), MAX_SHOWN);
        for end in [
            End::Signalled(9),
            End::TimedOut,
            End::TooMuchOutput,
            End::NotStarted("no".to_owned()),
        ] {
            assert!(of(end.clone(), "").is_some(), "{end:?}");
        }
    }
}
