//! `only-changed`: nothing outside a zone is other than it was pinned.

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::kind::{Flaw, Shows, Source, Spec};
use super::kind::{Probe, first_facts};
use crate::gate::Cost;
use crate::quest::template::{Template, Values};
use crate::world::sandbox::Changed;
use crate::world::tree::{TreePath, Zones};

/// `kind = "only-changed"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnlyChangedSpec {
    /// Where changes are allowed, as globs that may be templates; the tree's `write` where it is
    /// not said. What a template puts in stands for itself, whatever letters it has.
    paths: Option<Vec<String>>,
}

#[derive(Debug)]
struct OnlyChanged {
    paths: Option<Vec<Template>>,
}

const EXPECTED: &str = "a tree in which nothing has changed outside what may";

impl Spec for OnlyChangedSpec {
    const KIND: &'static str = "only-changed";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        source.needs_tree(
            "kind",
            "it looks at the files of a tree, and the quest file has no [tree]",
        )?;
        let paths = self
            .paths
            .as_deref()
            .map(|paths| source.templates("paths", paths));
        let paths = paths.transpose()?;
        let fixed = paths.iter().flatten().filter(|path| path.is_fixed());
        let fixed: Vec<_> = fixed.map(|path| path.source().to_owned()).collect();
        Zones::new(&fixed).map_err(|bad| Flaw::new("paths", bad.to_string()))?;
        Ok(Box::new(OnlyChanged { paths }))
    }
}

impl Probe for OnlyChanged {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let Some(paths) = &self.paths else {
            return forbidden(context, |changed| changed.inside);
        };
        let zones = match zones(paths, &literal(context.values())) {
            Ok(zones) => zones,
            Err(wrong) => return vec![wrong.at("paths")],
        };
        forbidden(context, |changed| {
            let path = TreePath::parse(&changed.path);
            path.is_ok_and(|path| zones.contains(&path))
        })
    }
}

/// Every change that `allowed` does not allow, as a fact with what is to be done about it.
fn forbidden(context: &Context<'_>, allowed: impl Fn(&Changed) -> bool) -> Vec<Fact> {
    let changes = match context.world.workshop.changes() {
        Ok(changes) => changes,
        Err(why) => return vec![Fact::wrong(EXPECTED, why).unconfirmed()],
    };
    let found = changes.iter().filter(|changed| !allowed(changed));
    let facts = found.map(|changed| {
        let expected = format!("{EXPECTED}: undo the change of {}", changed.path);
        Fact::wrong(expected, &*changed.how).at(&*changed.path)
    });
    first_facts(facts.collect())
}

fn zones(paths: &[Template], values: &Values) -> Result<Zones, Fact> {
    let globs: Result<Vec<_>, _> = paths.iter().map(|path| path.render(values)).collect();
    let wrong = |actual: String| Fact::wrong("paths of the tree", actual);
    let globs = globs.map_err(|bad| wrong(bad.to_string()))?;
    Zones::new(&globs).map_err(|bad| wrong(bad.to_string()))
}

/// The values as texts of globs that mean nothing but themselves.
fn literal(values: &Values) -> Values {
    let mut literal = values.clone();
    let groups = literal.input.values_mut().chain(literal.field.values_mut());
    for text in groups.chain([&mut literal.key]) {
        *text = globset::escape(text);
    }
    literal
}

#[cfg(test)]
mod tests;
