//! `script`: a program next to the quest file decides.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::command::with_meaning;
use super::command_plan::{CommandPlan, NetworkName, RunKeys, a_minute, tail, ten_mebibytes};
use super::context::Context;
use super::field_usage::read_by_script;
use super::kind::{Check, CheckConfig, Flaw, Found, Source};
use super::passing_control::PassingControl;
use crate::base::text::truncate;
use crate::gate::{Cost, Fact};
use crate::quest::json::whole_text;
use crate::quest::template::Values;
use crate::quest::{ByteSize, Field, Span, Verdict, json};
use crate::world::sandbox::{CommandResult, CommandSpec, Edit, End};

/// `kind = "script"`.
///
/// It reads `{"quest": {"id", "key", "input"}, "submission"}` as JSON and prints
/// `{"verdict": "PASS", "facts": []}` as JSON, or answers by its exit code: 0 passes, and the other
/// codes are those that `fail_exit` and `unconfirmed_exit` name. Without a `fail_exit`, it must print
/// its answer. After any other end, and after an answer with the code 0 that cannot be read, comail
/// runs it on the control that passes. If it ends like that there too, the script is broken and
/// nothing is judged; otherwise the submission made it crash and fails.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptConfig {
    /// The path of the script, relative to the quest file. `scan` freezes the script.
    script: String,
    /// The program that runs it, and the arguments before the script.
    interpreter: Vec<String>,
    /// The exit codes, from 3 to 125, by which it says that the submission is wrong.
    #[serde(default)]
    fail_exit: Vec<i32>,
    /// The exit codes, from 3 to 125, by which it says that it cannot tell.
    #[serde(default)]
    unconfirmed_exit: Vec<i32>,
    /// Additional environment variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables that `scan` passes on and freezes. Paths in them may be read.
    #[serde(default)]
    pass_env: Vec<String>,
    /// How long it may take.
    #[serde(default = "a_minute")]
    timeout: Span,
    /// How much it may print.
    #[serde(default = "ten_mebibytes")]
    output_cap: ByteSize,
    /// What it may reach over the network.
    network: Option<NetworkName>,
    /// The services that must be running.
    #[serde(default)]
    services: Vec<String>,
}

struct Script {
    means: Option<String>,
    plan: CommandPlan,
    /// The folder in the copy of the tree that is the script's alone.
    folder: String,
    edit: Edit,
    file: String,
    has_tree: bool,
    exits: Exits,
    /// None in `[final]`, whose checks are about no submission.
    control: Option<PassingControl>,
}

/// What each exit code of a script means, apart from 0.
pub struct Exits {
    fail: Vec<i32>,
    unconfirmed: Vec<i32>,
}

impl CheckConfig for ScriptConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let fixed = |text: &&String| source.template("interpreter", text).map(|it| it.is_fixed());
        if let Some(text) = self.interpreter.iter().find(|text| fixed(text) != Ok(true)) {
            let what = format!("`{text}`: expected a text that is the same for every quest");
            return Err(Flaw::new("interpreter", what));
        }
        let exits = Exits::build(self.fail_exit, self.unconfirmed_exit)?;
        let text = source.asset("script", &self.script)?;
        source.given(read_by_script(&text, &source.file.fields));
        let file = self.script.rsplit(['/', '\\']).next().unwrap_or_default();
        let folder = format!(".comail/{}", source.head.name);
        let keys = RunKeys {
            env: self.env,
            pass_env: self.pass_env,
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            services: self.services,
        };
        let script = Script {
            means: source.head.means.clone(),
            plan: CommandPlan::build("interpreter", &self.interpreter, keys, source)?,
            edit: Edit {
                path: format!("{folder}/{file}"),
                text,
            },
            folder,
            file: file.to_owned(),
            has_tree: source.file.tree.is_some(),
            exits,
            control: PassingControl::of(source.file),
        };
        Ok(source.check(Cost::Command, move |context| script.run(context)))
    }
}

impl Script {
    fn run(&self, context: &Context<'_>) -> Found {
        self.alone(context)?;
        let ran = &context.run(&self.plan.check, self.order(context)?).ran;
        let fields = &context.kind.fields;
        match &ran.end {
            End::NotStarted(_) | End::Withheld(_) => self.plan.ended(ran)?,
            _ if self.has_crashed(ran, fields) => return Err(self.crashed(ran, context)),
            _ => {}
        }
        Ok(judged(ran, &self.exits, fields, self.means.as_deref()))
    }

    /// Whether the script has given no verdict. The code 0 gives none if an answer beside it cannot be
    /// read: code under test can print to the same output, and must not turn FAIL into REVIEW.
    fn has_crashed(&self, ran: &CommandResult, fields: &[Field]) -> bool {
        match self.exits.verdict(ran) {
            None => true,
            Some(Verdict::Pass) => answered(ran, &self.exits, fields).is_err(),
            Some(Verdict::Fail | Verdict::Review) => false,
        }
    }

    /// The fact about a script that ended without an answer: the submission is wrong, unless the
    /// script ends like that on the control that passes too.
    fn crashed(&self, ran: &CommandResult, context: &Context<'_>) -> Fact {
        let fact = self.crash(ran, context).at(&*self.file);
        let Some(control) = &self.control else {
            return fact.unconfirmed();
        };
        let what = format!("the script {} crashes", self.file);
        control.blame(&what, fact, context, |of_control| {
            match self.order(of_control) {
                Err(fact) => Some(fact),
                Ok(order) => {
                    let ran = of_control.world.sandbox.run(&order);
                    let has_crashed = self.has_crashed(&ran, &of_control.kind.fields);
                    has_crashed.then(|| self.crash(&ran, of_control))
                }
            }
        })
    }

    fn crash(&self, ran: &CommandResult, context: &Context<'_>) -> Fact {
        if ran.end == End::Exited(0)
            && let Err(why) = answered(ran, &self.exits, &context.kind.fields)
        {
            let actual = format!("{why}: {}", tail(ran));
            return Fact::wrong("the script prints its answer as JSON", actual);
        }
        if let End::Exited(code) = ran.end {
            let actual = format!("it exited with the code {code}: {}", tail(ran));
            return Fact::wrong(self.exits.expected(), actual);
        }
        let stopped = self.plan.ended(ran).err();
        stopped.unwrap_or_else(|| Fact::wrong(self.exits.expected(), tail(ran)))
    }

    /// That the script is alone in its folder: an interpreter may load a file next to the script
    /// instead of its own library.
    fn alone(&self, context: &Context<'_>) -> Result<(), Fact> {
        // A quest file without a tree is run in an empty directory.
        if !self.has_tree {
            return Ok(());
        }
        let expected = format!("nothing in the tree at {}", self.folder);
        let changes = context.world.sandbox.changes();
        let changes = changes.map_err(|why| Fact::wrong(&*expected, why).unconfirmed())?;
        // A file in place of one of the parent folders is in the way as well.
        let in_the_way =
            |path: &str| is_within(path, &self.folder) || is_within(&self.folder, path);
        match changes.iter().find(|change| in_the_way(&change.path)) {
            Some(change) => Err(Fact::wrong(expected, &*change.how).at(&*change.path)),
            None => Ok(()),
        }
    }

    fn order(&self, context: &Context<'_>) -> Result<CommandSpec, Fact> {
        let values = self.plan.values(context)?;
        let mut order = self.plan.order(context, &values)?;
        order.argv.push(self.edit.path.clone());
        order.edits.push(self.edit.clone());
        order.stdin = told(context, &values);
        Ok(order)
    }
}

impl Exits {
    fn build(fail: Vec<i32>, unconfirmed: Vec<i32>) -> Result<Self, Flaw> {
        for (key, codes) in [("fail_exit", &fail), ("unconfirmed_exit", &unconfirmed)] {
            // Interpreters and shells end with the others when a script crashes.
            if let Some(code) = codes.iter().find(|code| !(3..=125).contains(*code)) {
                let what = format!(
                    "{code}: expected a code from 3 to 125, because a script that crashes ends \
                     with 1, 2 or a code from 126"
                );
                return Err(Flaw::new(key, what));
            }
        }
        if let Some(code) = fail.iter().find(|code| unconfirmed.contains(code)) {
            let what = format!("the code {code} is in `fail_exit` too");
            return Err(Flaw::new("unconfirmed_exit", what));
        }
        Ok(Self { fail, unconfirmed })
    }

    /// The verdict that the exit code gives; none for a crash.
    fn verdict(&self, ran: &CommandResult) -> Option<Verdict> {
        match &ran.end {
            // Code under test can end the script with 0 before the script has looked.
            End::Exited(0) if self.fail.is_empty() && ran.stdout.trim_ascii().is_empty() => None,
            End::Exited(0) => Some(Verdict::Pass),
            End::Exited(code) if self.fail.contains(code) => Some(Verdict::Fail),
            End::Exited(code) if self.unconfirmed.contains(code) => Some(Verdict::Review),
            _ => None,
        }
    }

    fn expected(&self) -> String {
        let mut codes = [0].iter().chain(&self.fail).chain(&self.unconfirmed);
        format!("the script exits with the code {}", codes.join(" or "))
    }
}

fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn told(context: &Context<'_>, values: &Values) -> String {
    let submitted = |name: &str| context.case.submission.field(name);
    let fields = context.kind.fields.iter();
    let submission: BTreeMap<_, _> = fields
        .filter_map(|field| Some((field.name.as_str(), submitted(field.name.as_str())?)))
        .collect();
    let quest = &context.case.quest;
    json!({
        "quest": {"id": quest.id, "key": values.key, "input": values.input},
        "submission": submission,
    })
    .to_string()
}

const MAX_TEXT: usize = 2_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    verdict: Verdict,
    #[serde(default)]
    facts: Vec<ScriptFact>,
    #[serde(default, rename = "evidence")]
    _evidence: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFact {
    field: Option<String>,
    location: Option<String>,
    expected: String,
    actual: String,
}

/// The facts of a script's answer.
///
/// It passes by saying so and nothing else, or by a code alone. The code of FAIL always fails. After
/// the code of REVIEW, what cannot be read, or contradicts itself, confirms nothing; after the code 0,
/// it is a crash.
pub fn judged(
    ran: &CommandResult,
    exits: &Exits,
    fields: &[Field],
    means: Option<&str>,
) -> Vec<Fact> {
    let (verdict, mut facts) = match answered(ran, exits, fields) {
        Ok(answer) => answer,
        Err(why) => {
            let actual = format!("{why}: {}", tail(ran));
            return vec![Fact::wrong("an answer from the script", actual).unconfirmed()];
        }
    };
    if verdict != Verdict::Pass && facts.is_empty() {
        let actual = format!("it says {verdict}: {}", tail(ran));
        // If the script cannot tell, what the check's failure means does not apply.
        let means = means.filter(|_| verdict == Verdict::Fail);
        let actual = with_meaning(means, actual);
        facts.push(Fact::wrong("the script passes it", actual));
    }
    if verdict == Verdict::Review {
        facts = facts.into_iter().map(Fact::unconfirmed).collect();
    }
    facts
}

/// The verdict of a script with its facts, or why it has given none.
fn answered(
    ran: &CommandResult,
    exits: &Exits,
    fields: &[Field],
) -> Result<(Verdict, Vec<Fact>), String> {
    let by_code = exits.verdict(ran).ok_or("it exited without an answer")?;
    let said = ran.stdout.trim_ascii();
    if said.is_empty() {
        return Ok((by_code, Vec::new()));
    }
    match printed(said, by_code, fields) {
        // Code under test can print to the same output, but it does not choose the code.
        Err(_) if by_code == Verdict::Fail => Ok((by_code, Vec::new())),
        answer => answer,
    }
}

/// The answer that a script printed, which must agree with its exit code.
fn printed(
    said: &[u8],
    by_code: Verdict,
    fields: &[Field],
) -> Result<(Verdict, Vec<Fact>), String> {
    if !said.starts_with(b"{") {
        return Err(format!(
            "it ended with the code of {by_code}, and printed no answer"
        ));
    }
    // What a script repeats of a submission need be no text, and is the submission's doing.
    let answer = json::value(&whole_text(said)).and_then(serde_json::from_value::<Answer>);
    let answer = answer.map_err(|error| format!("it cannot be read ({error})"))?;
    let verdict = answer.verdict;
    let agrees = match verdict {
        Verdict::Pass => by_code == Verdict::Pass,
        // A script that has said its verdict in words may well end as one that has done its work.
        Verdict::Fail => by_code != Verdict::Review,
        Verdict::Review => by_code != Verdict::Fail,
    };
    if !agrees {
        return Err(format!(
            "it says {verdict}, and ends with the code of {by_code}"
        ));
    }
    if verdict == Verdict::Pass && !answer.facts.is_empty() {
        return Err(String::from("it says PASS, but also lists facts"));
    }
    let facts = answer.facts.into_iter().map(|fact| fact.read(fields));
    Ok((verdict, facts.collect::<Result<_, _>>()?))
}

impl ScriptFact {
    fn read(self, fields: &[Field]) -> Result<Fact, String> {
        let brief = |text: &str| truncate(text, MAX_TEXT).into_owned();
        let mut fact = Fact::wrong(brief(&self.expected), brief(&self.actual));
        fact.location = self.location.map(|place| brief(&place).into());
        if let Some(name) = self.field {
            let field = fields.iter().find(|field| field.name.as_str() == name);
            let unknown = || format!("it names a field `{name}` that does not exist");
            fact.field = Some(field.ok_or_else(unknown)?.name.clone());
        }
        Ok(fact)
    }
}
