//! `comail rules`: the gate's catalogue.

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::Exit;
use super::output::{Paper, Tone};
use crate::drive;
use crate::gate::{Gate, Level, Rule, email::EmailGate, house};
use crate::quest::email;
use crate::session::Session;

/// Print every rule that can fire, its level and its meaning
///
/// Inside a session the levels are those that `scan` froze.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RulesArgs {}

const EXAMPLES: &str = "\
Examples:
  comail rules
  comail rules --json";

/// The JSON form: `{"kind":"email","rules":[{"id","level","meaning","remedy"}]}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Catalogue {
    kind: String,
    rules: Vec<Rule>,
}

pub(super) fn run(context: &mut Context, _args: &RulesArgs) -> Result<Exit> {
    let (kind, gate): (String, Box<dyn Gate>) =
        if context.session_dir().join("session.json").exists() {
            let session = Session::open(context.session_dir())?;
            let kind = session.manifest().kind.name.clone();
            (kind, drive::gate_of(session.manifest())?)
        } else {
            (email::NAME.to_owned(), Box::new(EmailGate::default()))
        };
    let mut rules = house::rules();
    rules.extend(gate.rules());
    let catalogue = Catalogue { kind, rules };
    context.output.show(&catalogue, text)?;
    Ok(Exit::Done)
}

fn text(paper: &mut Paper, catalogue: &Catalogue) {
    let width = catalogue
        .rules
        .iter()
        .map(|rule| rule.id.as_str().len())
        .max()
        .unwrap_or(0);
    for rule in &catalogue.rules {
        let tone = match rule.level {
            Level::Fail => Tone::Bad,
            Level::Review => Tone::Doubt,
        };
        let level = paper.tint(tone, &format!("{:6}", rule.level));
        paper.line(format!("{:width$}  {level}  {}", rule.id, rule.meaning));
    }
}
