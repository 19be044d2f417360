//! The fixer of a quest file, made ready to be started.

use std::collections::{BTreeMap, BTreeSet};

use crate::gate::checks::nobodys;
use crate::gate::checks::outside::{Missing, Outside};
use crate::gate::checks::spec::Flaw;
use crate::quest::file::{FixerTable, Mistake, QuestFile, RawTable, ReviewerNetwork};
use crate::quest::template::{Names, Template};
use crate::world::sandbox::{Network, Order};

const NAME: &str = "fixer";

/// A fixer, ready to be started.
#[derive(Debug, Clone)]
pub struct FixerPlan {
    /// How it is started; what it reads is still to come.
    pub order: Order,
    pub max_fixes: u32,
    pub rules: BTreeSet<String>,
}

/// The fixer of `file`; none where it has none.
///
/// # Errors
///
/// A fixer for no check, or a check for no fixer, is a mistake.
pub(super) fn fixer(
    file: &QuestFile<'_>,
    outside: &dyn Outside,
) -> Result<Option<FixerPlan>, Mistake> {
    let mut rules = BTreeSet::new();
    for raw in file.checks.iter().filter(|raw| asks(raw)) {
        if let Some((key, what)) = unfit(file, raw) {
            return Err(Mistake::at(file.text(), &raw.spot_of(key), what));
        }
        rules.extend(raw.text_of("name").map(str::to_owned));
    }
    let mut of_final = file.final_part.iter().flat_map(|part| &part.checks);
    if let Some(raw) = of_final.find(|raw| asks(raw)) {
        let what = "a check of [final] is told of, and nothing is fixed for it";
        return Err(Mistake::at(file.text(), &raw.spot_of("on_fail"), what));
    }
    let Some(table) = &file.fixer else {
        return Ok(None);
    };
    let writes = file
        .tree
        .as_ref()
        .is_some_and(|tree| !tree.write.is_empty());
    let needless = match (rules.is_empty(), writes) {
        (true, _) => Some("it is there for no check: say `on_fail = \"fix\"` in one"),
        (false, false) => Some("it mends files of the tree: say `write` in [tree]"),
        (false, true) => None,
    };
    if let Some(what) = needless {
        return Err(Mistake::at(file.text(), &file.spot_of("fixer"), what));
    }
    let order = order(table, outside).map_err(|Flaw { key, what }| {
        Mistake::at(file.text(), &file.spot_in("fixer", key), what)
    })?;
    Ok(Some(FixerPlan {
        order,
        max_fixes: table.max_fixes.get(),
        rules,
    }))
}

fn asks(raw: &RawTable<'_>) -> bool {
    raw.text_of("on_fail") == Some("fix")
}

/// Why nothing can be fixed for a check that asks for it.
fn unfit(file: &QuestFile<'_>, raw: &RawTable<'_>) -> Option<(&'static str, &'static str)> {
    if file.fixer.is_none() {
        return Some(("on_fail", "there is no [fixer] to be started"));
    }
    let reviewed = raw.text_of("level") == Some("review");
    reviewed.then_some(("on_fail", "the check never fails: its level is `review`"))
}

fn order(table: &FixerTable, outside: &dyn Outside) -> Result<Order, Flaw> {
    let missing = |key| move |missing: Missing| Flaw::new(key, missing.to_string());
    let fixed = |text: &String| {
        let what = "it is no template: what it is to fix it reads on its standard input";
        match Template::parse(text, &Names::of_final(std::iter::empty())) {
            Ok(template) if template.is_fixed() => Ok(text.clone()),
            _ => Err(Flaw::new("argv", format!("`{text}`: {what}"))),
        }
    };
    let Some((program, arguments)) = table.argv.split_first() else {
        return Err(Flaw::new("argv", "it is empty: name a program"));
    };
    let pinned = outside.program(program).map_err(missing("argv"))?;
    let path = pinned.path.to_string_lossy().into_owned();
    let arguments = arguments.iter().map(fixed);
    let relative = |path: &&String| !path.starts_with('/') || path.split('/').any(|it| it == "..");
    if let Some(path) = table.writable.iter().find(relative) {
        let what = format!("`{path}`: expected an absolute path without `..`");
        return Err(Flaw::new("writable", what));
    }
    Ok(Order {
        name: NAME.to_owned(),
        argv: std::iter::once(Ok(path))
            .chain(arguments)
            .collect::<Result<_, _>>()?,
        env: environment(table, outside)?,
        pass: table.pass.clone(),
        dir: String::new(),
        stdin: String::new(),
        timeout_ms: table.timeout.millis().into(),
        output_bytes: table.output_cap.bytes(),
        writable: table.writable.clone(),
        network: match table.network.unwrap_or_default() {
            ReviewerNetwork::None => Network::None,
            ReviewerNetwork::Full => Network::Any,
        },
        reports: Vec::new(),
        edits: Vec::new(),
        round: 0,
    })
}

/// What it finds: nothing of the environment but what its table names.
fn environment(
    table: &FixerTable,
    outside: &dyn Outside,
) -> Result<BTreeMap<String, String>, Flaw> {
    let bad = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
    for (key, name) in [
        ("pass", table.pass.iter().find(bad)),
        ("env", table.env.keys().find(bad)),
    ] {
        if let Some(name) = name {
            return Err(Flaw::new(key, format!("{name:?} cannot name a variable")));
        }
    }
    let mut env: BTreeMap<_, _> = nobodys().collect();
    if let Ok(path) = outside.variable("PATH") {
        let kept: Vec<_> = path.split(':').filter(|dir| dir.starts_with('/')).collect();
        env.insert(String::from("PATH"), kept.join(":"));
    }
    env.extend(table.env.clone());
    env.retain(|name, _| !table.pass.contains(name));
    Ok(env)
}
