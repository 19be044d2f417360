//! What a gate says of one submission.

use std::borrow::Borrow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::{Cause, Level, Rule, RuleId};
use crate::base::text::truncate;
use crate::quest::{FieldName, Seen, Verdict};
use crate::world::sandbox::Usage;

/// A verdict with everything that it rests on.
///
/// The same case and the same answers of the world give the same value, byte for byte when
/// serialised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// What the facts add up to.
    pub verdict: Verdict,
    /// Every rule that fired, in the order of the checks.
    pub facts: Vec<Fact>,
    /// Every check of the gate, in order, run or not.
    pub checks: Vec<CheckReport>,
    /// What decided what a reader of its pages sees: markup, if it did for any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// What reviewers said, where any were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<Box<PanelReport>>,
}

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// The check's name.
    pub check: String,
    /// What became of it.
    pub outcome: CheckOutcome,
}

/// What may become of a check. Not run is not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// It ran and nothing fired.
    Passed,
    /// A rule of level FAIL fired.
    Failed,
    /// A rule of level REVIEW fired, and none of level FAIL.
    NotConfirmed,
    /// A cheaper check had failed.
    NotRun,
}

impl Judgement {
    /// The judgement that `facts` and `checks` add up to.
    ///
    /// Any FAIL fact makes it FAIL, else any REVIEW fact makes it REVIEW, else it is PASS.
    pub fn from_facts(facts: Vec<Fact>, checks: Vec<CheckReport>) -> Self {
        let verdict = match facts.iter().map(|fact| fact.level).max() {
            None => Verdict::Pass,
            Some(Level::Review) => Verdict::Review,
            Some(Level::Fail) => Verdict::Fail,
        };
        Self {
            verdict,
            facts,
            checks,
            seen: None,
            panel: None,
        }
    }

    /// The facts of a judgement as the ledger has it; none of one that cannot be read, which `audit`
    /// tells of.
    pub fn facts_of(recorded: &str) -> Vec<Fact> {
        let judgement = serde_json::from_str::<Self>(recorded);
        judgement.map_or_else(|_| Vec::new(), |judgement| judgement.facts)
    }
}

/// What was found: never an opinion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The rule that fired.
    pub rule: RuleId,
    /// The level in force when it fired.
    pub level: Level,
    /// Why the rule fires.
    #[serde(default, skip_serializing_if = "Cause::is_wrong")]
    pub cause: Cause,
    /// The field that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FieldName>,
    /// Where it was found: a URL, a DNS name, a place in a page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Box<str>>,
    /// What would have let the check pass.
    // Boxed, since checks return facts as errors: they must stay small.
    pub expected: Box<str>,
    /// What was found instead.
    pub actual: Box<str>,
    /// How many of its kind there are; the fact shows the first.
    pub count: u32,
    /// What would let the check pass, where the rule is known.
    // The ledger has none: a remedy is added to what a command prints.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Box<str>>,
}

/// Adds the remedy of its rule to each fact that is printed.
pub fn add_remedies<'a>(facts: impl IntoIterator<Item = &'a mut Fact>, rules: &[Rule]) {
    for fact in facts {
        let rule = rules.iter().find(|rule| rule.id == fact.rule);
        fact.remedy = rule.map(|rule| rule.remedy.as_ref().into());
    }
}

impl Fact {
    /// A fact of this rule. The gate looks up the rule's level and cause.
    pub fn new(rule: &'static str, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: RuleId::known(rule),
            ..Self::wrong(expected, actual)
        }
    }

    /// A fact of a rule whose level nobody sets.
    pub fn of(rule: &super::Rule, expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: rule.id.clone(),
            level: rule.level,
            cause: rule.cause,
            ..Self::wrong(expected, actual)
        }
    }

    /// A fact that contradicts the submission. The check that found it fills in its own rule.
    pub fn wrong(expected: impl Into<String>, actual: impl Into<String>) -> Self {
        Self {
            rule: RuleId::known(""),
            // A fact that nothing fills in must not let a submission through.
            level: Level::Fail,
            cause: Cause::Wrong,
            field: None,
            location: None,
            expected: expected.into().into_boxed_str(),
            actual: actual.into().into_boxed_str(),
            count: 1,
            remedy: None,
        }
    }

    /// The same fact, when the world could not say whether the submission is wrong.
    pub fn unconfirmed(mut self) -> Self {
        self.cause = Cause::Unanswered;
        self
    }

    pub fn on(mut self, field: impl Borrow<FieldName>) -> Self {
        self.field = Some(field.borrow().clone());
        self
    }

    pub fn at(mut self, location: impl Into<Box<str>>) -> Self {
        self.location = Some(location.into());
        self
    }

    pub fn at_url(self, url: &Url) -> Self {
        const LONGEST: usize = 300;
        self.at(truncate(url.as_str(), LONGEST))
    }

    pub fn times(mut self, count: u32) -> Self {
        self.count = count;
        self
    }
}

/// What a panel of reviewers said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PanelReport {
    /// The defect that ran along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plant: Option<String>,
    /// The reviewers, in the order of the file.
    pub reviewers: Vec<ReviewerReport>,
}

/// What one reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerReport {
    /// Its name.
    pub name: String,
    /// The model that it is.
    pub model: String,
    /// Whether it found the defect that ran along, and is heard.
    pub counts: bool,
    /// Its votes, in the order of the questions; none where it was not heard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteOn>,
    /// What was wrong with its answers, apart from its votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What both its answers took, where it says so.
    #[serde(default, skip_serializing_if = "is_untold")]
    pub usage: Usage,
}

/// A reviewer's vote on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteOn {
    /// The question.
    pub question: String,
    /// The vote.
    pub vote: Vote,
}

/// A vote on a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// Yes: it doubts.
    Doubt(Passage),
    /// It asks, and is not sure enough to doubt.
    Unsure(Passage),
    /// It is so little sure that it counts as no.
    Faint(Passage),
    /// No, and what it has looked at.
    Cleared(String),
    /// No vote, and why.
    Error(String),
}

/// What a doubt rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// Words from what the reviewer was shown.
    pub quotation: String,
    /// The file that they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How sure it is, from 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<u8>,
}

impl Vote {
    /// Whether it is a vote at all.
    pub fn is_answer(&self) -> bool {
        !matches!(self, Self::Error(_))
    }

    /// Whether it says that all is well.
    pub fn is_clearance(&self) -> bool {
        matches!(self, Self::Cleared(_))
    }

    /// What it doubts by; none for every other vote.
    pub fn doubt(&self) -> Option<&Passage> {
        match self {
            Self::Doubt(passage) => Some(passage),
            _ => None,
        }
    }
}

fn is_untold(usage: &Usage) -> bool {
    *usage == Usage::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Doubts;
    use crate::quest::FieldName;

    fn fact(level: Level) -> Fact {
        let fact = Fact::new("some-rule", "this", "that").on(FieldName::known("email"));
        Fact { level, ..fact }
    }

    #[test]
    fn a_remedy_is_printed_and_never_read() {
        let rule = Rule::known("some-rule", Level::Fail, "it is wrong", "mend it");
        let mut facts = [fact(Level::Fail), Fact::new("other-rule", "", "")];
        let recorded = serde_json::to_value(&facts[0]).unwrap();
        assert_eq!(recorded.get("remedy"), None);
        add_remedies(&mut facts, &[rule]);
        let printed = serde_json::to_value(&facts[0]).unwrap();
        assert_eq!(printed["remedy"], "mend it");
        assert_eq!(facts[1].remedy, None);
        let read: Fact = serde_json::from_value(printed).unwrap();
        assert_eq!(read.remedy, None);
    }

    fn verdict(levels: &[Level]) -> Verdict {
        let facts = levels.iter().copied().map(fact).collect();
        Judgement::from_facts(facts, Vec::new()).verdict
    }

    #[test]
    fn the_gravest_fact_decides_wherever_it_stands() {
        use Level::{Fail, Review};
        assert_eq!(verdict(&[]), Verdict::Pass);
        assert_eq!(verdict(&[Review, Review]), Verdict::Review);
        assert_eq!(verdict(&[Review, Fail, Review]), Verdict::Fail);
        assert_eq!(verdict(&[Fail]), Verdict::Fail);
    }

    #[test]
    fn doubts_turn_a_pass_into_a_review_and_nothing_else_into_anything() {
        use Level::{Fail, Review};
        let doubts = |count| {
            let (plant, reviewers) = (None, Vec::new());
            let mut doubts = Doubts::new(PanelReport { plant, reviewers });
            for _ in 0..count {
                doubts.doubt("reader", "Is it so?", "it is", None);
            }
            doubts
        };
        for levels in [&[][..], &[Review], &[Fail], &[Review, Fail]] {
            let facts: Vec<_> = levels.iter().copied().map(fact).collect();
            let before = Judgement::from_facts(facts, Vec::new());
            assert_eq!(before.clone().doubted(doubts(0)).verdict, before.verdict);
            let after = before.clone().doubted(doubts(2));
            let summed = Judgement::from_facts(after.facts.clone(), Vec::new());
            assert_eq!(after.verdict, summed.verdict);
            let same = after.verdict == before.verdict;
            assert_eq!(same, before.verdict != Verdict::Pass);
        }
    }

    #[test]
    fn is_written_in_one_way_and_read_back() {
        let report = CheckReport {
            check: "source".to_owned(),
            outcome: CheckOutcome::NotRun,
        };
        let judgement = Judgement::from_facts(vec![fact(Level::Fail)], vec![report]);
        let written = serde_json::to_string(&judgement).unwrap();
        assert_eq!(
            written,
            concat!(
                r#"{"verdict":"FAIL","facts":[{"rule":"some-rule","level":"FAIL","#,
                r#""field":"email","expected":"this","actual":"that","count":1}],"#,
                r#""checks":[{"check":"source","outcome":"not-run"}]}"#
            )
        );
        assert_eq!(
            serde_json::from_str::<Judgement>(&written).unwrap(),
            judgement
        );
    }
}
