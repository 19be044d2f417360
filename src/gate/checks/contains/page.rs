//! A text on a fetched page: in what its reader sees, and not because its URL said it.

use url::Url;

use super::super::context::Context;
use super::super::fields::shown;
use super::super::folded::folded;
use super::super::host_of::host_of;
use super::super::page_seen::{location, one_site, page_url, pages, way};
use super::super::probe::{Detail, Found};
use super::super::subject::rendered;
use super::{Contains, Sought};
use crate::gate::email::source::echo::{carries_text, unescaped};
use crate::quest::template::Template;
use crate::world::domain::HostName;
use crate::world::page::Page;
use crate::world::visit::Visit;

/// The page that must show a text.
#[derive(Debug)]
pub(super) struct OnPage {
    /// Its URL.
    pub(super) url: Template,
    /// The site that it must belong to.
    pub(super) site: Option<Template>,
    /// Whether its path may have words of the text.
    pub(super) slug: bool,
}

/// How a URL carries a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carried {
    /// Where a server is told what to show.
    Told,
    /// Among the words of its path.
    Slug,
}

impl OnPage {
    /// Looks for what is sought.
    pub(super) fn look(
        &self,
        check: &Contains,
        context: &Context<'_>,
        sought: &Sought,
    ) -> Result<(), Found> {
        let url = page_url(&rendered(context, &self.url)?)?;
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
        let said: Vec<String> = std::iter::once(main).chain(frames).map(said).collect();
        // A frame is a text of its own: what it says does not go on from the page's.
        let fits = |text: &String| check.misfit(text, sought).is_none();
        if !said.iter().any(fits) {
            return Err(absent(check, &visit, main, sought));
        }
        match slug {
            Some(url) => Err(
                Detail::new("a page whose path does not say it", shown(&sought.text))
                    .at(location(&url))
                    .unconfirmed(),
            ),
            None => Ok(()),
        }
    }

    /// Whether the URL carries the text: an error where it may be told what to show, the URL where
    /// its path has the words.
    fn echo(&self, url: &Url, sought: &Sought) -> Result<Option<Url>, Found> {
        match carried_any(url, sought) {
            Some(Carried::Told) => {
                let expected = "a page whose URL does not carry the text";
                let detail = Detail::new(expected, "its URL carries the text");
                Err(detail.at(location(url)).wrong())
            }
            Some(Carried::Slug) if !self.slug => Ok(Some(url.clone())),
            Some(Carried::Slug) | None => Ok(None),
        }
    }

    fn on_site(&self, context: &Context<'_>, page: &Url) -> Result<(), Found> {
        let Some(site) = &self.site else {
            return Ok(());
        };
        let text = rendered(context, site)?;
        let Some(wanted) = host_of(&text).and_then(|host| host.registrable()) else {
            let expected = "a site under a public suffix";
            return Err(Detail::new(expected, shown(&text)).wrong());
        };
        let found = HostName::of_url(page).and_then(|host| host.registrable());
        if found.as_ref() == Some(&wanted) {
            return Ok(());
        }
        let expected = format!("a page on {}", wanted.as_str());
        Err(Detail::new(expected, "a page elsewhere")
            .at(location(page))
            .wrong())
    }
}

/// What the page's reader sees, in order.
fn said(page: &Page) -> String {
    page.visible.join(" ")
}

fn absent(check: &Contains, visit: &Visit, main: &Page, sought: &Sought) -> Found {
    let at = location(&main.url);
    let unsure = |why: &str| {
        let expected = format!("{} on the page", check.named(sought));
        check.detail(&expected, why.to_owned()).unconfirmed()
    };
    let mut unread = visit.unread.iter();
    if unread.any(|frame| one_site(&main.url, &frame.url)) {
        return with_place(unsure("not in what could be read: a frame could not"), at);
    }
    if main.needs_script {
        let why = "the page shows little without its scripts, and not that";
        return with_place(unsure(why), at);
    }
    let detail = check.misfit(&said(main), sought);
    let detail = detail.unwrap_or_else(|| Detail::new(shown(&sought.text), "not there"));
    detail.at(at).wrong()
}

fn with_place(found: Found, at: String) -> Found {
    match found {
        Found::Wrong(detail) => detail.at(at).wrong(),
        Found::Unconfirmed(detail) => detail.at(at).unconfirmed(),
    }
}

/// How `url` carries what is sought, in the plainest of the ways in which it may be written.
fn carried_any(url: &Url, sought: &Sought) -> Option<Carried> {
    let mut found = None;
    for way in &sought.wordings {
        match carried(url, way) {
            Some(Carried::Told) => return Some(Carried::Told),
            slug => found = slug.or(found),
        }
    }
    found
}

/// How `url` carries `text`.
///
/// The registered name is not made up for a submission, so it is not looked at; whatever stands
/// before it is.
fn carried(url: &Url, text: &str) -> Option<Carried> {
    let host = url.host_str().unwrap_or_default();
    let domain = HostName::of_url(url).and_then(|host| host.registrable());
    let below = domain.and_then(|domain| host.strip_suffix(domain.as_str()));
    let below = below.unwrap_or(host).trim_end_matches('.');
    let query = url.query().unwrap_or_default();
    let needle = squeezed(text);
    let says = |part: &str| !needle.is_empty() && squeezed(part).contains(&needle);
    if [below, query]
        .iter()
        .any(|it| says(it) || carries_text(it, text))
    {
        return Some(Carried::Told);
    }
    let stem = |segment: &str| {
        let segment = unescaped(segment);
        let stem = segment.rsplit_once('.').map(|(stem, _)| stem.to_owned());
        squeezed(&stem.unwrap_or(segment))
    };
    let mut segments = url.path().split('/');
    if segments.any(|segment| !needle.is_empty() && stem(segment) == needle) {
        Some(Carried::Told)
    } else if says(url.path()) {
        // Among other words it may be the page's title; by itself or in code it is told.
        Some(Carried::Slug)
    } else {
        carries_text(url.path(), text).then_some(Carried::Told)
    }
}

/// The letters and digits of a part of a URL, or of a text that it may carry.
fn squeezed(text: &str) -> String {
    let plain = folded(&unescaped(text));
    plain.chars().filter(|c| c.is_alphanumeric()).collect()
}
