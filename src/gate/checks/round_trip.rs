//! `round-trip`: what a source says survives when a command turns the submission back.
//!
//! Such a check finds reasons for a look and never an error: what a program translates back, or
//! extracts anew, is no proof of what the submission says.

mod kept;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use self::kept::{Keep, Kept};
use super::context::Context;
use super::first_facts::first_facts;
use super::orders::{
    NetworkName, OnTimeout, OrderPlan, RunKeys, a_minute, cut_short, names, tail, ten_mebibytes,
};
use super::origin::Origin;
use super::probe::{Detail, Found, Probe};
use super::prose::Markup;
use super::quest_check::LevelName;
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::quest::template::Template;
use crate::quest::{ByteSize, FieldName, Span};
use crate::world::sandbox::{End, Order, Ran};

/// `kind = "round-trip"`. Its level is `review`, whatever it finds.
///
/// A command that does not end with the code 0, or prints nothing, leaves it unconfirmed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTripSpec {
    /// The source, as a template such as `{{ input.text }}`.
    of: Option<String>,
    /// In its place: the path of a file, as a template. It is looked at as it was at the scan.
    of_path: Option<String>,
    /// What of the source must stand in what the command prints.
    keep: Vec<Keep>,
    /// The names that are kept; without them, words with a capital inside a sentence are.
    #[serde(default)]
    names: Vec<String>,
    /// A file beside the quest file with more of them, one a line.
    names_list: Option<String>,
    /// The terms that are kept: a file beside the quest file, one a line, or the terms of a
    /// glossary in CSV or TOML, as `terms` reads it.
    terms: Option<String>,
    /// The program, the same for every quest, and its arguments, each a template.
    argv: Vec<String>,
    /// What it reads on its standard input, as a template such as `{{ field.translation }}`.
    stdin: String,
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
}

#[derive(Debug)]
struct RoundTrip {
    name: String,
    origin: Origin,
    kept: Kept,
    plan: OrderPlan,
    stdin: Template,
    /// The field that is turned back, where it is one.
    field: Option<FieldName>,
}

impl Spec for RoundTripSpec {
    const KIND: &'static str = "round-trip";
    // The anchors are the input's, and the command is not the agent's.
    const SHOWS: Shows = Shows::Fact;
    const LEVEL: Option<LevelName> = Some(LevelName::Review);

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let names = names(&self.services, source)?;
        let stdin = source.template_of("stdin", &self.stdin, &names)?;
        let mut fields = source.file.fields.iter().map(|field| &field.name);
        let field = fields
            .find(|name| stdin.reads_field(name.as_str()))
            .cloned();
        if field.is_none() {
            let what = "no field stands in it: nothing of the submission would be turned back";
            return Err(Flaw::new("stdin", what));
        }
        let kept = Kept::build(
            &self.keep,
            &self.names,
            self.names_list.as_deref(),
            self.terms.as_deref(),
            source,
        )?;
        let keys = RunKeys {
            env: self.env,
            pass_env: self.pass_env,
            timeout: self.timeout,
            output_cap: self.output_cap,
            network: self.network,
            writable: self.writable,
            services: self.services,
        };
        Ok(Box::new(RoundTrip {
            name: source.name.to_owned(),
            origin: Origin::new(source, self.of.as_deref(), self.of_path.as_deref())?,
            kept,
            plan: OrderPlan::build("argv", &self.argv, keys, source)?,
            stdin,
            field,
        }))
    }
}

impl RoundTrip {
    /// The command of this case.
    fn order(&self, context: &Context<'_>) -> Result<Order, Found> {
        let values = self.plan.values(context)?;
        let order = self.plan.order(context, &values)?;
        let stdin = self.stdin.render(&values).map_err(|bad| {
            let detail = Detail::new("a text", bad.to_string());
            detail.at("stdin").unconfirmed()
        })?;
        Ok(Order { stdin, ..order })
    }

    /// What the command printed, where it has come to a good end.
    fn printed(&self, context: &Context<'_>) -> Result<String, Found> {
        let run = context.run(&self.name, self.order(context)?);
        if let Some(Found::Wrong(why) | Found::Unconfirmed(why)) =
            cut_short(&run.order, &run.ran, OnTimeout::Review)
        {
            return Err(why.unconfirmed());
        }
        if run.ran.end != End::Exited(0) {
            return Err(failed("it ends with the code 0", &run.ran));
        }
        let printed = run.printed();
        if printed.trim().is_empty() {
            return Err(failed("it prints a text", &run.ran));
        }
        Ok(printed.into_owned())
    }
}

fn failed(expected: &str, ran: &Ran) -> Found {
    let ended = match ran.end {
        End::Exited(code) => format!("it ended with the code {code}: {}", tail(ran)),
        _ => tail(ran),
    };
    Detail::new(expected, ended).unconfirmed()
}

impl Probe for RoundTrip {
    fn cost(&self) -> Cost {
        Cost::Command
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        if self
            .field
            .as_ref()
            .and_then(|it| context.field(it))
            .is_none()
        {
            return Vec::new();
        }
        let original = match self.origin.read(context) {
            Ok(original) => original,
            Err(found) => return vec![found],
        };
        let printed = match self.printed(context) {
            Ok(printed) => printed,
            Err(found) => return vec![found],
        };
        let source = Markup::of(&original.said).visible;
        let lost = self.kept.lost(&source, &printed).into_iter();
        let found = lost.map(|lost| {
            let actual = format!("not in what `{}` made of the submission", self.name);
            let mut detail = Detail::new(lost.what, actual).at(original.line(lost.line));
            detail.field.clone_from(&self.field);
            detail.wrong()
        });
        first_facts(found.collect())
    }
}

#[cfg(test)]
mod tests;
