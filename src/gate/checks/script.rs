//! `script`: a program beside the quest file decides.

use crate::gate::Fact;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::context::Context;
use super::kind::Probe;
use super::kind::{Flaw, Shows, Source, Spec};
use super::orders::{
    NetworkName, OnTimeout, OrderPlan, RunKeys, a_minute, cut_short, ten_mebibytes, too_much,
};
use super::script_answer::judged;
use crate::gate::Cost;
use crate::quest::template::Values;
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{Edit, End, Order};

/// `kind = "script"`.
///
/// It reads `{"quest": {"id", "key", "input"}, "submission"}` as JSON, and answers
/// `{"verdict": "PASS", "facts": []}` as JSON, or by its code: 0 passes, 1 fails, 2 cannot tell.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// The script, relative to the quest file. It is frozen at the scan.
    script: String,
    /// The program that runs it, and what stands before it among the arguments.
    interpreter: Vec<String>,
    /// Further variables, as templates.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variables of `scan`'s own environment that are frozen for it.
    #[serde(default)]
    pass_env: Vec<String>,
    /// How long it may take.
    #[serde(default = "a_minute")]
    timeout: Span,
    /// How much it may print.
    #[serde(default = "ten_mebibytes")]
    output_cap: ByteSize,
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

#[derive(Debug)]
struct Script {
    name: String,
    means: Option<String>,
    plan: OrderPlan,
    /// The folder in the copy of the tree that is the script's alone.
    folder: String,
    edit: Edit,
    /// The script's name, without the folder.
    file: String,
    on_timeout: OnTimeout,
    has_tree: bool,
}

impl Spec for ScriptSpec {
    const KIND: &'static str = "script";
    const SHOWS: Shows = Shows::Fact;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let fixed = |text: &&String| source.template("interpreter", text).map(|it| it.is_fixed());
        if let Some(text) = self.interpreter.iter().find(|text| fixed(text) != Ok(true)) {
            let what = format!("`{text}`: expected a text that is the same for every quest");
            return Err(Flaw::new("interpreter", what));
        }
        let text = source.beside("script", &self.script)?;
        source.told_to_script(&text);
        let file = self.script.rsplit(['/', '\\']).next().unwrap_or_default();
        let folder = format!(".comail/{}", source.name);
        let keys = RunKeys {
            env: self.env,
            pass_env: self.pass_env,
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            writable: self.writable,
            services: self.services,
        };
        Ok(Box::new(Script {
            name: source.name.to_owned(),
            means: source.means.map(str::to_owned),
            plan: OrderPlan::build("interpreter", &self.interpreter, keys, source)?,
            edit: Edit {
                path: format!("{folder}/{file}"),
                text,
            },
            folder,
            file: file.to_owned(),
            on_timeout: self.on_timeout,
            has_tree: source.file.tree.is_some(),
        }))
    }
}

impl Probe for Script {
    fn cost(&self) -> Cost {
        Cost::Command
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let order = self.alone(context).and_then(|()| self.order(context));
        let run = match order {
            Ok(order) => context.run(&self.name, order),
            Err(found) => return vec![found],
        };
        match run.ran.end {
            End::TimedOut | End::NotStarted(_) | End::Withheld(_) => {
                cut_short(&run.order, &run.ran, self.on_timeout)
                    .into_iter()
                    .collect()
            }
            // What was submitted is what makes one run print more than another.
            End::TooMuchOutput => vec![too_much(&run.order).at(&*self.file)],
            _ => judged(&run.ran, &context.kind.fields, self.means.as_deref()),
        }
    }
}

impl Script {
    /// That nobody has put anything beside the script, which an interpreter may load in place of
    /// what belongs to it.
    fn alone(&self, context: &Context<'_>) -> Result<(), Fact> {
        // A quest file without a tree is run in an empty directory.
        if !self.has_tree {
            return Ok(());
        }
        let expected = format!("nothing in the tree at {}", self.folder);
        let changes = context.world.workshop.changes();
        let changes = changes.map_err(|why| Fact::wrong(&*expected, why).unconfirmed())?;
        // What stands where a folder on the way is needed, is in the way as well.
        let in_the_way =
            |path: &str| is_within(path, &self.folder) || is_within(&self.folder, path);
        match changes.iter().find(|change| in_the_way(&change.path)) {
            Some(change) => {
                let detail = Fact::wrong(expected, &*change.how);
                Err(detail.at(&*change.path))
            }
            None => Ok(()),
        }
    }

    fn order(&self, context: &Context<'_>) -> Result<Order, Fact> {
        let values = self.plan.values(context)?;
        let mut order = self.plan.order(context, &values)?;
        order.argv.push(self.edit.path.clone());
        order.edits.push(self.edit.clone());
        order.stdin = told(context, &values);
        Ok(order)
    }
}

/// Whether the path is the folder's, or of something in it.
fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the script is told.
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

#[cfg(test)]
mod tests;
