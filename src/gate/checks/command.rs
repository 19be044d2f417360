//! `command`: a program that ends well over a copy of the tree.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::command_plan::{
    NetworkName, OnTimeout, OrderPlan, RunKeys, a_minute, names, ten_mebibytes,
};
use super::context::Context;
use super::kind::{Check, CheckConfig, CheckHead, Flaw, Found, Shows, Source};
use super::tool_facts::{FactsTable, ToolFacts, wrong_code};
use crate::gate::{Cost, Fact};
use crate::quest::file::unknown_name;
use crate::quest::template::{Template, Values};
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{CommandResult, CommandSpec, End};
use crate::world::tree::TreePath;

/// The most further rounds of a command that fails now and then.
const MAX_RETRIES: u32 = 10;

/// `kind = "command"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The program, the same for every quest, and its arguments, each a template. No shell is
    /// involved, and no submitted text becomes an option.
    argv: Vec<String>,
    /// Additional environment variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables that `scan` passes on and freezes.
    #[serde(default)]
    pass_env: Vec<String>,
    /// Its working directory, relative to the tree, as a template.
    cwd: Option<String>,
    /// Its standard input, as a template.
    stdin: Option<String>,
    /// How long it may take.
    #[serde(default = "a_minute")]
    timeout: Span,
    /// How much it may print.
    #[serde(default = "ten_mebibytes")]
    output_cap: ByteSize,
    /// The exit codes that pass.
    #[serde(default = "zero")]
    pub(super) exit: Vec<i32>,
    /// The exit codes that mean that the command cannot tell.
    #[serde(default)]
    pub(super) unconfirmed_exit: Vec<i32>,
    /// How its output becomes facts.
    facts: Option<FactsTable>,
    /// The files that it writes. Existing files of these names are removed first.
    #[serde(default)]
    pub(super) reports: Vec<String>,
    /// The fewest tests that must have passed; 1 where `facts` tells of tests.
    min_passed: Option<u32>,
    /// The most tests that may have been skipped.
    max_skipped: Option<u32>,
    /// How often it is run again while it fails.
    #[serde(default)]
    retries: u32,
    /// What it means that it passed only when run again.
    #[serde(default)]
    flaky: Flaky,
    /// What it may reach over the network.
    network: Option<NetworkName>,
    /// The absolute paths that it may write, in addition to its copy of the tree.
    #[serde(default)]
    writable: Vec<String>,
    /// The services that must be running.
    #[serde(default)]
    services: Vec<String>,
    /// What it means that it ran into its timeout.
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

struct Command {
    name: String,
    means: Option<String>,
    config: CommandConfig,
    plan: OrderPlan,
    cwd: Option<Template>,
    stdin: Option<Template>,
    facts: Option<ToolFacts>,
}

impl CheckConfig for CommandConfig {
    const KIND: &'static str = "command";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        if self.exit.is_empty() {
            return Err(Flaw::new("exit", "it is empty: nothing would pass"));
        }
        let mut codes = self.unconfirmed_exit.iter();
        if let Some(code) = codes.find(|code| self.exit.contains(code)) {
            let what = format!("the code {code} passes already, by `exit`");
            return Err(Flaw::new("unconfirmed_exit", what));
        }
        if self.retries > MAX_RETRIES {
            let what = format!("expected at most {MAX_RETRIES}");
            return Err(Flaw::new("retries", what));
        }
        let mut reports = self.reports.iter();
        if let Some(bad) = reports.find_map(|path| TreePath::parse(path).err()) {
            return Err(Flaw::new("reports", bad.to_string()));
        }
        let facts = self.tool_facts()?;
        let names = names(&self.services, source)?;
        let template = |key, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| source.template_of(key, text, &names))
                .transpose()
        };
        let stdin = template("stdin", &self.stdin)?;
        let cwd = template("cwd", &self.cwd)?;
        let fixed = cwd.iter().filter(|cwd| cwd.is_fixed());
        let mut fixed = fixed.map(Template::source).filter(|cwd| !cwd.is_empty());
        if let Some(bad) = fixed.find_map(|cwd| TreePath::parse(cwd).err()) {
            return Err(Flaw::new("cwd", bad.to_string()));
        }
        let keys = RunKeys {
            env: self.env.clone(),
            pass_env: self.pass_env.clone(),
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            writable: self.writable.clone(),
            services: self.services.clone(),
            on_timeout: self.on_timeout,
        };
        let command = Command {
            name: source.head.name.clone(),
            means: source.head.means.clone(),
            plan: OrderPlan::build("argv", &self.argv, keys, source)?,
            cwd,
            stdin,
            facts,
            config: self,
        };
        Ok(source.check(Cost::Command, move |context| command.run(context)))
    }
}

impl CommandConfig {
    pub(super) fn tool_facts(&self) -> Result<Option<ToolFacts>, Flaw> {
        let facts = self.facts.as_ref();
        ToolFacts::build(facts, self.min_passed, self.max_skipped, &self.reports)
    }
}

impl Command {
    fn run(&self, context: &Context<'_>) -> Found {
        let order = self.order(context)?;
        let mut round = 0;
        loop {
            let order = CommandSpec {
                round,
                ..order.clone()
            };
            let run = context.run(&self.name, order);
            let found = self.judged(&run.ran).unwrap_or_else(|fact| vec![fact]);
            if found.iter().any(|fact| fact.cause.is_wrong()) && round < self.config.retries {
                round += 1;
                continue;
            }
            if found.is_empty() && round > 0 && self.config.flaky == Flaky::Review {
                let tries = self.config.retries + 1;
                let actual = format!("passed on try {} of {tries}", round + 1);
                return Err(Fact::wrong("it passes on the first try", actual).unconfirmed());
            }
            return Ok(found);
        }
    }

    fn order(&self, context: &Context<'_>) -> Result<CommandSpec, Fact> {
        let values = self.plan.values(context)?;
        let order = self.plan.order(context, &values)?;
        let mut dir = rendered(self.cwd.as_ref(), &values, "cwd")?;
        if !dir.is_empty() {
            let path = TreePath::parse(&dir);
            let wrong =
                |bad: &dyn ToString| Fact::wrong("a directory of the tree", bad.to_string());
            dir = path.map_err(|bad| wrong(&bad).at("cwd"))?.into();
        }
        Ok(CommandSpec {
            dir,
            stdin: rendered(self.stdin.as_ref(), &values, "stdin")?,
            reports: self.config.reports.clone(),
            ..order
        })
    }

    /// What stands in the way after one round.
    fn judged(&self, ran: &CommandResult) -> Found {
        self.plan.ended(ran)?;
        let End::Exited(code) = ran.end else {
            return Ok(Vec::new());
        };
        let (exit, facts) = (&self.config.exit, self.facts.as_ref());
        if exit.contains(&code) {
            return Ok(facts.map_or_else(Vec::new, |facts| facts.despite_success(ran)));
        }
        if self.config.unconfirmed_exit.contains(&code) {
            return Err(wrong_code(exit, code, ran, None).unconfirmed());
        }
        let located = facts.map_or_else(Vec::new, |facts| facts.of_failure(ran));
        if located.is_empty() {
            return Err(wrong_code(exit, code, ran, self.means.as_deref()));
        }
        Ok(located)
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
pub fn from_command(source: &Source<'_>, from: &str) -> Result<CommandConfig, Flaw> {
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
    let config: Result<CommandConfig, _> = own.read(source.file.text());
    let config = config
        .map_err(|mistake| Flaw::new("from", format!("`{from}` cannot be read: {mistake}")))?;
    let texts = config.argv.iter().chain(config.env.values());
    for text in texts.chain(&config.stdin).chain(&config.cwd) {
        source.told_by_template(text);
    }
    Ok(config)
}
