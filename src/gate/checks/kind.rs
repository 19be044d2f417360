//! How a `[[check]]` table becomes a check.
//!
//! Each kind has a [`CheckConfig`]: what its table may say, which is also its part of the schema
//! of quest files. It builds a [`Check`], to which the table gives name, level and words. A
//! table is read by its kind's name and not as one tagged enum, because a mistake then still
//! points at its place in the file.

use std::cell::RefCell;
use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::field_usage::FieldUsage;
use super::outside::Outside;
use super::takes::Takes;
use crate::gate::{Cause, Cost, Fact, Level, Rule, RuleId};
use crate::quest::field::plain;
use crate::quest::file::{Mistake, QuestFile, RawTable, unknown_name};
use crate::quest::template::{Names, Template};
use crate::quest::{Field, FieldName};

/// The most facts that one check reports; the last one counts for the rest.
pub const MAX_FACTS: usize = 20;

/// What ends the id of the rule that fires where the world could not say.
pub const UNCONFIRMED: &str = "-unconfirmed";

/// The keys of a kind's table, except those that every check has.
pub trait CheckConfig: DeserializeOwned + JsonSchema {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw>;
}

pub trait Kind: Sync {
    fn name(&self) -> &'static str;

    fn verifies(&self) -> Verifies;

    /// Makes the check of a table: `ours` are the keys that every check has, `rest` the others.
    fn build(
        &'static self,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Check, Mistake>;

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;

    /// The rules of its own that its checks fire; none where a check's name is its rule's.
    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn head_keys(&self) -> &'static [&'static str] {
        CheckHead::KEYS
    }
}

/// The default of a key that is a number.
pub fn default_number<const N: usize>() -> usize {
    N
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verifies {
    /// That a fact holds in the world: an agent cannot bring it about by wording alone.
    Fact,
    Form,
}

/// The facts that a check found. A fact that keeps it from looking further is an error.
pub type Found = Result<Vec<Fact>, Fact>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    pub key: &'static str,
    pub what: String,
}

impl Flaw {
    pub fn new(key: &'static str, what: impl Into<String>) -> Self {
        Self {
            key,
            what: what.into(),
        }
    }
}

/// What a check's table is read against.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub file: &'a QuestFile<'a>,
    pub head: &'a CheckHead,
    pub verifies: Verifies,
    pub names: &'a Names,
    pub outside: &'a dyn Outside,
    pub usage: &'a RefCell<FieldUsage>,
}

impl Source<'_> {
    /// The check of this table, which fires the rule of its name, or the one with [`UNCONFIRMED`]
    /// where a fact has another cause than a wrong submission.
    pub fn check(&self, cost: Cost, run: impl Fn(&Context<'_>) -> Found + 'static) -> Check {
        self.check_with(cost, &[], run)
    }

    /// The same, whose facts of the rules `own` keep them.
    pub fn check_with(
        &self,
        cost: Cost,
        own: &'static [Rule],
        run: impl Fn(&Context<'_>) -> Found + 'static,
    ) -> Check {
        let rules = self.head.rules();
        let [wrong, unconfirmed] = rules.each_ref().map(|rule| rule.id.clone());
        let is_own = move |fact: &Fact| own.iter().any(|rule| rule.id == fact.rule);
        Check {
            cost,
            needs: self.head.needs.clone(),
            rules: rules.iter().chain(own).cloned().collect(),
            verifies: self.verifies,
            run: Rc::new(move |context| {
                let mut facts = run(context).unwrap_or_else(|fact| vec![fact]);
                for fact in facts.iter_mut().filter(|fact| !is_own(fact)) {
                    let is_wrong = fact.cause.is_wrong();
                    fact.rule = if is_wrong { &wrong } else { &unconfirmed }.clone();
                }
                first_facts(facts)
            }),
            ..Check::named(&self.head.name)
        }
    }

    pub fn template(&self, key: &'static str, text: &str) -> Result<Template, Flaw> {
        self.template_of(key, text, self.names)
    }

    pub fn maybe_template(
        &self,
        key: &'static str,
        text: Option<&String>,
    ) -> Result<Option<Template>, Flaw> {
        text.map(|text| self.template(key, text)).transpose()
    }

    pub fn template_of(
        &self,
        key: &'static str,
        text: &str,
        names: &Names,
    ) -> Result<Template, Flaw> {
        let parsed = Template::parse(text, names);
        let template = parsed.map_err(|bad| Flaw::new(key, self.of_no_quest(bad.to_string())))?;
        if let Some(name) = template.breaks_json(names) {
            let what = format!(
                "a quotation mark in `{name}` would end the string of this JSON: write \
                 {{{{ {name} | json }}}} without quotation marks around it"
            );
            return Err(Flaw::new(key, what));
        }
        self.note(|field| template.reads_field(field));
        Ok(template)
    }

    pub fn field(&self, key: &'static str, name: &str) -> Result<Field, Flaw> {
        self.note(|field| field == name);
        let fields = &self.file.fields;
        let place = fields.iter().position(|it| it.name.as_str() == name);
        place.map(|at| fields[at].clone()).ok_or_else(|| {
            let known: Vec<_> = fields.iter().map(|it| it.name.as_str()).collect();
            Flaw::new(key, self.of_no_quest(unknown_name("field", name, &known)))
        })
    }

    /// What is wrong with a name, and why a check over the whole result has none.
    fn of_no_quest(&self, what: String) -> String {
        if self.file.is_final() {
            return format!("{what}; a check of [final] is about no single quest or submission");
        }
        what
    }

    fn note(&self, is_read: impl Fn(&str) -> bool) {
        let mut usage = self.usage.borrow_mut();
        let fields = self.file.fields.iter().map(|field| &field.name);
        let read = fields.filter(|field| is_read(field.as_str()));
        usage.named.extend(read.cloned());
    }

    /// Notes the fields that a command or a script can read.
    pub fn given(&self, read: Vec<FieldName>) {
        self.usage.borrow_mut().given.extend(read);
    }

    pub fn column(&self, key: &'static str, name: &str) -> Result<String, Flaw> {
        let known: Vec<_> = self.file.input.columns().collect();
        if known.contains(&name) {
            return Ok(name.to_owned());
        }
        let what = self.of_no_quest(unknown_name("column", name, &known));
        let how = format!("{what}; a column of the list is named in `anchor` or `show` of [input]");
        Err(Flaw::new(key, how))
    }

    pub fn service(&self, key: &'static str, name: &str) -> Result<(), Flaw> {
        let services = self.file.services.iter();
        let known: Vec<_> = services.map(|service| service.name.as_str()).collect();
        if known.contains(&name) {
            return Ok(());
        }
        Err(Flaw::new(key, unknown_name("service", name, &known)))
    }

    /// The pattern that is the value of `key`; it may match anywhere in a text.
    pub fn pattern(&self, key: &'static str, text: &str) -> Result<regex::Regex, Flaw> {
        regex::Regex::new(text).map_err(|error| Flaw::new(key, plain(&error)))
    }

    pub fn asset(&self, key: &'static str, name: &str) -> Result<String, Flaw> {
        let text = self.outside.asset(name);
        text.map_err(|missing| Flaw::new(key, missing.to_string()))
    }

    pub fn needs_tree(&self, key: &'static str, why: &str) -> Result<(), Flaw> {
        match self.file.tree {
            Some(_) => Ok(()),
            None => Err(Flaw::new(key, why)),
        }
    }
}

#[derive(Clone)]
pub struct Check {
    pub name: String,
    pub cost: Cost,
    /// The checks before it: where one has failed or was not run, it is not run.
    pub needs: Vec<String>,
    pub rules: Vec<Rule>,
    pub verifies: Verifies,
    pub takes: Option<Takes>,
    pub parses: Vec<Parsed>,
    /// Whether it says so itself where one of them cannot be parsed. Another check has to look
    /// where it does not.
    pub reports_unparsed: bool,
    pub run: Run,
}

/// What a check does. It is shared by the copies of a gate.
pub type Run = Rc<dyn Fn(&Context<'_>) -> Vec<Fact>>;

impl Check {
    /// A check of this name that finds nothing.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            cost: Cost::Local,
            needs: Vec::new(),
            rules: Vec::new(),
            verifies: Verifies::Form,
            takes: None,
            parses: Vec::new(),
            reports_unparsed: false,
            run: Rc::new(|_| Vec::new()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    Mailbox(FieldName),
    WebUrl(FieldName),
}

/// What every `[[check]]` table may say, whatever its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckHead {
    /// Its name in kebab-case, which is also the id of its rule.
    pub name: String,
    /// The kind of check.
    pub kind: String,
    /// What it means for the verdict that the check fails.
    #[serde(default)]
    pub level: LevelName,
    /// The checks before it: where one has failed or was not run, it is not run.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What it means that the check fails: one line for the list of rules.
    pub means: Option<String>,
    /// What would make the check pass: one line, addressed to the agent.
    pub remedy: Option<String>,
    /// What happens when it fails.
    #[serde(default)]
    pub on_fail: OnFail,
}

/// What follows when a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFail {
    /// The agent sees the facts.
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

impl CheckHead {
    pub const KEYS: &[&str] = &[
        "name", "kind", "level", "needs", "means", "remedy", "on_fail",
    ];

    /// Those of them that a check has whose several rules are not the file's.
    pub const KEYS_OF_MANY_RULES: &[&str] = &["name", "kind", "needs"];

    /// The rule that fires on a wrong submission, and the one where the world could not say.
    fn rules(&self) -> [Rule; 2] {
        let name = &self.name;
        let means = self.means.clone();
        let means = means.unwrap_or_else(|| format!("the check `{name}` ({}) failed", self.kind));
        let remedy = self.remedy.clone();
        let remedy = remedy.unwrap_or_else(|| String::from("do what its facts expect"));
        let wrong = Rule {
            id: RuleId::given(name.clone()),
            level: match self.level {
                LevelName::Fail => Level::Fail,
                LevelName::Review => Level::Review,
            },
            cause: Cause::Wrong,
            meaning: means.into(),
            remedy: remedy.into(),
        };
        let unconfirmed = Rule {
            id: RuleId::given(format!("{name}{UNCONFIRMED}")),
            level: Level::Review,
            cause: Cause::Unanswered,
            meaning: format!("the check `{name}` could not decide").into(),
            remedy: "a person settles it".into(),
        };
        [wrong, unconfirmed]
    }
}

/// At most [`MAX_FACTS`] of `all`: what is wrong before what could not be said, each in its order.
/// The last one shown of each sort counts for those of its sort that are not.
pub(super) fn first_facts(all: Vec<Fact>) -> Vec<Fact> {
    let (wrong, unsure): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.cause.is_wrong());
    let room = MAX_FACTS.saturating_sub(wrong.len());
    let mut first = cut(wrong, MAX_FACTS);
    first.extend(cut(unsure, room));
    first
}

fn cut(mut facts: Vec<Fact>, most: usize) -> Vec<Fact> {
    let left = facts.len().saturating_sub(most);
    facts.truncate(most);
    if let Some(last) = facts.last_mut() {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        last.count = last.count.saturating_add(left);
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fact_shown_counts_for_the_rest() {
        let many = (0..25).map(|at| Fact::wrong("x", at.to_string()));
        let shown = first_facts(many.collect());
        assert_eq!(shown.len(), 20);
        assert_eq!((shown[0].count, shown[19].count), (1, 6));
    }

    #[test]
    fn doubts_do_not_hide_what_is_wrong() {
        let mut many: Vec<Fact> = (0..30)
            .map(|_| Fact::wrong("x", "y").unconfirmed())
            .collect();
        many.push(Fact::wrong("x", "z"));
        let shown = first_facts(many);
        assert_eq!((&*shown[0].actual, shown.len()), ("z", 20));
        assert_eq!(shown.iter().map(|fact| fact.count).sum::<u32>(), 31);
    }
}
