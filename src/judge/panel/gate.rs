//! The gate of a session: the machine's checks, and the panel of reviewers where there is one.
//!
//! Reviewers are asked about what the machine passes, and can only raise doubt.

use std::collections::BTreeMap;

use crate::gate::{Case, Cost, Gate, Judgement, Rule, doubts};
use crate::judge::panel::calibration::Calibration;
use crate::judge::panel::inputs::gather;
use crate::judge::panel::members::Members;
use crate::judge::panel::recorder::CommandOutputs;
use crate::judge::panel::round::PanelRound;
use crate::quest::{ReviewInput, Verdict};
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::{UniqueValue, World};

/// The machine's checks, and the reviewers that are asked about what they pass.
pub struct SessionGate {
    machine: Box<dyn Gate>,
    panel: Option<Panel>,
}

/// Reviewing models.
pub struct Panel {
    pub members: Members,
    pub robots: RobotsPolicy,
    /// What each reviewer says, by its name, in a control: nobody is asked then.
    pub script: Option<BTreeMap<String, String>>,
}

/// Why reviewers cannot be calibrated by what is planted in a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uncalibrated {
    #[error("it does not pass the checks")]
    Refused(Box<Judgement>),
    #[error("`{sight}` cannot be shown to reviewers: {why}")]
    Unseen { sight: ReviewInput, why: String },
}

impl SessionGate {
    #[must_use]
    pub fn new(machine: Box<dyn Gate>, panel: Option<Panel>) -> Self {
        Self { machine, panel }
    }

    /// The machine's judgement and, where that is PASS and there is a panel, the round in which
    /// reviewers are asked about it.
    #[must_use]
    pub fn examine(
        &self,
        case: Case<'_>,
        world: &World<'_>,
    ) -> (Judgement, Option<PanelRound<'_>>) {
        let outputs = CommandOutputs::new(world.workshop);
        let world = World {
            workshop: &outputs,
            ..*world
        };
        let judgement = self.machine.judge(case, &world);
        let panel = self.panel.as_ref();
        let panel = panel.filter(|_| judgement.verdict == Verdict::Pass);
        let round = panel.map(|panel| {
            let sights = panel.members.all.iter().flat_map(|member| &member.sees);
            let inputs = gather(sights, case, &world, &outputs, panel.robots);
            PanelRound { panel, inputs }
        });
        (judgement, round)
    }

    /// How well the reviewers tell planted defects in this case from what is right.
    pub fn calibrate(
        &self,
        case: Case<'_>,
        world: &World<'_>,
    ) -> Result<Calibration, Uncalibrated> {
        let (judgement, round) = self.examine(case, world);
        let Some(round) = round else {
            return Err(Uncalibrated::Refused(Box::new(judgement)));
        };
        let calibration = round.calibrate(case, world.workshop);
        calibration.map_err(|(sight, why)| Uncalibrated::Unseen { sight, why })
    }
}

impl Gate for SessionGate {
    fn rules(&self) -> Vec<Rule> {
        let mut rules = self.machine.rules();
        if self.panel.is_some() {
            rules.extend(doubts::rules());
        }
        rules
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        match self.examine(case, world) {
            (judgement, Some(round)) => round.review(judgement, case, world),
            (judgement, None) => judgement,
        }
    }

    fn glance(&self, case: Case<'_>, world: &World<'_>, most: Cost) -> Judgement {
        self.machine.glance(case, world, most)
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        self.machine.takes(case)
    }

    fn judges_anew(&self) -> bool {
        self.machine.judges_anew()
    }

    fn revisions(&self) -> u32 {
        let panel = self.panel.as_ref();
        panel.map_or(0, |panel| panel.members.head.revisions)
    }

    fn confirming(&self) -> Vec<&str> {
        self.machine.confirming()
    }
}

#[cfg(test)]
mod tests;
