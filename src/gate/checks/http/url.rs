//! A page that must answer.

use super::super::context::Context;
use super::super::kind::Probe;
use super::super::kind::{Flaw, Source};
use super::super::page_seen::{location, pages};
use super::super::page_template::PageTemplate;
use crate::gate::Cost;
use crate::gate::Fact;
use crate::world::fetch::visit::{End, Visit};

#[derive(Debug)]
struct UrlCheck {
    url: PageTemplate,
    status: Vec<u16>,
}

/// The check that the page at `url` answers with one of these statuses, or with any of 2xx.
pub(super) fn build(
    source: &Source<'_>,
    url: &str,
    status: Vec<u16>,
) -> Result<Box<dyn Probe>, Flaw> {
    Ok(Box::new(UrlCheck {
        url: PageTemplate::new(source, "url", url)?,
        status,
    }))
}

impl UrlCheck {
    /// Whether the end is a status that is asked for. Of those that show a page no more is known
    /// than that they do.
    fn fits(&self, visit: &Visit) -> Option<bool> {
        let shows =
            || self.status.is_empty() || self.status.iter().any(|it| (200..300).contains(it));
        let has = |status: Option<u16>| status.is_some_and(|it| self.status.contains(&it));
        match &visit.end {
            End::Pages(_) | End::Unreadable { .. } => Some(shows()),
            End::Missing { status, .. } => Some(has(*status)),
            End::Unanswered { why, .. } => has(why.status).then_some(true),
            End::Forbidden { .. } => None,
        }
    }
}

impl Probe for UrlCheck {
    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let url = match self.url.url(context) {
            Ok(url) => url,
            Err(found) => return vec![found],
        };
        let visit = context.visit(&url);
        if self.fits(&visit) == Some(true) {
            return Vec::new();
        }
        match pages(&visit) {
            Err(found) => vec![found],
            Ok((page, _)) => {
                let expected = format!("a status of {:?}", self.status);
                let detail = Fact::wrong(expected, "a page");
                vec![detail.at(location(&page.url))]
            }
        }
    }
}
