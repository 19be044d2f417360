//! What shows that a report of tests comes from the test runner: a planted test that must fail, and a
//! list of the tests.
//!
//! The judged code runs in the runner's process. So it can write a report, or end the process with the
//! code of success.

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command_plan::{CommandPlan, RunKeys, tail};
use super::context::{Context, Run};
use super::kind::{Flaw, Source};
use crate::gate::Fact;
use crate::gate::common_rules::SILENT_CANARY;
use crate::quest::template::{Names, Template, Values};
use crate::world::sandbox::{CommandResult, CommandSpec, Edit, End, FileSeen};
use crate::world::tree::TreePath;

/// `canary = { … }`: a test that must fail.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanaryTable {
    /// The file of tests that it is added to, as a template; a new one where there is none.
    file: String,
    /// The test, as a template. In its name, or in the name of its file, `{{ canary }}` stands for
    /// letters that are random for each judgement.
    text: String,
}

/// `list = { … }`: which tests there are.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTable {
    /// The program that prints them, and its arguments, each a template.
    argv: Vec<String>,
    /// A pattern that matches each line of its output that is a test, and no other.
    line: String,
}

pub struct Canary {
    file: Template,
    text: Template,
}

/// The name that a template must have for the canary's letters.
const NAME: &str = "canary";

impl Canary {
    pub fn build(table: &CanaryTable, names: &Names, source: &Source<'_>) -> Result<Self, Flaw> {
        source.needs_tree(NAME, "the quest file has no `[tree]` to add a test to")?;
        let names = names.clone().with(NAME);
        let [file, text] =
            [&table.file, &table.text].map(|template| source.template_of(NAME, template, &names));
        let (file, text) = (file?, text?);
        let mut used = file.names().iter().chain(text.names());
        if !used.any(|name| name == NAME) {
            let what = "the name of the test, or of its file, needs {{ canary }}";
            return Err(Flaw::new(NAME, what));
        }
        Ok(Self { file, text })
    }

    /// The run again with the planted test, and the letters of its name.
    pub fn run(&self, context: &Context<'_>, values: &Values, run: &Run) -> Result<Planted, Fact> {
        let sandbox = context.world.sandbox;
        let values = Values {
            canary: sandbox.nonce(),
            ..values.clone()
        };
        let render = |template: &Template| {
            let text = template.render(&values);
            text.map_err(|bad| Fact::wrong("a text", bad.to_string()).at(NAME))
        };
        let (file, test) = (render(&self.file)?, render(&self.text)?);
        let unfit = |why: String| Fact::wrong("a file for a test", why).at(file.as_str());
        let path = TreePath::parse(&file).map_err(|bad| unfit(bad.to_string()))?;
        let old = match sandbox.file(&path) {
            FileSeen::File(bytes) => String::from_utf8(bytes),
            FileSeen::Absent => Ok(String::new()),
            FileSeen::Other(what) => return Err(unfit(what)),
        };
        let old = old.map_err(|_| unfit(String::from("it is not UTF-8")))?;
        let mut edits = run.order.edits.clone();
        edits.push(Edit {
            path: file.clone(),
            text: format!("{old}\n\n{test}"),
        });
        let order = CommandSpec {
            name: format!("{} {NAME}", run.order.name),
            edits,
            ..run.order.clone()
        };
        Ok(Planted {
            ran: sandbox.run(&order),
            letters: values.canary,
            file,
        })
    }
}

/// A run with a planted test.
pub struct Planted {
    pub ran: CommandResult,
    pub letters: String,
    file: String,
}

impl Planted {
    /// The fact that the planted test did not fail as it must.
    pub fn silent(&self, actual: &str) -> Fact {
        let letters = &self.letters;
        let expected = format!(
            "a planted test, …{letters}, is reported as failed, and every other as without it"
        );
        let actual = format!("{actual}: {}", tail(&self.ran));
        Fact::of(&SILENT_CANARY, expected, actual).at(self.file.as_str())
    }
}

/// The command that lists the tests.
pub struct TestList {
    plan: CommandPlan,
    line: Regex,
}

impl TestList {
    pub fn build(table: &ListTable, keys: RunKeys, source: &Source<'_>) -> Result<Self, Flaw> {
        Ok(Self {
            plan: CommandPlan::build("list", &table.argv, keys, source)?,
            line: source.pattern("list", &table.line)?,
        })
    }

    /// That as many tests were reported as there are.
    pub fn holds(&self, context: &Context<'_>, values: &Values, reported: u32) -> Result<(), Fact> {
        let order = self.plan.order(context, values)?;
        let order = CommandSpec {
            name: format!("{} list", order.name),
            ..order
        };
        let ran = context.world.sandbox.run(&order);
        self.plan.ended(&ran)?;
        if ran.end != End::Exited(0) {
            return Err(Fact::wrong("a list of the tests", tail(&ran)));
        }
        let text = String::from_utf8_lossy(&ran.stdout);
        let count = text.lines().filter(|line| self.line.is_match(line)).count();
        if u32::try_from(count) == Ok(reported) {
            return Ok(());
        }
        let expected = format!("a report of {count} tests, as many as are listed");
        Err(Fact::wrong(expected, format!("{reported} were reported")))
    }
}
