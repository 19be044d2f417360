//! The services of a quest file, made ready to be started.

use std::collections::BTreeMap;

use crate::gate::checks::nobodys;
use crate::gate::checks::outside::{Missing, Outside};
use crate::gate::checks::spec::Flaw;
use crate::quest::file::{Mistake, QuestFile, ReadyTable, ServiceTable, is_kebab};
use crate::quest::template::{Names, Template};
use crate::world::workshop::{Readiness, ServicePlan};

/// The services of `file`, by name.
pub(super) fn services(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, ServicePlan>, Mistake> {
    let mut plans = BTreeMap::new();
    for (table, raw) in file.placed_services() {
        let wrong = |Flaw { key, what }: Flaw| Mistake::at(file.text(), &raw.spot_of(key), what);
        let plan = plan(table, outside).map_err(wrong)?;
        if plans.insert(table.name.clone(), plan).is_some() {
            let what = format!("there are two services `{}`", table.name);
            return Err(wrong(Flaw::new("name", what)));
        }
    }
    Ok(plans)
}

fn plan(table: &ServiceTable, outside: &dyn Outside) -> Result<ServicePlan, Flaw> {
    if !is_kebab(&table.name) {
        let what = format!("`{}`: expected kebab-case, such as `api`", table.name);
        return Err(Flaw::new("name", what));
    }
    let names = Names::of_service();
    let template = |key, text: &str| {
        Template::parse(text, &names).map_err(|bad| Flaw::new(key, bad.to_string()))
    };
    let missing = |key| move |missing: Missing| Flaw::new(key, missing.to_string());
    let Some((program, arguments)) = table.argv.split_first() else {
        return Err(Flaw::new("argv", "it is empty: name a program"));
    };
    let pinned = outside.program(program).map_err(missing("argv"))?;
    let path = pinned.path.to_string_lossy();
    let argv = std::iter::once(Ok(Template::fixed(&path)))
        .chain(arguments.iter().map(|text| template("argv", text)));
    let nobodys = nobodys().map(|(name, value)| (name, Template::fixed(&value)));
    let mut env: BTreeMap<_, _> = nobodys.collect();
    for name in table.pass_env.iter().map(String::as_str).chain(["PATH"]) {
        let value = outside.variable(name).map_err(missing("pass_env"))?;
        env.insert(name.to_owned(), Template::fixed(&value));
    }
    for (name, text) in &table.env {
        env.insert(name.clone(), template("env", text)?);
    }
    Ok(ServicePlan {
        argv: argv.collect::<Result<_, _>>()?,
        env,
        ready: readiness(&table.ready)?,
        within: table.start_within,
    })
}

fn readiness(ready: &ReadyTable) -> Result<Readiness, Flaw> {
    match (&ready.path, &ready.line) {
        (None, None) => Ok(Readiness::Port),
        (Some(path), None) => Ok(Readiness::Path(path.clone())),
        (None, Some(line)) => match regex::Regex::new(line) {
            Ok(_) => Ok(Readiness::Line(line.clone())),
            Err(_) => Err(Flaw::new("ready", format!("`line`: not a pattern: {line}"))),
        },
        (Some(_), Some(_)) => Err(Flaw::new("ready", "expected one of `path` and `line`")),
    }
}
