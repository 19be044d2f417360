//! The rules that every gate has. They look nothing up.

use super::{Fact, Judgement, Level, Rule};
use crate::base::text::truncate_with_size;

pub const NO_RESULT: Rule = Rule::known(
    "no-result",
    Level::Fail,
    "the agent says that it found nothing",
    "submit an answer: giving up uses a try, and the agent cannot decide that a quest is impossible",
);

pub const REPEATED_SUBMISSION: Rule = Rule::known(
    "repeated-submission",
    Level::Fail,
    "the submission is the same as an earlier one for this quest",
    "change what the earlier facts point at before submitting again",
);

pub const FORGOTTEN_ADDRESS: Rule = Rule::known(
    "forgotten-address",
    Level::Fail,
    "the submission contains an address that a person removed with `comail forget`",
    "do not submit that address: find another one, or say that there is none",
);

/// It is a rule of every gate with a tree.
pub const TREE_UNJUDGEABLE: Rule = Rule::known(
    "tree-unjudgeable",
    Level::Fail,
    "something that changed in a write zone cannot be judged",
    "remove it, or put a readable file of a usual size in its place",
);

/// It is a rule of every check of kind `mutation`.
pub const NEUTRAL_CHANGE: Rule = Rule::known(
    "neutral-change",
    Level::Fail,
    "the tests fail although the code was only written in another way: they look at its text",
    "assert what the code does, and never read its source",
);

/// It is a rule of every check of kind `command` with a `canary`.
pub const SILENT_CANARY: Rule = Rule::known(
    "silent-canary",
    Level::Fail,
    "a planted test that must fail was not reported so: the report does not tell what the tests did",
    "let the test runner run all tests to their end, and leave its report and its exit code alone",
);

/// It is a rule of every session with worktrees.
pub const BREAKS_PASSED: Rule = Rule::known(
    "breaks-passed",
    Level::Fail,
    "with these files, a quest that passed earlier would fail",
    "keep what the other quest needs, and submit again",
);

/// The most characters that are shown of why there is no answer.
const MAX_SHOWN: usize = 300;

pub fn no_result(why: &str) -> Judgement {
    let shown = format!("none: {}", truncate_with_size(why, MAX_SHOWN));
    refusal(&NO_RESULT, "an answer", shown)
}

/// The judgement on a submission that equals the one of attempt `earlier`.
pub fn repeated_submission(earlier: u32) -> Judgement {
    refusal(
        &REPEATED_SUBMISSION,
        "a submission that differs from every earlier one",
        format!("the same as attempt {earlier}"),
    )
}

/// The judgement on a submission that holds a forgotten address, whatever else it says.
pub fn forgotten_address() -> Judgement {
    refusal(
        &FORGOTTEN_ADDRESS,
        "an address that was not removed with `comail forget`",
        "one that was removed, so it is not recorded".to_owned(),
    )
}

/// The judgement on files with which earlier quests would fail: each with what it would fail on.
pub fn breaks_passed(broken: impl IntoIterator<Item = (String, String)>) -> Judgement {
    let facts = broken
        .into_iter()
        .map(|(expected, fact)| Fact::of(&BREAKS_PASSED, expected, fact));
    Judgement::from_facts(facts.collect(), Vec::new())
}

/// Whether a judgement has facts of this rule alone.
pub fn is_of_rule(judgement: &Judgement, rule: &Rule) -> bool {
    let mut facts = judgement.facts.iter();
    !judgement.facts.is_empty() && facts.all(|fact| fact.rule == rule.id)
}

fn refusal(rule: &Rule, expected: &str, actual: String) -> Judgement {
    let fact = Fact::of(rule, expected, actual);
    Judgement::from_facts(vec![fact], Vec::new())
}

pub fn rules() -> Vec<Rule> {
    vec![NO_RESULT, REPEATED_SUBMISSION, FORGOTTEN_ADDRESS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::quest::Verdict;

    #[test]
    fn each_refusal_fails_by_its_rule_and_says_what_was_sent() {
        for (judgement, rule, actual) in rows! {
            no_result("the site is down"), NO_RESULT => "none: the site is down";
            repeated_submission(2), REPEATED_SUBMISSION => "the same as attempt 2";
        } {
            assert_eq!(judgement.verdict, Verdict::Fail);
            let facts = judgement.facts.iter();
            let facts: Vec<_> = facts.map(|fact| (&fact.rule, &*fact.actual)).collect();
            assert_eq!(facts, [(&rule.id, actual)]);
            assert_eq!(judgement.checks, []);
        }
        let long = no_result(&"가".repeat(100_000));
        assert!(long.facts[0].actual.ends_with("… (300000 bytes)"));
        assert!(long.facts[0].actual.chars().count() < 330);
    }
}
