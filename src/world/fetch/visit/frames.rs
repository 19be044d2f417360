//! The frames that a visit has yet to read.

use std::collections::{BTreeSet, VecDeque};

use url::Url;

use super::Hop;
use super::gatekeeper::walkable;
use crate::world::domain::{HostName, RegistrableDomain};
use crate::world::page::Page;

/// Frames yet to read, each source once: those of the page's own site first.
pub(super) struct Frames {
    site: Option<RegistrableDomain>,
    seen: BTreeSet<Url>,
    own: VecDeque<Url>,
    foreign: VecDeque<Url>,
}

impl Frames {
    /// No frames yet, for a page at `url`; where the visit has been is not gone to again.
    pub(super) fn of_page_at(url: &Url, hops: &[Hop]) -> Self {
        Self {
            site: site_of(url),
            seen: hops.iter().map(|hop| hop.url.clone()).collect(),
            own: VecDeque::new(),
            foreign: VecDeque::new(),
        }
    }

    /// Adds the frames of `page` that can be asked for.
    pub(super) fn add(&mut self, page: &Page) {
        for url in page.frames.iter().filter(|url| walkable(url)) {
            let mut url = url.clone();
            url.set_fragment(None);
            if !self.seen.insert(url.clone()) {
                continue;
            }
            if self.site.is_some() && site_of(&url) == self.site {
                self.own.push_back(url);
            } else {
                self.foreign.push_back(url);
            }
        }
    }
}

impl Iterator for Frames {
    type Item = Url;

    fn next(&mut self) -> Option<Url> {
        self.own.pop_front().or_else(|| self.foreign.pop_front())
    }
}

fn site_of(url: &Url) -> Option<RegistrableDomain> {
    HostName::of_url(url)?.registrable()
}
