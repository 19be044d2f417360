//! `only-changed`: nothing has changed outside the zones in which the agent may write.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use super::kind::{Check, CheckConfig, Flaw, Source};
use crate::gate::{Cost, Fact};

/// `kind = "only-changed"`: changes are allowed where the tree's `write` says.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnlyChangedConfig {}

impl CheckConfig for OnlyChangedConfig {
    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        const EXPECTED: &str = "no change outside the zones that the agent may write";
        source.needs_tree(
            "kind",
            "it looks at the files of a tree, and the quest file has no [tree]",
        )?;
        Ok(source.check(Cost::Tree, |context| {
            let changes = context.world.sandbox.changes();
            let changes = changes.map_err(|why| Fact::wrong(EXPECTED, why).unconfirmed())?;
            let outside = changes.iter().filter(|changed| !changed.inside);
            let facts = outside.map(|changed| {
                let expected = format!("{EXPECTED}: undo the change of {}", changed.path);
                Fact::wrong(expected, &*changed.how).at(&*changed.path)
            });
            Ok(facts.collect())
        }))
    }
}
