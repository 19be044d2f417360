//! Several sessions' counts as one, the recent ones weighing more.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::facts::Recurring;
use super::figures::{
    AgentInsights, DrivenWork, Insights, RuleInsight, SessionInsight, Share, Work,
};
use super::recency::HalfLife;
use super::tally::{Counts, SessionTally};
use super::who::Who;
use crate::base::Digest;

/// The most facts that are told.
const MOST_SHOWN_FACTS: usize = 10;

/// The figures of these sessions.
#[must_use]
pub fn combine(mut tallies: Vec<SessionTally>, half_life: HalfLife) -> Insights {
    tallies.sort_by_key(|tally| Reverse(tally.last));
    let newest = tallies.iter().find_map(|tally| tally.last);
    let weight = |tally: &SessionTally| match (tally.last, newest) {
        (Some(last), Some(newest)) => half_life.weight(last, newest),
        _ => 1.0,
    };
    let (mut all, mut agents) = (Sum::default(), BTreeMap::<Who, Sum>::new());
    let mut quests = BTreeMap::<String, u32>::new();
    for tally in &tallies {
        for (who, counts) in &tally.counts {
            all.add(counts, weight(tally));
            let agent = agents.entry(who.clone()).or_default();
            agent.add(counts, weight(tally));
        }
        for (rule, count) in &tally.rule_quests {
            *quests.entry(rule.clone()).or_default() += count;
        }
    }
    let agents = agents.into_iter().map(|(who, sum)| AgentInsights {
        who,
        work: sum.work(),
        rules: sum.rules(None),
    });
    Insights {
        half_life_days: half_life.days(),
        sessions: tallies.iter().map(|it| session(it, weight(it))).collect(),
        all: all.work(),
        agents: agents.collect(),
        rules: all.rules(Some(&quests)),
        facts: facts(tallies.into_iter().map(|it| (weight(&it), it))),
    }
}

fn session(tally: &SessionTally, weight: f64) -> SessionInsight {
    let submissions = tally.counts.values().map(|counts| counts.submissions);
    SessionInsight {
        session: tally.name.clone(),
        kind: tally.kind.clone(),
        last: tally.last,
        weight: rounded(weight),
        submissions: submissions.sum(),
    }
}

/// The facts that recur, in order of how much they count, and then of their texts.
fn facts(tallies: impl Iterator<Item = (f64, SessionTally)>) -> Vec<Recurring> {
    let mut sums: BTreeMap<Digest, Recurring> = BTreeMap::new();
    for (weight, tally) in tallies {
        for (key, fact) in tally.facts.into_each() {
            let weighted = weight * f64::from(fact.submissions);
            sums.entry(key)
                .and_modify(|sum| {
                    sum.submissions += fact.submissions;
                    sum.quests += fact.quests;
                    sum.weighted += weighted;
                })
                .or_insert(Recurring { weighted, ..fact });
        }
    }
    let mut facts: Vec<_> = sums.into_values().filter(|it| it.submissions > 1).collect();
    facts.sort_by(|one, two| {
        let by_weight = two.weighted.total_cmp(&one.weighted);
        let text = |it: &Recurring| (it.rule.clone(), it.actual.clone(), it.expected.clone());
        by_weight.then_with(|| text(one).cmp(&text(two)))
    });
    facts.truncate(MOST_SHOWN_FACTS);
    for fact in &mut facts {
        fact.weighted = rounded(fact.weighted);
    }
    facts
}

/// Counts of several sessions.
#[derive(Debug, Default)]
struct Sum {
    plain: Counts,
    weighted: Weighted,
    rules: BTreeMap<String, f64>,
}

/// The same, each session by its weight.
#[derive(Debug, Default)]
struct Weighted {
    quests: f64,
    submissions: f64,
    first: f64,
    first_passed: f64,
    /// PASSes of those whom a run started.
    driven_passed: f64,
    milliseconds: f64,
    tokens: f64,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an average need not be exact beyond 2^53"
)]
fn real(count: u64) -> f64 {
    count as f64
}

/// To a thousandth: what lies beyond is an accident of adding up.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| rounded(part / whole))
}

impl Sum {
    fn add(&mut self, counts: &Counts, weight: f64) {
        let (sum, weighted) = (&mut self.plain, &mut self.weighted);
        sum.quests += counts.quests;
        sum.submissions += counts.submissions;
        sum.passed += counts.passed;
        sum.first += counts.first;
        sum.first_passed += counts.first_passed;
        sum.starts += counts.starts;
        sum.driven = sum.driven.and(counts.driven);
        weighted.quests += weight * f64::from(counts.quests);
        weighted.submissions += weight * f64::from(counts.submissions);
        weighted.first += weight * f64::from(counts.first);
        weighted.first_passed += weight * f64::from(counts.first_passed);
        if let Some(spent) = counts.spent {
            sum.spent = Some(sum.spent.map_or(spent, |sum| sum.and(spent)));
            weighted.driven_passed += weight * f64::from(counts.passed);
            weighted.milliseconds += weight * real(counts.milliseconds);
            weighted.tokens += weight * real(spent.tokens);
        }
        for (rule, tries) in &counts.rules {
            *sum.rules.entry(rule.clone()).or_default() += tries;
            *self.rules.entry(rule.clone()).or_default() += weight * f64::from(*tries);
        }
    }

    fn work(&self) -> Work {
        let (sum, weighted) = (&self.plain, &self.weighted);
        Work {
            quests: sum.quests,
            submissions: sum.submissions,
            passed: sum.passed,
            tries_per_quest: ratio(weighted.submissions, weighted.quests),
            first_try: Share {
                part: sum.first_passed,
                of: sum.first,
                share: ratio(weighted.first_passed, weighted.first),
            },
            starts: sum.starts,
            driven: DrivenWork::of(&sum.driven),
            seconds_per_pass: ratio(weighted.milliseconds / 1000.0, weighted.driven_passed),
            tokens_per_pass: ratio(weighted.tokens, weighted.driven_passed),
            tokens_estimated: sum.spent.is_some_and(|spent| !spent.told),
        }
    }

    fn rules(&self, quests: Option<&BTreeMap<String, u32>>) -> Vec<RuleInsight> {
        let rules = self.plain.rules.iter().map(|(rule, tries)| RuleInsight {
            rule: rule.clone(),
            tries: *tries,
            quests: quests.and_then(|quests| quests.get(rule)).copied(),
            weighted: rounded(self.rules.get(rule).copied().unwrap_or_default()),
        });
        let mut rules: Vec<_> = rules.collect();
        rules.sort_by(|one, two| two.weighted.total_cmp(&one.weighted));
        rules
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::session::Spent;

    fn tally(name: &str, last: &str, who: &Who, counts: Counts) -> SessionTally {
        let mut tally = SessionTally::new(name.to_owned(), "email".to_owned());
        tally.last = Some(last.parse::<Timestamp>().unwrap());
        tally.counts.insert(who.clone(), counts);
        tally
    }

    /// One quest, submitted for so often; passed at the first try or at the last.
    fn tries(submissions: u32) -> Counts {
        Counts {
            quests: 1,
            submissions,
            failed: submissions - 1,
            passed: 1,
            first: 1,
            first_passed: u32::from(submissions == 1),
            rules: [("mx-null".to_owned(), submissions - 1)].into(),
            ..Counts::default()
        }
    }

    fn close(one: Option<f64>, two: f64) -> bool {
        one.is_some_and(|one| (one - two).abs() < 1e-9)
    }

    #[test]
    fn a_session_a_half_life_ago_counts_half() {
        let nobody = Who::default();
        let tallies = vec![
            tally("old", "2026-01-01T00:00:00Z", &nobody, tries(4)),
            tally("new", "2026-01-31T00:00:00Z", &nobody, tries(1)),
        ];
        let insights = combine(tallies, HalfLife::default());
        let names: Vec<_> = insights.sessions.iter().map(|it| &it.session).collect();
        assert_eq!(names, ["new", "old"]);
        assert!(close(Some(insights.sessions[1].weight), 0.5));
        // (1 + 4 / 2) submissions for (1 + 1 / 2) quests.
        assert!(close(insights.all.tries_per_quest, 2.0));
        assert!(close(insights.all.first_try.share, 0.667));
        assert_eq!(
            (insights.all.first_try.part, insights.all.first_try.of),
            (1, 2)
        );
        assert_eq!(insights.all.submissions, 5);
        assert_eq!(insights.rules[0].tries, 3);
        assert!(close(Some(insights.rules[0].weighted), 1.5));
    }

    #[test]
    fn tokens_and_time_are_those_of_driven_agents_alone() {
        let agent = Who {
            agent: Some("claude".to_owned()),
            model: None,
        };
        let driven = Counts {
            starts: 2,
            milliseconds: 3_000,
            spent: Some(Spent {
                tokens: 600,
                cost: None,
                told: false,
            }),
            ..tries(1)
        };
        let mut session = tally("one", "2026-01-01T00:00:00Z", &agent, driven);
        session.counts.insert(Who::default(), tries(2));
        let insights = combine(vec![session], HalfLife::default());
        assert_eq!(insights.all.passed, 2);
        assert!(
            close(insights.all.tokens_per_pass, 600.0),
            "by hand costs none"
        );
        assert!(close(insights.all.seconds_per_pass, 3.0));
        assert!(insights.all.tokens_estimated);
        let [by_hand, claude] = &insights.agents[..] else {
            panic!("{insights:?}");
        };
        assert_eq!(by_hand.work.tokens_per_pass, None);
        assert_eq!(claude.who, agent);
        assert_eq!(claude.work.first_try.part, 1);
    }

    #[test]
    fn of_nothing_there_are_no_averages() {
        let empty = SessionTally::new("empty".to_owned(), "email".to_owned());
        let insights = combine(vec![empty], HalfLife::default());
        assert_eq!(insights.all, Work::default());
        assert!(insights.rules.is_empty() && insights.facts.is_empty());
    }
}
