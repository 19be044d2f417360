//! A check of a quest file: a probe with the name, level and words that its table gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::probe::{Detail, Found, Probe};
use crate::gate::{Cause, Check, Cost, Finding, Level, Rule, RuleId};

/// What every `[[check]]` table may say, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckHead {
    /// Its name in kebab-case, and its rule's id.
    pub name: String,
    /// What it does.
    pub kind: String,
    /// What its rule's firing means for the verdict.
    #[serde(default)]
    pub level: LevelName,
    /// The checks before it: where one has failed or was not run, it is not run.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What it means that its rule fired: one line for the catalogue.
    pub means: Option<String>,
    /// What would flip the verdict: one line, addressed to the agent.
    pub remedy: Option<String>,
    /// What follows when it fails.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// What follows when a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFail {
    /// The agent is told.
    #[default]
    Tell,
    /// The `[fixer]` is started with the facts first.
    Fix,
}

/// A level as a quest file spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// The submission is wrong.
    #[default]
    Fail,
    /// A person must look.
    Review,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Fail => Self::Fail,
            LevelName::Review => Self::Review,
        }
    }
}

impl CheckHead {
    /// The keys of the table that are its.
    pub const KEYS: &[&str] = &[
        "name", "kind", "level", "needs", "means", "remedy", "on_fail",
    ];

    /// Those of them that a check has whose several rules are not the file's.
    pub const KEYS_OF_MANY_RULES: &[&str] = &["name", "kind", "needs"];
}

/// What ends the id of the rule that fires where the world could not say.
pub const UNCONFIRMED: &str = "-unconfirmed";

/// A check of a quest file.
pub struct QuestCheck {
    head: CheckHead,
    rules: [Rule; 2],
    probe: Box<dyn Probe>,
}

impl QuestCheck {
    /// The check that `probe` does under this head.
    #[must_use]
    pub fn new(mut head: CheckHead, probe: Box<dyn Probe>) -> Self {
        head.needs.extend_from_slice(probe.needs());
        let name = &head.name;
        let means = head
            .means
            .clone()
            .unwrap_or_else(|| format!("what the check `{name}` ({}) asks is not so", head.kind));
        let remedy = head
            .remedy
            .clone()
            .unwrap_or_else(|| String::from("bring about what its facts expect"));
        let wrong = Rule {
            id: RuleId::given(name.clone()),
            level: head.level.into(),
            cause: Cause::Wrong,
            meaning: means.into(),
            remedy: remedy.into(),
        };
        let unconfirmed = Rule {
            id: RuleId::given(format!("{name}{UNCONFIRMED}")),
            level: Level::Review,
            cause: Cause::Unanswered,
            meaning: format!("the check `{name}` could neither be passed nor failed").into(),
            remedy: "nothing: a person settles it".into(),
        };
        Self {
            rules: [wrong, unconfirmed],
            head,
            probe,
        }
    }

    fn finding(&self, found: Found) -> Finding {
        let (rule, detail) = match found {
            Found::Wrong(detail) => (&self.rules[0], detail),
            Found::Unconfirmed(detail) => (&self.rules[1], detail),
        };
        let Detail {
            field,
            location,
            expected,
            actual,
            count,
            wordless,
        } = detail;
        let is_wrong = rule.id == self.rules[0].id;
        let actual = match &self.head.means {
            Some(means) if wordless && is_wrong => format!("{means}: {actual}"),
            _ => actual,
        };
        Finding {
            field,
            location,
            count,
            ..Finding::of(&rule.id, expected, actual)
        }
    }
}

impl Check<Context<'_>> for QuestCheck {
    fn name(&self) -> &str {
        &self.head.name
    }

    fn cost(&self) -> Cost {
        self.probe.cost()
    }

    fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn needs(&self) -> &[String] {
        &self.head.needs
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let found = self.probe.look(context).into_iter();
        found.map(|found| self.finding(found)).collect()
    }
}
