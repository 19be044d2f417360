//! The e-mail gate itself: its steps in order.

use super::context::Context;
use super::settings::EmailSettings;
use super::{domain, format, freemail, identity, mail, placeholder, source};
use crate::gate::{Cascade, Case, Gate, Judgement, Rule};
use crate::quest::email::EMAIL;
use crate::world::mailbox::Mailbox;
use crate::world::{Taken, World};

/// The gate of the e-mail quest.
#[derive(Debug, Clone, Default)]
pub struct EmailGate {
    settings: EmailSettings,
}

impl EmailGate {
    /// A gate with the operator's choices.
    #[must_use]
    pub fn new(settings: EmailSettings) -> Self {
        Self { settings }
    }

    fn cascade<'a>(&self) -> Cascade<Context<'a>> {
        Cascade::new(
            vec![
                Box::new(format::Format),
                Box::new(placeholder::Placeholder),
                Box::new(freemail::Freemail),
                Box::new(domain::Domain),
                Box::new(source::Source),
                Box::new(mail::Mail),
                Box::new(identity::Identity),
            ],
            self.settings.levels.clone(),
        )
    }
}

impl Gate for EmailGate {
    fn rules(&self) -> Vec<Rule> {
        self.cascade().rules()
    }

    fn judge(&self, case: Case<'_>, world: &World<'_>) -> Judgement {
        self.cascade()
            .run(&Context::new(case, world, &self.settings))
    }

    fn takes(&self, case: Case<'_>) -> Vec<Taken> {
        let text = case.submission.field(EMAIL.as_str());
        let Some(mailbox) = text.and_then(|text| Mailbox::parse(text).ok()) else {
            return Vec::new();
        };
        let domain = mailbox.domain().registrable().map(Taken::Domain);
        std::iter::once(Taken::Mailbox(mailbox))
            .chain(domain)
            .collect()
    }

    fn confirming(&self) -> Vec<&str> {
        vec!["source", "identity"]
    }
}
