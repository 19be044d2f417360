//! The e-mail gate itself: the one that the built-in quest file makes.

use std::collections::BTreeMap;
use std::fmt;

use super::context::EmailSettings;
use super::identity::company_name;
use super::source::user_content;
use super::{lists, placeholder};
use crate::base::Digest;
use crate::gate::checks::FileGate;
use crate::gate::checks::outside::Gathered;
use crate::gate::checks::settings::FileSettings;
use crate::gate::{Case, Cost, Gate, Judgement, Rule};
use crate::quest::email;
use crate::world::{UniqueValue, World};

#[derive(Clone)]
pub struct EmailGate {
    settings: EmailSettings,
    gate: FileGate,
}

thread_local! {
    /// Made once a thread: a gate's checks stay on the thread that made them.
    static GATE: FileGate = built_in();
}

fn built_in() -> FileGate {
    let gate = FileGate::new(email::file(), &Gathered::default(), FileSettings::default());
    gate.unwrap_or_else(|mistake| unreachable!("the built-in quest file: {mistake}"))
}

impl EmailGate {
    #[must_use]
    pub fn new(settings: EmailSettings) -> Self {
        let chosen = FileSettings {
            robots: settings.robots,
            allow_net: settings.allow_net.clone(),
            levels: settings.levels.clone(),
            role_only: settings.role_only,
        };
        let gate = GATE.with(|gate| gate.under(chosen));
        Self { settings, gate }
    }
}

impl Default for EmailGate {
    fn default() -> Self {
        Self::new(EmailSettings::default())
    }
}

impl fmt::Debug for EmailGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmailGate")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Gate for EmailGate {
    fn rules(&self) -> Vec<Rule> {
        self.gate.rules()
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        self.gate.judge(case, world)
    }

    fn glance(&self, case: Case<'_>, world: &World<'_>, most: Cost) -> Judgement {
        self.gate.glance(case, world, most)
    }

    fn takes(&self, case: Case<'_>) -> Vec<UniqueValue> {
        self.gate.takes(case)
    }

    fn confirming(&self) -> Vec<&str> {
        self.gate.confirming()
    }
}

/// The digest of every list by its name, including those that single steps parse themselves.
#[must_use]
pub fn list_digests() -> BTreeMap<&'static str, Digest> {
    let parsed_by_steps = [
        ("disposable", placeholder::digest()),
        ("user-content", user_content::digest()),
        ("legal-forms", company_name::legal_forms_digest()),
        ("common-words", company_name::common_words_digest()),
    ];
    lists::digests().chain(parsed_by_steps).collect()
}
