//! The e-mail gate itself: the one that the built-in quest file makes.

use super::context::EmailSettings;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Case, Gate, Judgement, Rule};
use crate::quest::email;
use crate::world::{UniqueValue, World};

pub struct EmailGate(FileGate);

thread_local! {
    /// Made once a thread: a gate's checks stay on the thread that made them.
    static GATE: FileGate = built_in();
}

fn built_in() -> FileGate {
    let gate = FileGate::new(email::file(), &Gathered::default(), FileSettings::default());
    gate.unwrap_or_else(|mistake| unreachable!("the built-in quest file: {mistake}"))
}

impl EmailGate {
    pub fn new(settings: EmailSettings) -> Self {
        Self(GATE.with(|gate| gate.under(settings)))
    }

    #[cfg(test)]
    pub(super) fn glance(
        &self,
        case: Case<'_>,
        world: &World<'_>,
        most: crate::gate::Cost,
    ) -> Judgement {
        self.0.glance(case, world, most)
    }
}

impl Default for EmailGate {
    fn default() -> Self {
        Self::new(EmailSettings::default())
    }
}

impl Gate for EmailGate {
    fn rules(&self) -> Vec<Rule> {
        self.0.rules()
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        self.0.judge(case, world)
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        self.0.takes(case)
    }

    fn confirming(&self) -> Vec<&str> {
        self.0.confirming()
    }
}
