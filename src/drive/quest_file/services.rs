//! The services of a quest file, made ready to be started.

use std::collections::BTreeMap;

use crate::gate::checks::outside::Outside;
use crate::quest::file::{Mistake, QuestFile, ServiceTable, is_kebab};
use crate::quest::template::{Names, Template};
use crate::world::workshop::{Readiness, ServicePlan};

/// The services of `file`, by name.
pub(super) fn services(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, ServicePlan>, Mistake> {
    let mut plans = BTreeMap::new();
    for table in &file.services {
        let plan = plan(table, outside).map_err(|what| {
            let what = format!("service `{}`: {what}", table.name);
            Mistake::at(file.text(), &file.spot_of("service"), what)
        })?;
        if plans.insert(table.name.clone(), plan).is_some() {
            let what = format!("there are two services `{}`", table.name);
            return Err(Mistake::at(file.text(), &file.spot_of("service"), what));
        }
    }
    Ok(plans)
}

fn plan(table: &ServiceTable, outside: &dyn Outside) -> Result<ServicePlan, String> {
    if !is_kebab(&table.name) {
        return Err(String::from("a name is kebab-case, such as `api`"));
    }
    let names = Names::of_service();
    let template = |text: &str| Template::parse(text, &names).map_err(|bad| bad.to_string());
    let Some((program, arguments)) = table.argv.split_first() else {
        return Err(String::from("`argv` names no program"));
    };
    let pinned = outside.program(program).map_err(|it| it.to_string())?;
    let path = pinned.path.to_string_lossy();
    let argv = std::iter::once(Ok(Template::fixed(&path)))
        .chain(arguments.iter().map(|text| template(text)));
    let mut env = BTreeMap::new();
    for name in table.pass_env.iter().map(String::as_str).chain(["PATH"]) {
        let value = outside.variable(name).map_err(|it| it.to_string())?;
        env.insert(name.to_owned(), Template::fixed(&value));
    }
    for (name, text) in &table.env {
        env.insert(name.clone(), template(text)?);
    }
    let ready = match (&table.ready.path, &table.ready.line) {
        (None, None) => Readiness::Port,
        (Some(path), None) => Readiness::Path(path.clone()),
        (None, Some(line)) => Readiness::Line(line.clone()),
        (Some(_), Some(_)) => return Err(String::from("`ready` has one of `path` and `line`")),
    };
    Ok(ServicePlan {
        argv: argv.collect::<Result<_, _>>()?,
        env,
        ready,
        within: table.start_within,
    })
}
