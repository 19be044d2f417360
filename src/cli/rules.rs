//! `comail rules`: the rules of the gate.

use std::cmp::Reverse;
use std::path::Path;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::{Exit, Hinted, UsageError};
use super::output::{Paper, Tone};
use crate::base::text::{Escaped, wrap};
use crate::gate::email::EmailGate;
use crate::gate::{Fact, Gate, Level, Rule, house};
use crate::judge::SessionKind;
use crate::quest::email;
use crate::quest::file::nearest;
use crate::session::Session;

/// List the rules of the gate, with their levels
///
/// For a session, the levels are those that `scan` froze. For a single rule, the output also says how
/// to pass it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RulesArgs {
    /// Print only this rule, such as freemail
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  comail rules
  comail rules freemail
  comail rules --json";

/// The JSON form: `{"kind":"email","rules":[{"id","level","meaning","remedy"}]}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Catalogue {
    kind: String,
    rules: Vec<Rule>,
}

pub(super) fn run(context: &mut Context, args: &RulesArgs) -> Result<Exit> {
    let mut catalogue = catalogue(context.session_dir())?;
    let shown = match &args.rule {
        None => text,
        Some(name) => {
            catalogue.rules = vec![named(&catalogue.rules, name)?];
            alone
        }
    };
    context.output.show(&catalogue, shown)?;
    Ok(Exit::Done)
}

fn catalogue(dir: &Path) -> Result<Catalogue> {
    let (kind, gate): (String, Box<dyn Gate>) = if dir.join("session.json").exists() {
        let session = Session::open(dir)?;
        let kind = session.manifest().kind.name.clone();
        (kind, Box::new(SessionKind::load(session.manifest())?.gate))
    } else {
        (email::NAME.to_owned(), Box::new(EmailGate::default()))
    };
    let mut rules = house::rules();
    rules.extend(gate.rules());
    Ok(Catalogue { kind, rules })
}

/// The rules that `help` explains: those of the session in `dir` and those of the e-mail gate.
pub(super) fn known(dir: &Path) -> Vec<Rule> {
    let of_session = catalogue(dir).map(|catalogue| catalogue.rules);
    let mut rules = of_session.unwrap_or_default();
    let built_in = house::rules()
        .into_iter()
        .chain(EmailGate::default().rules());
    for rule in built_in {
        if !rules.iter().any(|known| known.id == rule.id) {
            rules.push(rule);
        }
    }
    rules
}

fn named(rules: &[Rule], name: &str) -> Result<Rule, Hinted> {
    let found = rules.iter().find(|rule| rule.id.as_str() == name);
    found.cloned().ok_or_else(|| unknown(rules, name))
}

pub(super) fn unknown(rules: &[Rule], name: &str) -> Hinted {
    let near = nearest(name, rules.iter().map(|rule| rule.id.as_str()));
    UsageError(format!("there is no rule {name:?}")).hint(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`comail rules` lists all rules".to_owned(),
    })
}

/// The help page of a rule.
pub(super) fn page(rule: &Rule) -> String {
    let Rule {
        id,
        level,
        cause: _,
        meaning,
        remedy,
    } = rule;
    format!(
        "# The rule {id}\n\n{}\n\n{}\n\nSee also: comail rules, comail help email-gate\n",
        wrap(&format!("{level}: {meaning}."), WIDTH).join("\n"),
        wrap(&format!("To pass: {remedy}."), WIDTH).join("\n"),
    )
}

const WIDTH: usize = 80;

fn alone(paper: &mut Paper, catalogue: &Catalogue) {
    text(paper, catalogue);
    for rule in &catalogue.rules {
        paper.line(format!("  to pass:  {}", rule.remedy));
    }
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

/// Writes the facts of a verdict. `rules` says what would pass.
pub fn write_facts(paper: &mut Paper, facts: &[Fact], rules: &[Rule]) {
    // The facts that decide the verdict come first.
    let mut ordered: Vec<&Fact> = facts.iter().collect();
    ordered.sort_by_key(|fact| Reverse(fact.level));
    for fact in ordered {
        let tone = match fact.level {
            Level::Fail => Tone::Bad,
            Level::Review => Tone::Doubt,
        };
        let level = paper.tint(tone, &fact.level.to_string());
        let field = fact.field.as_ref();
        let field = field.map(|field| format!("field {}", Escaped(field.as_str())));
        let location = fact.location.as_ref();
        let location = location.map(|location| format!("at {}", Escaped(location)));
        let count = (fact.count > 1).then(|| format!("({} of its kind)", fact.count));
        let head = [
            Some(format!("{level} {}", Escaped(fact.rule.as_str()))),
            field,
            location,
            count,
        ];
        let head: Vec<String> = head.into_iter().flatten().collect();
        paper.line(format!("  {}", head.join("  ")));
        paper.line(format!("    expected: {}", Escaped(&fact.expected)));
        paper.line(format!("    actual:   {}", Escaped(&fact.actual)));
        if let Some(rule) = rules.iter().find(|rule| rule.id == fact.rule) {
            paper.line(format!("    to pass:  {}", rule.remedy));
        }
    }
}
