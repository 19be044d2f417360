//! `comail rules`: the rules of the gate.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, Hinted, unknown_name};
use crate::gate::GateSettings;
use crate::gate::email::email_gate;
use crate::gate::{Gate, Rule, common_rules};
use crate::judge::SessionKind;
use crate::quest::email;
use crate::session::Session;

/// List the rules of the gate, with their levels
///
/// For a session, the levels are those that `scan` froze. For a single rule, the output also says how
/// to pass it.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// Print only this rule, such as freemail
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Catalogue {
    kind: String,
    rules: Vec<Rule>,
}

pub(super) fn run(context: &mut Context, args: &RulesArgs) -> Result<Exit> {
    let mut catalogue = catalogue(&context.dir)?;
    if let Some(name) = &args.rule {
        let found = catalogue.rules.iter().find(|it| it.id.as_str() == name);
        let found = found.cloned();
        catalogue.rules = vec![found.ok_or_else(|| unknown(&catalogue.rules, name))?];
    }
    context.output.page();
    context.output.show(&catalogue, |out, catalogue| {
        let names = catalogue.rules.iter().map(|rule| rule.id.as_str().len());
        let values = context! {
            rules => catalogue.rules,
            width => names.max(),
            is_one => args.rule.is_some(),
        };
        out.template(include_str!("text/rules.txt"), values);
    })?;
    Ok(Exit::Done)
}

fn catalogue(dir: &Path) -> Result<Catalogue> {
    let (kind, gate): (String, Box<dyn Gate>) = if dir.join("session.json").exists() {
        let session = Session::open(dir)?;
        let kind = session.manifest().kind.name.clone();
        (kind, Box::new(SessionKind::load(session.manifest())?.gate))
    } else {
        (
            email::NAME.to_owned(),
            Box::new(email_gate(GateSettings::default())),
        )
    };
    let mut rules = common_rules::rules();
    rules.extend(gate.rules());
    Ok(Catalogue { kind, rules })
}

pub(super) fn unknown(rules: &[Rule], name: &str) -> Hinted {
    let names: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    let message = format!("there is no rule {name:?}");
    unknown_name(message, name, &names, "`comail rules` lists all rules")
}
