//! What the seven steps share about the submission in hand.

use std::cell::OnceCell;

use url::Url;

use super::settings::EmailSettings;
use crate::gate::Case;
use crate::quest::FieldName;
use crate::world::World;
use crate::world::mailbox::Mailbox;
use crate::world::visit::{Visit, visit};

pub use crate::quest::email::{EMAIL, SITE, SOURCE};

/// One submission, parsed once, and the visits that its steps share.
pub struct Context<'a> {
    /// The quest and the submission as it came.
    pub case: Case<'a>,
    /// The world.
    pub world: &'a World<'a>,
    /// The operator's choices.
    pub settings: &'a EmailSettings,
    /// The site; none when it is not a URL that the format step lets through.
    pub site: Option<Url>,
    /// The address; none when the format step refuses it.
    pub email: Option<Mailbox>,
    /// The source page, without its fragment; none when the format step refuses it.
    pub source: Option<Url>,
    source_visit: OnceCell<Visit>,
    home_visit: OnceCell<Visit>,
}

impl<'a> Context<'a> {
    /// The context of one case; nothing is looked up yet.
    #[must_use]
    pub fn new(case: Case<'a>, world: &'a World<'a>, settings: &'a EmailSettings) -> Self {
        let field = |name: &FieldName| case.submission.field(name.as_str()).unwrap_or_default();
        Self {
            case,
            world,
            settings,
            site: super::format::web_url(field(&SITE)).ok(),
            email: Mailbox::parse(field(&EMAIL)).ok(),
            source: super::format::web_url(field(&SOURCE)).ok(),
            source_visit: OnceCell::new(),
            home_visit: OnceCell::new(),
        }
    }

    /// The visit to `source`, made once.
    pub fn source_visit(&self, source: &Url) -> &Visit {
        self.source_visit
            .get_or_init(|| visit(self.world.fetcher, source, self.settings.robots))
    }

    /// The visit to the site's home page, made once.
    pub fn home_visit(&self, site: &Url) -> &Visit {
        self.home_visit
            .get_or_init(|| visit(self.world.fetcher, site, self.settings.robots))
    }
}
