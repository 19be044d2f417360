//! Which of the pages of a visit may speak for the site.

use url::Url;

use super::super::on_site::on_site;
use super::echo;
use crate::world::fetch::visit::{End, Hop, Step, UnreadFrame, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::Page;

/// The pages of a visit, told apart by whether they may speak for the site.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// The page that answered.
    pub main: &'a Page,
    /// Its frames of the same site.
    pub own: Vec<&'a Page>,
    /// Its frames of other sites.
    pub foreign: Vec<&'a Page>,
    /// Frames of the same site that could not be read.
    pub unread: Vec<&'a UnreadFrame>,
}

impl<'a> Seen<'a> {
    /// The pages of `visit`; none when it ended without one.
    ///
    /// When a frame's URL carries the address, no frame counts: what it shows may be an echo.
    #[must_use]
    pub fn of(visit: &'a Visit, site: &Url, email: &Mailbox) -> Option<Self> {
        let End::Pages(pages) = &visit.end else {
            return None;
        };
        let (main, frames) = pages.split_first()?;
        let after = &visit.hops[way(visit).len()..];
        let echoes = after.iter().any(|hop| echo::carries(&hop.url, email));
        let frames = if echoes { &[] } else { frames };
        let (own, foreign) = frames.iter().partition(|page| on_site(site, &page.url));
        let unread = visit
            .unread
            .iter()
            .filter(|frame| on_site(site, &frame.url));
        Some(Self {
            main,
            own,
            foreign,
            unread: unread.collect(),
        })
    }

    /// The page that answered, and its frames of the same site.
    pub fn counted(&self) -> impl Iterator<Item = &'a Page> {
        std::iter::once(self.main).chain(self.own.iter().copied())
    }
}

/// The hops from the start to the page that answered; those of its frames come after.
#[must_use]
pub fn way(visit: &Visit) -> &[Hop] {
    let end = visit.hops.iter().position(|hop| hop.by == Step::Frame);
    &visit.hops[..end.unwrap_or(visit.hops.len())]
}
