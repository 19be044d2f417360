//! What the page shows beside the quests, as its templates name it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::chart::{BurnDown, Portion, Stripe, stripes};
use super::effort::Effort;
use super::{policy, templates, words};
use crate::base::Digest;
use crate::report::Overview;
use crate::report::picture::{FunnelStep, Picture, RuleRow, Word, WorkerRow};
use crate::report::run::RunReport;
use crate::session::{Effective, Reason, State, Tally};

/// What the page shows beside the quests.
#[derive(Debug, Serialize)]
pub struct Head<'a> {
    policy: String,
    title: &'a str,
    kind: &'a str,
    unit: &'a str,
    at: Timestamp,
    comail: &'a str,
    completeness: Option<&'a Word>,
    overview: &'a Overview,
    settled: String,
    states: Vec<StateShare>,
    reviews: Vec<(Effective, u32)>,
    burn_down: Option<BurnDown>,
    funnel: Vec<FunnelBar<'a>>,
    rules: Vec<RuleBar<'a>>,
    effort: Effort,
    workers: &'a [WorkerRow],
    runs: Vec<RunLine<'a>>,
    shown: usize,
    left_out: u32,
    rules_shown: BTreeMap<&'a str, u32>,
    chain: Digest,
}

/// How many quests are in a state.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct StateShare {
    state: State,
    quests: u32,
    percent: String,
    #[serde(flatten)]
    stripe: Stripe,
}

/// A step of the gate, with the bar that shows it.
#[derive(Debug, Serialize)]
struct FunnelBar<'a> {
    #[serde(flatten)]
    step: &'a FunnelStep,
    /// What came, of what came to the first step.
    came: Portion,
    /// What went on.
    passed: Portion,
    /// What was stopped.
    stop: Portion,
}

/// A rule, with the bar that shows it.
#[derive(Debug, Serialize)]
struct RuleBar<'a> {
    #[serde(flatten)]
    rule: &'a RuleRow,
    width: Portion,
}

/// A run, with what people read of it.
#[derive(Debug, Serialize)]
struct RunLine<'a> {
    #[serde(flatten)]
    run: &'a RunReport,
    why: &'static str,
    tokens_text: String,
    cost_text: String,
}

impl<'a> Head<'a> {
    /// What the page about `picture` shows.
    pub fn of(picture: &'a Picture) -> Self {
        let overview = &picture.overview;
        let settled = overview.total.saturating_sub(overview.tally.todo);
        Self {
            policy: policy::policy(templates::STYLE, templates::SCRIPT),
            title: &picture.title,
            kind: &picture.kind,
            unit: &picture.unit,
            at: picture.at,
            comail: &picture.comail,
            completeness: picture.completeness.as_ref(),
            overview,
            settled: words::percent(settled.into(), overview.total.into()),
            states: states(&overview.tally),
            reviews: reviews(&overview.effective),
            burn_down: BurnDown::of(&picture.burn_down, picture.at),
            funnel: funnel(&picture.funnel),
            rules: rules(&picture.rules),
            effort: Effort::of(picture),
            workers: &picture.workers,
            runs: picture.runs.iter().map(run).collect(),
            shown: picture.quests.len(),
            left_out: picture.left_out,
            rules_shown: rules_shown(picture),
            chain: picture.head,
        }
    }
}

fn states(tally: &Tally) -> Vec<StateShare> {
    let counts = [tally.pass, tally.review, tally.done, tally.todo];
    let shares = State::ALL.into_iter().zip(counts).zip(stripes(counts));
    let shares = shares.map(|((state, quests), stripe)| StateShare {
        state,
        quests,
        percent: words::percent(quests.into(), tally.total().into()),
        stripe,
    });
    shares.collect()
}

/// What became of those that went to a person.
fn reviews(effective: &BTreeMap<Effective, u32>) -> Vec<(Effective, u32)> {
    let became = [
        Effective::Accepted,
        Effective::Confirmed,
        Effective::Open,
        Effective::Refuted,
        Effective::Rejected,
    ];
    let counts = became.map(|it| (it, effective.get(&it).copied().unwrap_or(0)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn funnel(steps: &[FunnelStep]) -> Vec<FunnelBar<'_>> {
    let most = steps.iter().map(|step| step.reached).max().unwrap_or(0);
    let bars = steps.iter().map(|step| {
        let passed = step.reached.saturating_sub(step.stopped);
        let came = Portion::of(step.reached.into(), most.into());
        let passed = Portion::of(passed.into(), most.into()).min(came);
        FunnelBar {
            step,
            came,
            passed,
            stop: Portion::hundredths(came.count() - passed.count()),
        }
    });
    bars.collect()
}

fn rules(rules: &[RuleRow]) -> Vec<RuleBar<'_>> {
    let most = rules.iter().map(|rule| rule.submissions).max().unwrap_or(0);
    let bars = rules.iter().map(|rule| RuleBar {
        rule,
        width: Portion::of(rule.submissions.into(), most.into()),
    });
    bars.collect()
}

fn run(run: &RunReport) -> RunLine<'_> {
    RunLine {
        run,
        why: run.reason.map_or("goes on", Reason::label),
        tokens_text: run.used.tokens_text(),
        cost_text: run.used.cost_text(),
    }
}

/// The rules that the quests shown can be filtered by, with how many quests each.
fn rules_shown(picture: &Picture) -> BTreeMap<&str, u32> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for quest in &picture.quests {
        for rule in &quest.fired {
            *counts.entry(rule.as_str()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(reached: u32, stopped: u32) -> FunnelStep {
        FunnelStep {
            name: "page".to_owned(),
            reached,
            stopped,
        }
    }

    #[test]
    fn a_funnel_is_as_wide_as_what_came_first() {
        let steps = [step(200, 50), step(150, 150), step(0, 0)];
        let bars = funnel(&steps);
        let told = bars.iter().map(|bar| {
            let widths = [bar.came, bar.passed, bar.stop];
            widths.map(|width| width.to_string()).join(" ")
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            ["100% 75% 25%", "75% 0% 75%", "0% 0% 0%"]
        );
    }

    #[test]
    fn a_step_that_stopped_more_than_came_is_drawn_all_the_same() {
        let bars = [step(1, 2)];
        assert_eq!(funnel(&bars)[0].stop, Portion::WHOLE);
    }

    #[test]
    fn states_are_told_in_the_order_in_which_people_are_shown_them() {
        let tally = Tally {
            todo: 1,
            pass: 2,
            review: 1,
            done: 0,
        };
        let told = states(&tally);
        let told = told
            .iter()
            .map(|it| format!("{} {}", it.state.name(), it.percent));
        assert_eq!(
            told.collect::<Vec<_>>(),
            ["PASS 50 %", "REVIEW 25 %", "DONE 0 %", "TODO 25 %"]
        );
    }
}
