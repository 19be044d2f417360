//! `only-changed`: nothing outside a zone is other than it was pinned.

use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::{forbidden, needs_tree};
use super::context::Context;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::quest::template::{Template, Values};
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
        needs_tree(source)?;
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

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let Some(paths) = &self.paths else {
            let found = forbidden(context, EXPECTED, |changed| changed.inside);
            return found.into_iter().map(with_remedy).collect();
        };
        let zones = match zones(paths, &literal(context.values())) {
            Ok(zones) => zones,
            Err(wrong) => return vec![wrong.at("paths").wrong()],
        };
        let found = forbidden(context, EXPECTED, |changed| {
            let path = TreePath::parse(&changed.path);
            path.is_ok_and(|path| zones.contains(&path))
        });
        found.into_iter().map(with_remedy).collect()
    }
}

/// The same with what is to be done about the file that it names.
fn with_remedy(found: Found) -> Found {
    match found {
        Found::Wrong(detail) => {
            let path = detail.location.as_deref().unwrap_or_default();
            let expected = format!("{}: undo the change of {path}", detail.expected);
            Found::Wrong(Detail { expected, ..detail })
        }
        unconfirmed @ Found::Unconfirmed(_) => unconfirmed,
    }
}

fn zones(paths: &[Template], values: &Values) -> Result<Zones, Detail> {
    let globs: Result<Vec<_>, _> = paths.iter().map(|path| path.render(values)).collect();
    let wrong = |actual: String| Detail::new("paths of the tree", actual);
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
