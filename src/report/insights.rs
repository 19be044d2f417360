//! What uses up tries: counts over the ledgers of one or several sessions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::Digest;
use crate::base::text::{small, truncate};
use crate::gate::{Fact, Judgement, Level};
use crate::judge::live_runs::start_of;
use crate::quest::{FieldName, QuestId, Verdict};
use crate::session::{Attempt, DrivenAttempt, Event, RunId, RunStep, Worker};

/// A fact that was found in more than one submission.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recurring {
    pub rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub expected: String,
    pub actual: String,
    pub submissions: u32,
    /// In how many quests, of each session apart.
    pub quests: u32,
    /// How many submissions that counts for, where long ago counts less.
    pub weighted: f64,
}

/// The most different facts that are kept of a session.
///
/// Beyond that, facts found once are dropped; a frequent fact is hardly ever lost.
const MOST_FACTS: usize = 20_000;

const MOST_CHARS: usize = 200;

/// The facts of a session, with the quests in which each was found.
type FactTable = HashMap<Digest, (Recurring, HashSet<QuestId>)>;

fn note(table: &mut FactTable, fact: &Fact, quest: QuestId) {
    let key = key(fact);
    if table.len() >= MOST_FACTS && !table.contains_key(&key) {
        table.retain(|_, (fact, _)| fact.submissions > 1);
        if table.len() >= MOST_FACTS {
            return;
        }
    }
    let (found, quests) = table.entry(key).or_insert_with(|| {
        let recurring = Recurring {
            rule: fact.rule.as_str().to_owned(),
            field: fact.field.as_ref().map(|field| field.as_str().to_owned()),
            expected: truncate(&fact.expected, MOST_CHARS).into_owned(),
            actual: truncate(&fact.actual, MOST_CHARS).into_owned(),
            submissions: 0,
            quests: 0,
            weighted: 0.0,
        };
        (recurring, HashSet::new())
    });
    found.submissions += 1;
    quests.insert(quest);
}

fn key(fact: &Fact) -> Digest {
    let field = fact.field.as_ref().map(FieldName::as_str);
    let parts = serde_json::json!([fact.rule, field, fact.expected, fact.actual]);
    Digest::of(parts.to_string().as_bytes())
}

/// What costs tries, over one or several sessions.
///
/// Counts are as they are; shares and averages weigh each session by how long ago its last line
/// was written, against the newest of them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Insights {
    /// After how many days a session counts half.
    pub half_life_days: u32,
    /// The sessions, the newest first.
    pub sessions: Vec<SessionInsight>,
    /// All submissions together.
    pub all: Work,
    /// The same by agent and model.
    pub agents: Vec<AgentInsights>,
    /// What each rule cost, the dearest first.
    pub rules: Vec<RuleInsight>,
    /// The facts that were found more than once, the most frequent first.
    pub facts: Vec<Recurring>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionInsight {
    /// Its directory, as it was named.
    pub session: String,
    pub kind: String,
    /// When its last line was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
    pub weight: f64,
    pub submissions: u32,
}

/// What some submissions came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Work {
    /// Quests with a submission, of each session apart.
    pub quests: u32,
    pub submissions: u32,
    pub passed: u32,
    pub tries_per_quest: Option<f64>,
    /// Of the quests begun, those that passed at the first try.
    pub first_try: Share,
    pub starts: u32,
    /// What runs drove, and what of it came to no submission.
    pub driven: DrivenWork,
    /// Seconds of an agent for a PASS; none where no run drove one.
    pub seconds_per_pass: Option<f64>,
    pub tokens_per_pass: Option<f64>,
    /// US dollars for a PASS, as far as agents reported them; none where none did.
    pub dollars_per_pass: Option<f64>,
    /// What all starts took.
    pub seconds: f64,
    pub tokens: u64,
    /// US dollars, as far as agents reported them; none where none did.
    pub dollars: Option<f64>,
    pub tokens_estimated: bool,
}

/// What runs drove, and what of it came to no submission.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrivenWork {
    /// Quests at which an agent was started.
    pub quests: u32,
    pub passed: u32,
    /// Quests for which they never submitted.
    pub unanswered: u32,
    /// Starts without a submission.
    pub silent_starts: u32,
    /// How long these took, in milliseconds.
    pub silent_milliseconds: u64,
    /// What these used up.
    pub silent_tokens: u64,
    /// Whether that is estimated in part.
    pub silent_estimated: bool,
}

impl DrivenWork {
    fn add(&mut self, other: &Self) {
        self.quests += other.quests;
        self.passed += other.passed;
        self.unanswered += other.unanswered;
        self.silent_starts += other.silent_starts;
        let milliseconds = self.silent_milliseconds;
        self.silent_milliseconds = milliseconds.saturating_add(other.silent_milliseconds);
        self.silent_tokens = self.silent_tokens.saturating_add(other.silent_tokens);
        self.silent_estimated |= other.silent_estimated;
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    pub part: u32,
    pub of: u32,
    /// The share, where long ago counts less; none of nothing.
    pub share: Option<f64>,
}

/// What one agent came to, with one model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentInsights {
    #[serde(flatten)]
    pub who: Who,
    #[serde(flatten)]
    pub work: Work,
    /// What each rule cost it, the dearest first.
    pub rules: Vec<RuleInsight>,
}

/// What a rule cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleInsight {
    pub rule: String,
    /// In how many failed submissions it fired.
    pub tries: u32,
    /// In how many quests; not told by agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quests: Option<u32>,
    /// How many tries that counts for, where long ago counts less.
    pub weighted: f64,
}

pub const HALF_LIFE_DAYS: u32 = 30;

/// The weight at `now` of something from `then`: 1 if it is no older, and half after each half-life.
pub fn weight(half_life_days: u32, then: Timestamp, now: Timestamp) -> f64 {
    let age = now.duration_since(then).max(SignedDuration::ZERO);
    let half_life = SignedDuration::from_hours(24) * half_life_days.cast_signed();
    0.5_f64.powf(age.as_secs_f64() / half_life.as_secs_f64())
}

/// What one agent did in one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    quests: HashSet<QuestId>,
    submissions: u32,
    passed: u32,
    /// Quests whose first submission it made.
    first: u32,
    first_passed: u32,
    starts: u32,
    milliseconds: u64,
    tokens: u64,
    /// In billionths of a US dollar.
    cost: Option<u64>,
    estimated: bool,
    driven_quests: HashSet<QuestId>,
    driven: DrivenWork,
    rules: BTreeMap<String, u32>,
}

#[derive(Debug, Default)]
pub struct SessionTally {
    name: String,
    kind: String,
    last: Option<Timestamp>,
    counts: BTreeMap<Who, Counts>,
    rule_quests: BTreeMap<String, HashSet<QuestId>>,
    facts: FactTable,
    runs: HashMap<RunId, Who>,
    /// The agents of starts, of runs with several.
    starts: HashMap<Worker, Who>,
    heard: BTreeSet<Worker>,
}

impl SessionTally {
    pub fn new(name: String, kind: String) -> Self {
        Self {
            name,
            kind,
            ..Self::default()
        }
    }

    pub fn take(&mut self, event: &Event, at: Timestamp) {
        self.last = Some(at);
        match event {
            Event::Attempt(attempt) => self.attempt(attempt),
            Event::Run(line) => match &line.step {
                RunStep::Began(began) => {
                    let who = Who {
                        agent: Some(began.agent.clone()),
                        model: began.model.clone(),
                    };
                    self.runs.insert(line.run, who);
                }
                RunStep::Start(start) => {
                    let who = Who {
                        agent: Some(start.agent.clone()),
                        model: start.model.clone(),
                    };
                    self.starts.insert(start.worker.clone(), who);
                }
                RunStep::Attempt(driven) => self.driven(line.run, driven),
                RunStep::Quest(_) | RunStep::Ended { .. } => {}
            },
            _ => {}
        }
    }

    fn driven(&mut self, run: RunId, driven: &DrivenAttempt) {
        let who = self.of_start(run, &driven.worker);
        let counts = self.counts.entry(who).or_default();
        counts.driven_quests.insert(driven.quest);
        let (milliseconds, tokens) = (driven.milliseconds, driven.spent.tokens);
        if !self.heard.contains(&driven.worker) {
            counts.driven.add(&DrivenWork {
                silent_starts: 1,
                silent_milliseconds: milliseconds,
                silent_tokens: tokens,
                silent_estimated: !driven.spent.told,
                ..DrivenWork::default()
            });
        }
        counts.starts += 1;
        counts.milliseconds = counts.milliseconds.saturating_add(milliseconds);
        counts.tokens = counts.tokens.saturating_add(tokens);
        counts.cost = [counts.cost, driven.spent.cost]
            .into_iter()
            .flatten()
            .reduce(u64::saturating_add);
        counts.estimated |= !driven.spent.told;
    }

    /// The agent of a start, which the run names if it has only one.
    fn of_start(&self, run: RunId, worker: &Worker) -> Who {
        let who = self.starts.get(worker).or(self.runs.get(&run));
        who.cloned().unwrap_or_default()
    }

    fn attempt(&mut self, attempt: &Attempt) {
        // A worker whose name was not given by a run is not an agent of a run.
        let worker = attempt.worker.as_ref();
        let who = worker.and_then(|it| Some(self.of_start(start_of(it)?.0, it)));
        let who = who.unwrap_or_default();
        self.heard.extend(attempt.worker.clone());
        let passed = u32::from(attempt.verdict == Verdict::Pass);
        let by_run = u32::from(who.agent.is_some());
        let counts = self.counts.entry(who).or_default();
        counts.driven.passed += passed * by_run;
        counts.quests.insert(attempt.quest);
        counts.submissions += 1;
        counts.passed += passed;
        if attempt.number == 1 {
            counts.first += 1;
            counts.first_passed += passed;
        }
        if attempt.verdict != Verdict::Fail {
            return;
        }
        let facts = Judgement::facts_of(attempt.judgement.get());
        let mut fired = HashSet::new();
        for fact in &facts {
            note(&mut self.facts, fact, attempt.quest);
            let rule = fact.rule.as_str();
            if fact.level == Level::Fail && fired.insert(rule) {
                *counts.rules.entry(rule.to_owned()).or_default() += 1;
                let quests = self.rule_quests.entry(rule.to_owned()).or_default();
                quests.insert(attempt.quest);
            }
        }
    }
}

/// Who submitted, as far as the ledger tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Who {
    /// The agent that a run started; none where no run did.
    pub agent: Option<String>,
    /// The model that the operator named.
    pub model: Option<String>,
}

/// The units of a cost in a US dollar.
const NANODOLLARS: f64 = 1e9;

const MOST_SHOWN_FACTS: usize = 10;

pub fn combine(mut tallies: Vec<SessionTally>, half_life_days: u32) -> Insights {
    tallies.sort_by_key(|tally| Reverse(tally.last));
    let newest = tallies.iter().find_map(|tally| tally.last);
    let weight_of = |tally: &SessionTally| match (tally.last, newest) {
        (Some(last), Some(newest)) => weight(half_life_days, last, newest),
        _ => 1.0,
    };
    let (mut all, mut agents) = (Sum::default(), BTreeMap::<&Who, Sum>::new());
    let mut quests = BTreeMap::<String, u32>::new();
    for tally in &tallies {
        for (who, counts) in &tally.counts {
            all.0.push((weight_of(tally), counts));
            let agent = agents.entry(who).or_default();
            agent.0.push((weight_of(tally), counts));
        }
        for (rule, count) in &tally.rule_quests {
            *quests.entry(rule.clone()).or_default() += small(count.len());
        }
    }
    let agents = agents.into_iter().map(|(who, sum)| AgentInsights {
        who: who.clone(),
        work: sum.work(),
        rules: sum.rules(None),
    });
    Insights {
        half_life_days,
        sessions: tallies
            .iter()
            .map(|it| session(it, weight_of(it)))
            .collect(),
        all: all.work(),
        agents: agents.collect(),
        rules: all.rules(Some(&quests)),
        facts: facts(tallies.into_iter().map(|it| (weight_of(&it), it))),
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

fn facts(tallies: impl Iterator<Item = (f64, SessionTally)>) -> Vec<Recurring> {
    let mut sums: BTreeMap<Digest, Recurring> = BTreeMap::new();
    for (weight, tally) in tallies {
        for (key, (fact, quests)) in tally.facts {
            let fact = Recurring {
                quests: small(quests.len()),
                ..fact
            };
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

#[derive(Debug, Default)]
struct Sum<'a>(Vec<(f64, &'a Counts)>);

#[expect(
    clippy::cast_precision_loss,
    reason = "an average need not be exact beyond 2^53"
)]
fn real(count: u64) -> f64 {
    count as f64
}

/// Rounds to a thousandth; further digits are rounding errors of the sum.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| rounded(part / whole))
}

impl Sum<'_> {
    fn plain(&self, of: fn(&Counts) -> u32) -> u32 {
        self.0.iter().map(|(_, counts)| of(counts)).sum()
    }

    fn weighted(&self, of: fn(&Counts) -> f64) -> f64 {
        self.0
            .iter()
            .map(|(weight, counts)| weight * of(counts))
            .sum()
    }

    fn work(&self) -> Work {
        let mut driven = DrivenWork::default();
        for (_, counts) in &self.0 {
            let unanswered = counts.driven_quests.difference(&counts.quests);
            driven.add(&DrivenWork {
                quests: small(counts.driven_quests.len()),
                unanswered: small(unanswered.count()),
                ..counts.driven
            });
        }
        let ratio = |part: fn(&Counts) -> f64, whole: fn(&Counts) -> f64| {
            ratio(self.weighted(part), self.weighted(whole))
        };
        // Only agents of runs have a time and tokens.
        let driven_passed = |it: &Counts| f64::from(if it.starts > 0 { it.passed } else { 0 });
        let costs = self.0.iter().filter_map(|(_, counts)| counts.cost);
        let cost = costs.reduce(u64::saturating_add);
        let sum = |of: fn(&Counts) -> u64| {
            let each = self.0.iter().map(|(_, counts)| of(counts));
            each.fold(0, u64::saturating_add)
        };
        let dollars = |it: &Counts| real(it.cost.unwrap_or_default()) / NANODOLLARS;
        Work {
            quests: self.plain(|it| small(it.quests.len())),
            submissions: self.plain(|it| it.submissions),
            passed: self.plain(|it| it.passed),
            tries_per_quest: ratio(
                |it| it.submissions.into(),
                |it| small(it.quests.len()).into(),
            ),
            first_try: Share {
                part: self.plain(|it| it.first_passed),
                of: self.plain(|it| it.first),
                share: ratio(|it| it.first_passed.into(), |it| it.first.into()),
            },
            starts: self.plain(|it| it.starts),
            driven,
            seconds_per_pass: ratio(|it| real(it.milliseconds) / 1000.0, driven_passed),
            tokens_per_pass: ratio(|it| real(it.tokens), driven_passed),
            dollars_per_pass: cost.and_then(|_| ratio(dollars, driven_passed)),
            seconds: rounded(real(sum(|it| it.milliseconds)) / 1000.0),
            tokens: sum(|it| it.tokens),
            dollars: cost.map(|cost| real(cost) / NANODOLLARS),
            tokens_estimated: self.0.iter().any(|(_, counts)| counts.estimated),
        }
    }

    fn rules(&self, quests: Option<&BTreeMap<String, u32>>) -> Vec<RuleInsight> {
        let mut rules: BTreeMap<&str, (u32, f64)> = BTreeMap::new();
        for (weight, counts) in &self.0 {
            for (rule, tries) in &counts.rules {
                let sum = rules.entry(rule.as_str()).or_default();
                *sum = (sum.0 + tries, sum.1 + weight * f64::from(*tries));
            }
        }
        let rules = rules
            .into_iter()
            .map(|(rule, (tries, weighted))| RuleInsight {
                rule: rule.to_owned(),
                tries,
                quests: quests.and_then(|quests| quests.get(rule)).copied(),
                weighted: rounded(weighted),
            });
        let mut rules: Vec<_> = rules.collect();
        rules.sort_by(|one, two| two.weighted.total_cmp(&one.weighted));
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(actual: &str) -> Fact {
        Fact::new("some-rule", "this", actual)
    }

    #[test]
    fn the_same_fact_is_counted_by_submission_and_quest() {
        let mut table = FactTable::default();
        let two = QuestId::from_index(1).unwrap();
        for quest in [QuestId::FIRST, QuestId::FIRST, two] {
            note(&mut table, &fact("that"), quest);
        }
        note(&mut table, &fact("other"), two);
        let each = table.values();
        let counts = each.map(|(fact, quests)| (fact.submissions, quests.len()));
        let mut counts: Vec<_> = counts.collect();
        counts.sort_unstable();
        assert_eq!(counts, [(1, 1), (3, 2)]);
    }

    #[test]
    fn recurring_facts_outlive_single_ones() {
        let mut table = FactTable::default();
        note(&mut table, &fact("again"), QuestId::FIRST);
        note(&mut table, &fact("again"), QuestId::FIRST);
        for number in 0..MOST_FACTS + 10 {
            note(&mut table, &fact(&number.to_string()), QuestId::FIRST);
        }
        assert!(table.len() <= MOST_FACTS);
        assert!(table.contains_key(&key(&fact("again"))));
    }

    #[test]
    fn counts_half_after_each_half_life() {
        let now: Timestamp = "2026-03-02T00:00:00Z".parse().unwrap();
        let weighed = |then: &str| weight(HALF_LIFE_DAYS, then.parse().unwrap(), now);
        for (then, expected) in [
            ("2026-03-02T00:00:00Z", 1.0),
            ("2026-01-31T00:00:00Z", 0.5),
            ("2026-01-01T00:00:00Z", 0.25),
            ("2027-01-01T00:00:00Z", 1.0),
        ] {
            assert!((weighed(then) - expected).abs() < 1e-9, "{then}");
        }
    }

    fn tally(name: &str, last: &str, who: &Who, counts: Counts) -> SessionTally {
        let mut tally = SessionTally::new(name.to_owned(), "email".to_owned());
        tally.last = Some(last.parse::<Timestamp>().unwrap());
        tally.counts.insert(who.clone(), counts);
        tally
    }

    /// One quest with this many submissions, of which the last one passed.
    fn tries(submissions: u32) -> Counts {
        Counts {
            quests: [QuestId::FIRST].into(),
            submissions,
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
        let insights = combine(tallies, HALF_LIFE_DAYS);
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
    fn only_driven_agents_count_for_tokens_and_time() {
        let agent = Who {
            agent: Some("claude".to_owned()),
            model: None,
        };
        let driven = Counts {
            starts: 2,
            milliseconds: 3_000,
            tokens: 600,
            estimated: true,
            ..tries(1)
        };
        let mut session = tally("one", "2026-01-01T00:00:00Z", &agent, driven);
        session.counts.insert(Who::default(), tries(2));
        let insights = combine(vec![session], HALF_LIFE_DAYS);
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
    fn no_submissions_give_no_averages() {
        let empty = SessionTally::new("empty".to_owned(), "email".to_owned());
        let insights = combine(vec![empty], HALF_LIFE_DAYS);
        assert_eq!(insights.all, Work::default());
        assert!(insights.rules.is_empty() && insights.facts.is_empty());
    }
}
