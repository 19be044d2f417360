//! `command`: a program that ends well over a copy of the tree.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Deserialize;

use super::canary::{Canary, CanaryTable, ListTable, Planted, TestList};
use super::command_plan::{
    CommandPlan, NetworkName, RunKeys, a_minute, names, tail, ten_mebibytes,
};
use super::context::{Context, Run};
use super::kind::{Check, CheckConfig, CheckHead, Flaw, Found, Source};
use super::passing_control::PassingControl;
use crate::gate::common_rules::SILENT_CANARY;
use crate::gate::tools::{TestReport, read_junit, read_libtest};
use crate::gate::{Cost, Fact, Rule};
use crate::quest::file::unknown_name;
use crate::quest::template::{Template, Values};
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{CommandResult, CommandSpec, End};
use crate::world::tree::TreePath;

/// `kind = "command"`.
///
/// Where the command runs tests, the code that they test runs with the test runner, and can end it or
/// write its report. `facts` counts the tests, `list` is held against their number, and `canary` adds
/// a test that must be reported as failed. `comail help mutation` says what is left to a cheat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// The program, the same for every quest, and its arguments, each a template. No shell is
    /// involved, and no submitted text becomes an option.
    argv: Vec<String>,
    /// Additional environment variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables that `scan` passes on and freezes. Paths in them may be read.
    #[serde(default)]
    pass_env: Vec<String>,
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
    /// The most tests that may have been skipped; 0 where `facts` tells of tests.
    max_skipped: Option<u32>,
    /// How the tests are listed. As many must be in the report that `facts` reads.
    list: Option<ListTable>,
    /// A test that is added once the command has passed. Then the command must fail, and the report
    /// that `facts` reads must have that test as failed and the others as before; else it is FAIL by
    /// the rule `silent-canary`. The command must run all tests after one has failed: `cargo test`
    /// needs `--no-fail-fast`.
    canary: Option<CanaryTable>,
    /// What it may reach over the network.
    network: Option<NetworkName>,
    /// The services that must be running.
    #[serde(default)]
    services: Vec<String>,
}

/// `facts = { … }`: how a command's output is read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactsTable {
    /// The format.
    adapter: Format,
    /// `stdout`, `stderr`, or one of the check's `reports`.
    #[serde(default = "stdout")]
    from: String,
}

/// A format that facts are read from.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Format {
    /// `JUnit`'s XML, which most test runners write.
    Junit,
    /// What `cargo test` prints to `stdout`, without `--quiet`.
    Libtest,
}

fn stdout() -> String {
    String::from("stdout")
}

fn zero() -> Vec<i32> {
    vec![0]
}

struct Command {
    means: Option<String>,
    config: CommandConfig,
    plan: CommandPlan,
    stdin: Option<Template>,
    list: Option<TestList>,
    canary: Option<Canary>,
    /// None in `[final]`, whose checks are about no submission.
    control: Option<PassingControl>,
}

static OWN_RULES: [Rule; 1] = [SILENT_CANARY];

impl CheckConfig for CommandConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        if self.exit.is_empty() {
            return Err(Flaw::new("exit", "it is empty: nothing would pass"));
        }
        let mut codes = self.unconfirmed_exit.iter();
        if let Some(code) = codes.find(|code| self.exit.contains(code)) {
            let what = format!("the code {code} passes already, by `exit`");
            return Err(Flaw::new("unconfirmed_exit", what));
        }
        let mut reports = self.reports.iter();
        if let Some(bad) = reports.find_map(|path| TreePath::parse(path).err()) {
            return Err(Flaw::new("reports", bad.to_string()));
        }
        self.facts_hold()?;
        let names = names(&self.services, source)?;
        let stdin = self.stdin.as_ref();
        let stdin = stdin.map(|text| source.template_of("stdin", text, &names));
        let keys = RunKeys {
            env: self.env.clone(),
            pass_env: self.pass_env.clone(),
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            services: self.services.clone(),
        };
        let list = self.list.as_ref();
        let list = list.map(|table| TestList::build(table, keys.clone(), source));
        let canary = self.canary.as_ref();
        let canary = canary.map(|table| Canary::build(table, &names, source));
        let command = Command {
            means: source.head.means.clone(),
            list: list.transpose()?,
            canary: canary.transpose()?,
            plan: CommandPlan::build("argv", &self.argv, keys, source)?,
            stdin: stdin.transpose()?,
            control: PassingControl::of(source.file),
            config: self,
        };
        let own: &[Rule] = match command.canary {
            Some(_) => &OWN_RULES,
            None => &[],
        };
        let run = move |context: &Context<'_>| command.run(context);
        Ok(source.check_with(Cost::Command, own, run))
    }
}

impl CommandConfig {
    /// That bounds of tests and facts have a report from which they are read.
    fn facts_hold(&self) -> Result<(), Flaw> {
        let bounds = [
            ("min_passed", self.min_passed.is_some()),
            ("max_skipped", self.max_skipped.is_some()),
            ("list", self.list.is_some()),
            ("canary", self.canary.is_some()),
        ];
        let Some(FactsTable { from, .. }) = &self.facts else {
            let needs = "it needs `facts`, which tells how tests are counted, such as \
                         `facts = { adapter = \"junit\", from = \"junit.xml\" }`";
            let bound = bounds.into_iter().find(|(_, is_said)| *is_said);
            return bound.map_or(Ok(()), |(key, _)| Err(Flaw::new(key, needs)));
        };
        if !["stdout", "stderr"].contains(&from.as_str()) && !self.reports.contains(from) {
            let what = format!("`{from}` is neither stdout, nor stderr, nor one of `reports`");
            return Err(Flaw::new("facts", what));
        }
        Ok(())
    }

    /// What the command reported of tests; none where its table names no report.
    pub(super) fn test_report(&self, ran: &CommandResult) -> Option<Result<TestReport, String>> {
        let FactsTable { adapter, from } = self.facts.as_ref()?;
        let bytes = match from.as_str() {
            "stdout" => Some(&ran.stdout),
            "stderr" => Some(&ran.stderr),
            report => ran.reports.get(report).and_then(Option::as_ref),
        };
        let Some(bytes) = bytes else {
            return Some(Err(format!("the command did not write {from}")));
        };
        let report = match adapter {
            Format::Junit => read_junit(bytes),
            Format::Libtest => read_libtest(bytes),
        };
        Some(report.map_err(|unread| format!("in {from}: {unread}")))
    }

    fn despite_success(&self, ran: &CommandResult) -> Vec<Fact> {
        // Where nothing has run nothing was shown, whatever the code says.
        let min_passed = self.min_passed.unwrap_or(1);
        let least = format!("at least {min_passed} passed tests");
        let report = match self.test_report(ran) {
            None => return Vec::new(),
            Some(Ok(report)) => report,
            Some(Err(_)) if min_passed == 0 && self.max_skipped.is_none() => return Vec::new(),
            Some(Err(why)) => {
                let actual = format!("the command succeeded, but reported no test: {why}");
                return vec![Fact::wrong(least, actual)];
            }
        };
        let mut found = Vec::new();
        if report.failed > 0 {
            let actual = format!("the command succeeded, but {} tests failed", report.failed);
            found.push(Fact::wrong("no failed test", actual));
        }
        if report.passed < min_passed {
            found.push(Fact::wrong(least, format!("{} passed", report.passed)));
        }
        let most = self.max_skipped.unwrap_or(0);
        if report.skipped > most {
            let expected = format!("at most {most} skipped tests");
            found.push(Fact::wrong(expected, format!("{} skipped", report.skipped)));
        }
        found
    }
}

impl Command {
    fn run(&self, context: &Context<'_>) -> Found {
        let values = self.plan.values(context)?;
        let run = context.run(&self.plan.check, self.order(context, &values)?);
        if self.has_broken(&run.ran)
            && let Some(control) = &self.control
        {
            return Err(self.broken(control, self.wrong(&run.ran), context));
        }
        let found = self.judged(&run.ran)?;
        if found.is_empty() {
            self.proven(context, &values, &run)?;
        }
        Ok(found)
    }

    /// Whether the command ended as one does that cannot work: stopped, killed, or without a program that
    /// it starts (<https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html>, 2.8.2).
    fn has_broken(&self, ran: &CommandResult) -> bool {
        match ran.end {
            End::Signalled(_) | End::TimedOut => true,
            End::Exited(code @ (126 | 127)) => {
                let known = [&self.config.exit, &self.config.unconfirmed_exit];
                !known.iter().any(|codes| codes.contains(&code))
            }
            _ => false,
        }
    }

    fn broken(&self, control: &PassingControl, fact: Fact, context: &Context<'_>) -> Fact {
        let what = format!("the command of `{}` ends like that", self.plan.check);
        control.blame(&what, fact, context, |of_control| {
            let values = self.plan.values(of_control);
            match values.and_then(|values| self.order(of_control, &values)) {
                Err(fact) => Some(fact),
                Ok(order) => {
                    let ran = of_control.world.sandbox.run(&order);
                    self.has_broken(&ran).then(|| self.wrong(&ran))
                }
            }
        })
    }

    fn wrong(&self, ran: &CommandResult) -> Fact {
        match (self.plan.ended(ran), &ran.end) {
            (Err(fact), _) => fact,
            (Ok(()), End::Exited(code)) => {
                wrong_code(&self.config.exit, *code, ran, self.means.as_deref())
            }
            (Ok(()), _) => Fact::wrong("it exits by itself", tail(ran)),
        }
    }

    /// That the report of a run that passed tells what the tests did.
    fn proven(&self, context: &Context<'_>, values: &Values, run: &Run) -> Result<(), Fact> {
        let report = self.config.test_report(&run.ran);
        let report = report.and_then(Result::ok).unwrap_or_default();
        if let Some(list) = &self.list {
            list.holds(context, values, report.all())?;
        }
        if let Some(canary) = &self.canary {
            let planted = canary.run(context, values, run)?;
            self.plan.ended(&planted.ran)?;
            self.is_sure(&planted.ran)?;
            let is_told = self.tells(&planted, &report);
            is_told.map_err(|why| planted.silent(&why))?;
        }
        Ok(())
    }

    /// That the command fails with the planted test, and reports it as the only change.
    fn tells(&self, planted: &Planted, before: &TestReport) -> Result<(), String> {
        if matches!(planted.ran.end, End::Exited(code) if self.config.exit.contains(&code)) {
            return Err(String::from("the command succeeded with it"));
        }
        let report = match self.config.test_report(&planted.ran) {
            None => return Err(String::from("no report of tests is read")),
            Some(report) => report?,
        };
        let is_it = |fact: &Fact| fact.actual.contains(&planted.letters);
        if report.failed != 1 || !report.facts.iter().any(is_it) {
            let failed = report.failed;
            return Err(format!(
                "{failed} tests are reported as failed, and not it alone"
            ));
        }
        let counts = |report: &TestReport| (report.passed, report.skipped);
        if counts(&report) == counts(before) {
            return Ok(());
        }
        let [now, then] = [counts(&report), counts(before)]
            .map(|(passed, skipped)| format!("{passed} passed and {skipped} were skipped"));
        Err(format!("of the others {now}, but without it {then}"))
    }

    fn order(&self, context: &Context<'_>, values: &Values) -> Result<CommandSpec, Fact> {
        let order = self.plan.order(context, values)?;
        let stdin = self
            .stdin
            .as_ref()
            .map_or_else(|| Ok(String::new()), |template| template.render(values));
        let stdin = stdin.map_err(|bad| Fact::wrong("a text", bad.to_string()).at("stdin"))?;
        Ok(CommandSpec {
            stdin,
            reports: self.config.reports.clone(),
            ..order
        })
    }

    /// That the command could tell.
    fn is_sure(&self, ran: &CommandResult) -> Result<(), Fact> {
        match ran.end {
            End::Exited(code) if self.config.unconfirmed_exit.contains(&code) => {
                Err(wrong_code(&self.config.exit, code, ran, None).unconfirmed())
            }
            _ => Ok(()),
        }
    }

    fn judged(&self, ran: &CommandResult) -> Found {
        self.plan.ended(ran)?;
        let End::Exited(code) = ran.end else {
            return Ok(Vec::new());
        };
        let exit = &self.config.exit;
        if exit.contains(&code) {
            return Ok(self.config.despite_success(ran));
        }
        self.is_sure(ran)?;
        match self.config.test_report(ran) {
            Some(Ok(report)) if !report.facts.is_empty() => Ok(report.facts),
            _ => Err(wrong_code(exit, code, ran, self.means.as_deref())),
        }
    }
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
    Ok(config)
}

/// That the command ended with a code which it must not end with.
fn wrong_code(codes: &[i32], code: i32, ran: &CommandResult, means: Option<&str>) -> Fact {
    let expected = format!("it exits with the code {}", codes.iter().join(" or "));
    let actual = format!("it exited with the code {code}: {}", tail(ran));
    Fact::wrong(expected, with_meaning(means, actual))
}

/// What a program printed, after the check's own words: by itself it may say little.
pub fn with_meaning(means: Option<&str>, actual: String) -> String {
    match means {
        Some(means) => format!("{means}: {actual}"),
        None => actual,
    }
}
