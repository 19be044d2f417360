//! The services of a quest file, made ready to be started.

use std::collections::BTreeMap;

use crate::gate::checks::nobodys;
use crate::gate::checks::outside::{Missing, Outside};
use crate::gate::checks::spec::Flaw;
use crate::quest::file::{Mistake, QuestFile, ReadyTable, ServiceTable, is_kebab};
use crate::quest::template::{Names, Template};
use crate::world::sandbox::{Readiness, ServicePlan};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Digest;
    use crate::gate::checks::outside::Gathered;
    use crate::world::sandbox::Pinned;

    const FILE: &str = r#"
name = "served"
unit = "thing"
[input]
format = "lines"
[prompt]
text = "{{ key }}"
[[field]]
name = "value"
kind = "text"
[[service]]
name = "api"
argv = ["serve"]
"#;

    fn environment(more: &str) -> BTreeMap<String, String> {
        #[derive(serde::Serialize)]
        struct Port {
            port: String,
        }
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let variables = [("PATH", "/usr/bin"), ("LANG", "C"), ("HOME", "/home/me")];
        let serve = Pinned {
            path: "/usr/bin/serve".into(),
            target: "/usr/bin/serve".into(),
            sha256: Digest::of(b"serve"),
        };
        let outside = Gathered {
            programs: [("serve".to_owned(), serve)].into(),
            variables: variables.map(pair).into(),
            ..Gathered::default()
        };
        let text = format!("{FILE}{more}");
        let plans = services(&QuestFile::parse(&text).unwrap(), &outside).unwrap();
        let port = Port { port: "81".into() };
        let env = plans["api"].env.iter();
        env.map(|(name, value)| (name.clone(), value.render(&port).unwrap()))
            .collect()
    }

    #[test]
    fn a_service_finds_nobodys_home_and_nothing_that_it_is_not_given() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let nobodys = [
            ("HOME", "/nonexistent"),
            ("PATH", "/usr/bin"),
            ("PYTHONNOUSERSITE", "1"),
        ];
        let mut expected: BTreeMap<_, _> = nobodys.map(pair).into();
        assert_eq!(environment(""), expected);
        expected.extend([("LANG", "C"), ("PORT", "81"), ("HOME", "data")].map(pair));
        let given = "pass_env = [\"LANG\"]\nenv = { PORT = \"{{ port }}\", HOME = \"data\" }";
        assert_eq!(environment(given), expected);
    }
}
