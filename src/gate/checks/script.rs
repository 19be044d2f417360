//! `script`: a program next to the quest file decides.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::command::with_meaning;
use super::command_plan::{CommandPlan, NetworkName, RunKeys, a_minute, tail, ten_mebibytes};
use super::context::Context;
use super::field_usage::read_by_script;
use super::kind::{Check, CheckConfig, Flaw, Found, Source};
use crate::base::text::truncate;
use crate::gate::{Cost, Fact};
use crate::quest::json::whole_text;
use crate::quest::template::Values;
use crate::quest::{ByteSize, Field, Span, Verdict, json};
use crate::world::sandbox::{CommandResult, CommandSpec, Edit, End};

/// `kind = "script"`.
///
/// It reads `{"quest": {"id", "key", "input"}, "submission"}` as JSON, and answers
/// `{"verdict": "PASS", "facts": []}` as JSON, or by its code: 0 passes, 1 fails, 2 cannot tell.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptConfig {
    /// The path of the script, relative to the quest file. `scan` freezes the script.
    script: String,
    /// The program that runs it, and the arguments before the script.
    interpreter: Vec<String>,
    /// Additional environment variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables that `scan` passes on and freezes.
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
}

impl CheckConfig for ScriptConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        let fixed = |text: &&String| source.template("interpreter", text).map(|it| it.is_fixed());
        if let Some(text) = self.interpreter.iter().find(|text| fixed(text) != Ok(true)) {
            let what = format!("`{text}`: expected a text that is the same for every quest");
            return Err(Flaw::new("interpreter", what));
        }
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
        };
        Ok(source.check(Cost::Command, move |context| script.run(context)))
    }
}

impl Script {
    fn run(&self, context: &Context<'_>) -> Found {
        self.alone(context)?;
        let ran = &context.run(&self.plan.check, self.order(context)?).ran;
        match ran.end {
            // What such an end says of a submission is the script's to say.
            End::Exited(_) | End::Signalled(_) => {}
            // What was submitted is what makes one run print more than another.
            End::TooMuchOutput => self.plan.ended(ran).map_err(|fact| fact.at(&*self.file))?,
            _ => self.plan.ended(ran)?,
        }
        Ok(judged(ran, &context.kind.fields, self.means.as_deref()))
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
/// It passes by saying so and nothing else, or by a code alone; what cannot be read, or
/// contradicts itself, confirms nothing.
pub fn judged(ran: &CommandResult, fields: &[Field], means: Option<&str>) -> Vec<Fact> {
    let (verdict, mut facts) = match answered(ran, fields) {
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
fn answered(ran: &CommandResult, fields: &[Field]) -> Result<(Verdict, Vec<Fact>), String> {
    let (code, by_code) = match ran.end {
        End::Exited(0) => (0, Verdict::Pass),
        End::Exited(1) => (1, Verdict::Fail),
        End::Exited(2) => (2, Verdict::Review),
        End::Exited(code) => return Err(format!("it exited with the code {code}")),
        End::Signalled(signal) => return Err(format!("it was killed by signal {signal}")),
        _ => return Err(String::from("it did not exit by itself")),
    };
    let said = ran.stdout.trim_ascii();
    // What the script says may come after words that code under test printed.
    if said.is_empty() || (code == 1 && !said.starts_with(b"{")) {
        return Ok((by_code, Vec::new()));
    }
    if !said.starts_with(b"{") {
        return Err(format!(
            "it exited with the code {code}, and printed no answer"
        ));
    }
    // What a script repeats of a submission need be no text, and is the submission's doing.
    let answer = json::value(&whole_text(said)).and_then(serde_json::from_value::<Answer>);
    let answer = answer.map_err(|error| format!("it cannot be read ({error})"))?;
    let verdict = answer.verdict;
    let agrees = match verdict {
        Verdict::Pass => code == 0,
        // A script that has said its verdict in words may well end as one that has done its work.
        Verdict::Fail => code != 2,
        Verdict::Review => code != 1,
    };
    if !agrees {
        return Err(format!("it says {verdict} and ends with the code {code}"));
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
