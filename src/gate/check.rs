//! A check: one step of a gate.

use super::{Fact, Rule};

/// What a check costs; dearer checks run only when no cheaper one failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Looks at the submission alone.
    Local,
    /// Looks at files of the tree.
    Tree,
    /// Reads pages.
    Page,
    /// Asks DNS.
    Dns,
    /// Reads further pages, or what the session knows.
    Wide,
    /// Runs a command.
    Command,
    /// Runs commands again and again.
    Heavy,
}

/// One step of a gate. `C` is what the gate's steps share about the case in hand.
pub trait Check<C> {
    /// The step's name, in kebab-case.
    fn name(&self) -> &str;

    /// What running it costs.
    fn cost(&self) -> Cost;

    /// Every rule that it can fire.
    fn rules(&self) -> &[Rule];

    /// The checks that come before it; where one has failed or was not run, it is not run.
    fn needs(&self) -> &[String] {
        &[]
    }

    /// Runs the step and returns what fired; nothing fired means that it passed.
    ///
    /// A step whose input an earlier step could not parse returns nothing: the earlier step
    /// has said why.
    fn run(&self, context: &C) -> Vec<Fact>;
}
