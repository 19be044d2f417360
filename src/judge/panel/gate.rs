//! A gate around another: what passes there goes before reviewers, who may only raise doubt.

use std::collections::BTreeMap;

use crate::gate::{Case, Cost, Gate, Judgement, Rule, doubts};
use crate::judge::panel::calibration::Calibration;
use crate::judge::panel::members::Members;
use crate::judge::panel::recorder::Spy;
use crate::judge::panel::round::Hearing;
use crate::quest::{Sight, Verdict};
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::{Taken, World};

/// A gate whose PASS goes before reviewers.
pub struct ReviewedGate {
    gate: Box<dyn Gate>,
    members: Members,
    robots: RobotsPolicy,
    heard: Heard,
}

/// Who is heard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Heard {
    #[default]
    Reviewers,
    /// Nobody: what each reviewer would say is written down, by its name.
    Script(BTreeMap<String, String>),
}

impl ReviewedGate {
    #[must_use]
    pub fn new(gate: Box<dyn Gate>, members: Members, robots: RobotsPolicy) -> Self {
        Self {
            gate,
            members,
            robots,
            heard: Heard::Reviewers,
        }
    }

    #[must_use]
    pub fn hearing(self, heard: Heard) -> Self {
        Self { heard, ..self }
    }
}

/// Why reviewers cannot be tried by what is laid over a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untried {
    /// Nothing of the case goes before reviewers.
    #[error("it does not pass the checks")]
    Refused(Box<Judgement>),
    /// Something of it cannot be shown to them.
    #[error("`{sight}` cannot be shown to reviewers: {why}")]
    Unseen {
        sight: Sight,
        /// Why not.
        why: String,
    },
}

impl ReviewedGate {
    pub fn trial(&self, case: Case<'_>, world: &World<'_>) -> Result<Calibration, Untried> {
        let spy = Spy::new(world.workshop);
        let world = World {
            workshop: &spy,
            ..*world
        };
        let judgement = self.gate.judge(case, &world);
        if judgement.verdict != Verdict::Pass {
            return Err(Untried::Refused(Box::new(judgement)));
        }
        let trial = self.hearing_of(case, &world, &spy).trial();
        trial.map_err(|(sight, why)| Untried::Unseen { sight, why })
    }

    fn hearing_of<'a>(
        &'a self,
        case: Case<'a>,
        world: &'a World<'a>,
        spy: &'a Spy<'a>,
    ) -> Hearing<'a> {
        Hearing {
            members: &self.members,
            case,
            world,
            spy,
            robots: self.robots,
            script: match &self.heard {
                Heard::Reviewers => None,
                Heard::Script(script) => Some(script),
            },
        }
    }
}

impl Gate for ReviewedGate {
    fn rules(&self) -> Vec<Rule> {
        let mut rules = self.gate.rules();
        rules.extend(doubts::rules());
        rules
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        let spy = Spy::new(world.workshop);
        let world = World {
            workshop: &spy,
            ..*world
        };
        let judgement = self.gate.judge(case, &world);
        if judgement.verdict != Verdict::Pass {
            return judgement;
        }
        judgement.doubted(self.hearing_of(case, &world, &spy).doubts())
    }

    fn glance(&self, case: Case<'_>, world: &World<'_>, most: Cost) -> Judgement {
        self.gate.glance(case, world, most)
    }

    fn takes(&self, case: Case<'_>) -> Vec<Taken> {
        self.gate.takes(case)
    }

    fn judges_anew(&self) -> bool {
        self.gate.judges_anew()
    }

    fn revisions(&self) -> u32 {
        self.members.head.revisions
    }

    fn confirming(&self) -> Vec<&str> {
        self.gate.confirming()
    }
}

#[cfg(test)]
mod tests;
