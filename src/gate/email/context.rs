//! What the seven steps share about one submission, and the operator's settings.

use std::cell::OnceCell;

use ipnet::IpNet;
use url::Url;

use super::site::{anchor_sites, sites_of};
use crate::gate::{Case, Fact};
use crate::quest::FieldName;
use crate::world::World;
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::fetch::visit::{Visit, visit};
use crate::world::mailbox::Mailbox;

pub use crate::gate::checks::outside::FileSettings as EmailSettings;
pub use crate::quest::email::{EMAIL, SITE, SOURCE};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Places {
    pub site: FieldName,
    pub email: FieldName,
    pub source: FieldName,
    /// The column that names the site which is expected, where the quest's anchor does not.
    pub anchor: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub struct Choices<'a> {
    pub role_only: bool,
    pub robots: RobotsPolicy,
    pub allow_net: &'a [IpNet],
}

/// One submission, parsed once, and the visits that its steps share.
pub struct Context<'a> {
    pub case: Case<'a>,
    pub world: &'a World<'a>,
    pub settings: Choices<'a>,
    pub site: Option<Url>,
    pub email: Option<Mailbox>,
    pub source: Option<Url>,
    places: Places,
    source_visit: OnceCell<Visit>,
    home_visit: OnceCell<Visit>,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            site: SITE,
            email: EMAIL,
            source: SOURCE,
            anchor: None,
        }
    }
}

impl Places {
    fn field<'n>(&'n self, name: &'n FieldName) -> &'n FieldName {
        let known = [
            (SITE, &self.site),
            (EMAIL, &self.email),
            (SOURCE, &self.source),
        ];
        let mut known = known.into_iter();
        known
            .find_map(|(own, place)| (own == *name).then_some(place))
            .unwrap_or(name)
    }
}

impl<'a> From<&'a EmailSettings> for Choices<'a> {
    fn from(settings: &'a EmailSettings) -> Self {
        Self {
            role_only: settings.role_only,
            robots: settings.robots,
            allow_net: &settings.allow_net,
        }
    }
}

impl<'a> Context<'a> {
    pub fn new(
        case: Case<'a>,
        world: &'a World<'a>,
        settings: Choices<'a>,
        places: Places,
    ) -> Self {
        let field = |name: &FieldName| case.submission.field(name.as_str()).unwrap_or_default();
        Self {
            case,
            world,
            settings,
            site: super::web_url::web_url(field(&places.site)).ok(),
            email: Mailbox::parse(field(&places.email)).ok(),
            source: super::web_url::web_url(field(&places.source)).ok(),
            places,
            source_visit: OnceCell::new(),
            home_visit: OnceCell::new(),
        }
    }

    pub fn text(&self, name: &FieldName) -> Option<&'a str> {
        self.case.submission.field(self.places.field(name).as_str())
    }

    /// The finding, about the field as the quest calls it.
    pub fn told(&self, finding: Fact) -> Fact {
        let field = finding.field.as_ref();
        let field = field.map(|name| self.places.field(name).clone());
        Fact { field, ..finding }
    }

    pub fn anchors(&self) -> Vec<Url> {
        let named = sites_of(self.case.quest);
        match &self.places.anchor {
            Some(column) if named.is_empty() => {
                anchor_sites(self.case.quest.cell(column).unwrap_or_default())
            }
            _ => named,
        }
    }

    pub fn source_visit(&self, source: &Url) -> &Visit {
        self.source_visit
            .get_or_init(|| visit(self.world.fetcher, source, self.settings.robots))
    }

    pub fn home_visit(&self, site: &Url) -> &Visit {
        self.home_visit
            .get_or_init(|| visit(self.world.fetcher, site, self.settings.robots))
    }
}
