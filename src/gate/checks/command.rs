//! `command`: a program that ends well over a copy of the tree.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::kind::{CheckHead, Flaw, Probe, Shows, Source, Spec};
use super::orders::{
    NetworkName, OnTimeout, OrderPlan, RunKeys, a_minute, cut_short, names, ten_mebibytes,
};
use super::tool_facts::{FactsTable, ToolFacts, ToolKeys, wrong_code};
use crate::gate::{Cost, Fact};
use crate::quest::file::unknown_name;
use crate::quest::template::{Template, Values};
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{End, Order, Ran};
use crate::world::tree::TreePath;

/// The most further rounds of a command that fails now and then.
const MOST_RETRIES: u32 = 10;

/// `kind = "command"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// The program, the same for every quest, and its arguments, each a template. No shell reads
    /// them, and no submitted text becomes an option.
    argv: Vec<String>,
    /// Further variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment that are frozen for it.
    #[serde(default)]
    pass_env: Vec<String>,
    /// Where it starts, relative to the tree, as a template.
    cwd: Option<String>,
    /// What it reads on its standard input, as a template.
    stdin: Option<String>,
    /// How long it may take.
    #[serde(default = "a_minute")]
    timeout: Span,
    /// How much it may print.
    #[serde(default = "ten_mebibytes")]
    output_cap: ByteSize,
    /// The codes that pass.
    #[serde(default = "zero")]
    pub(super) exit: Vec<i32>,
    /// The codes that say that it cannot be told.
    #[serde(default)]
    pub(super) unconfirmed_exit: Vec<i32>,
    /// How its output becomes facts.
    facts: Option<FactsTable>,
    /// The files that it makes; what stood there before is removed.
    #[serde(default)]
    pub(super) reports: Vec<String>,
    /// The fewest tests that must have passed; 1 where `facts` tells of tests.
    min_passed: Option<u32>,
    /// The most tests that may have been skipped.
    max_skipped: Option<u32>,
    /// Further rounds while it fails.
    #[serde(default)]
    retries: u32,
    /// What it means that a further round passed.
    #[serde(default)]
    flaky: Flaky,
    /// What it may reach.
    network: Option<NetworkName>,
    /// What it may write beside its copy of the tree, absolute.
    #[serde(default)]
    writable: Vec<String>,
    /// The services that must be up.
    #[serde(default)]
    services: Vec<String>,
    /// What it means that it was still running when its time was up.
    #[serde(default)]
    on_timeout: OnTimeout,
}

/// What it means that a command passed after it had failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Flaky {
    /// A person must look.
    #[default]
    Review,
    /// It passes.
    Pass,
}

fn zero() -> Vec<i32> {
    vec![0]
}

#[derive(Debug)]
struct Command {
    name: String,
    means: Option<String>,
    plan: OrderPlan,
    cwd: Option<Template>,
    stdin: Option<Template>,
    reports: Vec<String>,
    exit: Vec<i32>,
    unconfirmed_exit: Vec<i32>,
    facts: Option<ToolFacts>,
    retries: u32,
    flaky: Flaky,
    on_timeout: OnTimeout,
}

impl Spec for CommandSpec {
    const KIND: &'static str = "command";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if self.exit.is_empty() {
            return Err(Flaw::new("exit", "it is empty: nothing would pass"));
        }
        if let Some(code) = self
            .unconfirmed_exit
            .iter()
            .find(|code| self.exit.contains(code))
        {
            let what = format!("the code {code} passes already, by `exit`");
            return Err(Flaw::new("unconfirmed_exit", what));
        }
        if self.retries > MOST_RETRIES {
            let what = format!("expected at most {MOST_RETRIES}");
            return Err(Flaw::new("retries", what));
        }
        if let Some(bad) = self
            .reports
            .iter()
            .find_map(|path| TreePath::parse(path).err())
        {
            return Err(Flaw::new("reports", bad.to_string()));
        }
        let facts = self.tool_facts()?;
        let names = names(&self.services, source)?;
        let template = |key, text: &Option<String>| {
            let parsed = text.as_deref();
            let parsed = parsed.map(|text| source.template_of(key, text, &names));
            parsed.transpose()
        };
        let stdin = template("stdin", &self.stdin)?;
        let cwd = template("cwd", &self.cwd)?;
        let fixed = cwd.iter().filter(|cwd| cwd.is_fixed());
        let mut fixed = fixed.map(Template::source).filter(|cwd| !cwd.is_empty());
        if let Some(bad) = fixed.find_map(|cwd| TreePath::parse(cwd).err()) {
            return Err(Flaw::new("cwd", bad.to_string()));
        }
        let keys = RunKeys {
            env: self.env,
            pass_env: self.pass_env,
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            writable: self.writable,
            services: self.services,
        };
        Ok(Box::new(Command {
            name: source.name.to_owned(),
            means: source.means.map(str::to_owned),
            plan: OrderPlan::build("argv", &self.argv, keys, source)?,
            cwd,
            stdin,
            reports: self.reports,
            exit: self.exit,
            unconfirmed_exit: self.unconfirmed_exit,
            facts,
            retries: self.retries,
            flaky: self.flaky,
            on_timeout: self.on_timeout,
        }))
    }
}

impl CommandSpec {
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let texts = self.argv.iter().chain(self.env.values());
        let texts = texts.chain(&self.stdin).chain(&self.cwd);
        texts.map(String::as_str)
    }

    pub(super) fn tool_facts(&self) -> Result<Option<ToolFacts>, Flaw> {
        let keys = ToolKeys {
            facts: self.facts.clone(),
            min_passed: self.min_passed,
            max_skipped: self.max_skipped,
        };
        ToolFacts::build(keys, &self.reports)
    }
}

impl Probe for Command {
    fn cost(&self) -> Cost {
        Cost::Command
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let order = match self.order(context) {
            Ok(order) => order,
            Err(found) => return vec![found],
        };
        let mut round = 0;
        loop {
            let run = context.run(
                &self.name,
                Order {
                    round,
                    ..order.clone()
                },
            );
            let found = self.judged(&run.order, &run.ran);
            let is_wrong = found.iter().any(|fact| fact.cause.is_wrong());
            if is_wrong && round < self.retries {
                round += 1;
                continue;
            }
            if found.is_empty() && round > 0 && self.flaky == Flaky::Review {
                let actual = format!("passed on try {} of {}", round + 1, self.retries + 1);
                return vec![Fact::wrong("it passes on the first try", actual).unconfirmed()];
            }
            return found;
        }
    }
}

impl Command {
    fn order(&self, context: &Context<'_>) -> Result<Order, Fact> {
        let values = self.plan.values(context)?;
        let order = self.plan.order(context, &values)?;
        Ok(Order {
            dir: self.dir(&values)?,
            stdin: rendered(self.stdin.as_ref(), &values, "stdin")?,
            reports: self.reports.clone(),
            ..order
        })
    }

    fn dir(&self, values: &Values) -> Result<String, Fact> {
        let dir = rendered(self.cwd.as_ref(), values, "cwd")?;
        if dir.is_empty() {
            return Ok(dir);
        }
        let path = TreePath::parse(&dir);
        let path = path.map_err(|bad| Fact::wrong("a directory of the tree", bad.to_string()));
        path.map(String::from).map_err(|wrong| wrong.at("cwd"))
    }

    /// What stands in the way after one round.
    fn judged(&self, order: &Order, ran: &Ran) -> Vec<Fact> {
        if let Some(found) = cut_short(order, ran, self.on_timeout) {
            return vec![found];
        }
        let End::Exited(code) = ran.end else {
            return Vec::new();
        };
        let facts = self.facts.as_ref();
        if self.exit.contains(&code) {
            return facts
                .map(|facts| facts.despite_success(ran))
                .unwrap_or_default();
        }
        if self.unconfirmed_exit.contains(&code) {
            return vec![wrong_code(&self.exit, code, ran, None).unconfirmed()];
        }
        let located = facts.map(|facts| facts.of_failure(ran)).unwrap_or_default();
        if located.is_empty() {
            return vec![wrong_code(&self.exit, code, ran, self.means.as_deref())];
        }
        located
    }
}

fn rendered(template: Option<&Template>, values: &Values, key: &str) -> Result<String, Fact> {
    let Some(template) = template else {
        return Ok(String::new());
    };
    let text = template.render(values);
    text.map_err(|bad| Fact::wrong("a text", bad.to_string()).at(key))
}

/// The table of the command that the key `from` names.
pub fn from_command(source: &Source<'_>, from: &str) -> Result<CommandSpec, Flaw> {
    let checks = source.file.checks.iter();
    let commands: Vec<_> = checks
        .filter(|raw| raw.text_of("kind") == Some("command"))
        .filter_map(|raw| Some((raw.text_of("name")?, raw)))
        .collect();
    let Some((_, raw)) = commands.iter().find(|(name, _)| *name == from) else {
        let known: Vec<_> = commands.iter().map(|(name, _)| *name).collect();
        return Err(Flaw::new("from", unknown_name("command", from, &known)));
    };
    let (_, own) = raw.part(CheckHead::KEYS);
    let spec: Result<CommandSpec, _> = own.read(source.file.text());
    let spec =
        spec.map_err(|mistake| Flaw::new("from", format!("`{from}` cannot be read: {mistake}")))?;
    for text in spec.texts() {
        source.told_by_template(text);
    }
    Ok(spec)
}
