//! The control that passes: what ends without a verdict runs again on it, and if it ends like that there
//! too, the gate is broken and nothing is judged.

use super::context::Context;
use crate::gate::{Case, Fact};
use crate::quest::file::{ControlTable, QuestFile};
use crate::quest::{Quest, Submission};

pub struct PassingControl {
    name: String,
    quest: Quest,
    submission: Submission,
}

/// The control on which commands and scripts of a file run again; none where it has neither.
pub fn control_of_runs<'a>(file: &'a QuestFile<'_>) -> Option<&'a ControlTable> {
    let mut kinds = file.checks.iter().map(|raw| raw.text_of("kind"));
    let has_run = kinds.any(|kind| matches!(kind, Some("script" | "command")));
    file.passing_control().filter(|_| has_run)
}

impl PassingControl {
    /// None for a control without a key, which the gate refuses.
    pub fn of(file: &QuestFile<'_>) -> Option<Self> {
        let table = control_of_runs(file)?;
        Some(Self {
            name: table.name.clone(),
            quest: table.quest().ok()?,
            submission: ControlTable::submission(&table.submit),
        })
    }

    /// The fact for a submission on which `what` ended without a verdict: its fault, unless `ends_so` says
    /// how that ends without one on the control, too.
    pub fn blame(
        &self,
        what: &str,
        fact: Fact,
        context: &Context<'_>,
        ends_so: impl FnOnce(&Context<'_>) -> Option<Fact>,
    ) -> Fact {
        let same = context.of_control(Case::new(&self.quest, &self.submission));
        let Some(on_control) = ends_so(&same) else {
            return fact;
        };
        let why = format!("{what} on the control `{}` too", self.name);
        let why = format!("{why}; fix it and scan again: {}", on_control.actual);
        context.world.sandbox.report_failure(why);
        fact.unconfirmed()
    }
}
