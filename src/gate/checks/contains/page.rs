//! A text on a fetched page: in what its reader sees, and not because its URL said it.

use crate::gate::Fact;
use url::Url;

use super::super::context::Context;
use super::super::fields::shown;
use super::super::host_of::host_of;
use super::super::made_up::rendered;
use super::super::page_seen::{location, one_site, pages, way};
use super::super::page_template::PageTemplate;
use super::carried::{Carried, carried_any};
use super::{Contains, Sought};
use crate::quest::template::Template;
use crate::world::domain::HostName;
use crate::world::fetch::visit::Visit;
use crate::world::page::Page;

/// The page that must show a text.
#[derive(Debug)]
pub(super) struct OnPage {
    /// Its URL.
    pub(super) url: PageTemplate,
    /// The site that it must belong to.
    pub(super) site: Option<Template>,
    /// Whether its path may have words of the text.
    pub(super) slug: bool,
}

impl OnPage {
    /// Looks for what is sought.
    pub(super) fn look(
        &self,
        check: &Contains,
        context: &Context<'_>,
        sought: &Sought,
    ) -> Result<(), Fact> {
        let url = self.url.url(context)?;
        let mut slug = self.echo(&url, sought)?;
        let visit = context.visit(&url);
        for hop in way(&visit) {
            slug = self.echo(&hop.url, sought)?.or(slug);
        }
        let (main, frames) = pages(&visit)?;
        self.on_site(context, &main.url)?;
        let frames = frames.iter().filter(|frame| {
            one_site(&main.url, &frame.url) && carried_any(&frame.url, sought).is_none()
        });
        // A frame is a text of its own: what it says does not go on from the page's.
        let fits = |page: &Page| check.misfit(&page.visible, sought).is_none();
        if !std::iter::once(main).chain(frames).any(fits) {
            return Err(absent(check, &visit, main, sought));
        }
        match slug {
            Some(url) => Err(
                Fact::wrong("a page whose path does not say it", shown(&sought.text))
                    .at(location(&url))
                    .unconfirmed(),
            ),
            None => Ok(()),
        }
    }

    /// Whether the URL carries the text: an error where it may be told what to show, the URL where
    /// its path has the words.
    fn echo(&self, url: &Url, sought: &Sought) -> Result<Option<Url>, Fact> {
        match carried_any(url, sought) {
            Some(told @ (Carried::Told | Carried::Part)) => {
                let expected = "a page whose URL does not carry the text";
                let detail = if told == Carried::Told {
                    Fact::wrong(expected, "its URL carries the text")
                } else {
                    Fact::wrong(expected, "its URL carries a part of it")
                };
                Err(detail.at(location(url)))
            }
            Some(Carried::Slug) if !self.slug => Ok(Some(url.clone())),
            Some(Carried::Slug) | None => Ok(None),
        }
    }

    fn on_site(&self, context: &Context<'_>, page: &Url) -> Result<(), Fact> {
        let Some(site) = &self.site else {
            return Ok(());
        };
        let text = rendered(context, site)?;
        let Some(wanted) = host_of(&text).and_then(|host| host.registrable()) else {
            let expected = "a site under a public suffix";
            return Err(Fact::wrong(expected, shown(&text)));
        };
        let found = HostName::of_url(page).and_then(|host| host.registrable());
        if found.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let expected = format!("a page on {}", wanted.as_str());
        Err(Fact::wrong(expected, "a page elsewhere").at(location(page)))
    }
}

fn absent(check: &Contains, visit: &Visit, main: &Page, sought: &Sought) -> Fact {
    let at = location(&main.url);
    let unsure = |why: &str| {
        let expected = format!("{} on the page", check.named(sought));
        check.detail(&expected, why.to_owned()).unconfirmed()
    };
    let mut unread = visit.unread.iter();
    if unread.any(|frame| one_site(&main.url, &frame.url)) {
        return unsure("not in what could be read: a frame could not").at(at);
    }
    if main.needs_script {
        let why = "the page shows little without its scripts, and not that";
        return unsure(why).at(at);
    }
    let detail = check.misfit(&main.visible, sought);
    let detail = detail.unwrap_or_else(|| Fact::wrong(shown(&sought.text), "not there"));
    detail.at(at)
}
