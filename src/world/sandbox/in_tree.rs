//! Running the operator's own command in the working tree itself, and not in a copy.

use super::bench::Bench;
use super::order::Order;
use super::ran::Ran;
use super::secrets::{Secrets, run_with, variable};

/// Runs a command in the tree, where it may write; else why it cannot be run there.
///
/// It is confined as a command of a check is but for that.
pub fn run_in_tree(bench: &Bench, order: &Order) -> Result<Ran, String> {
    let root = bench.root.as_deref();
    let root = root.ok_or_else(|| "there is no tree to run in".to_owned())?;
    let program = order.argv.first().map_or("", String::as_str);
    if let Some(why) = bench.changed_program(program) {
        return Err(why);
    }
    let secrets = Secrets::take(&order.pass, variable).map_err(|missing| missing.to_string())?;
    let launcher = bench.launcher.clone().temporary_in(bench.scratch.clone());
    Ok(run_with(order, &secrets, root, &launcher))
}
