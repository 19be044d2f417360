//! Asks for pages as robots.txt lets it.

use std::collections::BTreeMap;

use url::Url;

use crate::world::fetch::robots::{
    MAX_REDIRECTS, Permission, RobotsRules, robots_rules, robots_url,
};
use crate::world::fetch::settings::RobotsPolicy;
use crate::world::{Fetched, Fetcher, Request};

/// A fetcher that asks the robots.txt of each origin first, once.
pub(super) struct Gatekeeper<'a> {
    fetcher: &'a dyn Fetcher,
    policy: RobotsPolicy,
    known: BTreeMap<String, RobotsRules>,
}

/// What came of asking for a page.
pub(super) enum Asked {
    /// It was asked for.
    Fetched(Fetched),
    /// robots.txt stood in the way; never [`Permission::Granted`].
    NotAllowed(Permission),
}

impl<'a> Gatekeeper<'a> {
    pub(super) fn new(fetcher: &'a dyn Fetcher, policy: RobotsPolicy) -> Self {
        Self {
            fetcher,
            policy,
            known: BTreeMap::new(),
        }
    }

    /// Asks for `url`, which is http or https.
    pub(super) fn get(&mut self, url: &Url) -> Asked {
        let mut crawl_delay = None;
        if self.policy == RobotsPolicy::Obey {
            let rules = self.rules_for(url);
            match rules.permission(url) {
                Permission::Granted => crawl_delay = rules.crawl_delay(),
                refused => return Asked::NotAllowed(refused),
            }
        }
        Asked::Fetched(self.fetcher.get(&Request {
            url: url.clone(),
            crawl_delay,
        }))
    }

    fn rules_for(&mut self, url: &Url) -> &RobotsRules {
        let fetcher = self.fetcher;
        self.known
            .entry(url.origin().ascii_serialization())
            .or_insert_with(|| robots_rules(&fetch_robots(fetcher, robots_url(url))))
    }
}

/// The last answer on the way from `url`, following redirects to other hosts too.
fn fetch_robots(fetcher: &dyn Fetcher, mut url: Url) -> Fetched {
    let mut redirects = 0;
    loop {
        let answer = fetcher.get(&Request {
            url: url.clone(),
            crawl_delay: None,
        });
        match redirect_target(&url, &answer) {
            Some(target) if redirects < MAX_REDIRECTS => url = target,
            _ => return answer,
        }
        redirects += 1;
    }
}

/// Where a 3xx answer of `url` leads, without a fragment.
fn redirect_target(url: &Url, answer: &Fetched) -> Option<Url> {
    let Fetched::Response(response) = answer else {
        return None;
    };
    let location = response
        .location
        .as_deref()
        .filter(|_| response.redirects())?;
    let mut target = url.join(location).ok()?;
    target.set_fragment(None);
    walkable(&target).then_some(target)
}

/// Whether a URL may be asked for at all: http or https, which always
/// have a host, and no credentials.
pub(super) fn walkable(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
}
