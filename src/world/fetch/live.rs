//! The live world: pages and DNS as they are now, asked politely and within limits.
//!
//! Every try resolves its host again with the session's resolver, checks the addresses, and pins the
//! permitted ones for its only connection; connections are never reused. An operator's proxy resolves
//! names itself, so that only literal addresses can be checked here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use url::Url;

use super::budget::{Budget, not_asked, retry};
use super::dns::DnsResolver;
use super::http::{Client, ClientError, Silence};
use super::politeness::{Politeness, TurnPlace};
use super::robots::Rules;
use super::settings::{NetworkSettings, RobotsPolicy};
use super::{log, route, visit};
use crate::world::browser::{Browser, Resource, Resources};
use crate::world::page::Page;
use crate::world::{
    Fetched, Fetcher, Rendered, Request, Resolver, Response, Unanswered, UnansweredKind,
};

/// Answers the lookups of one submission, which share one budget of time.
#[derive(Debug)]
pub struct LiveWorld {
    shared: Arc<Shared>,
    resolver: DnsResolver,
    budget: Arc<Budget>,
    /// The rules of the sites of frames, by origin.
    robots: Mutex<BTreeMap<String, Result<Rules, Unanswered>>>,
}

/// The shared part of the worlds of one process: settings, TLS roots, turns at hosts.
#[derive(Debug)]
struct Shared {
    settings: NetworkSettings,
    client: Client,
    politeness: Politeness,
    browser: Option<Browser>,
}

/// The world that the calls of one server to its session share, with the browser that shows pages.
#[derive(Debug, Default)]
pub struct SharedWorld(Mutex<Option<LiveWorld>>);

impl SharedWorld {
    /// A world for one more submission; a new one if the session was scanned again.
    pub(crate) fn of(
        &self,
        settings: &NetworkSettings,
        turns: impl FnOnce() -> TurnPlace,
    ) -> Result<LiveWorld, WorldError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = kept.as_ref().filter(|it| it.shared.settings == *settings) {
            return Ok(world.for_another());
        }
        let world = LiveWorld::new(settings, turns())?;
        Ok(kept.insert(world).for_another())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the session's network settings cannot be used")]
pub struct WorldError(#[from] pub ClientError);

impl LiveWorld {
    /// A world with these settings.
    ///
    /// Cheap: nothing is read or connected to before the first lookup.
    ///
    /// # Errors
    ///
    /// Settings that can never work: an invalid CA certificate, a proxy that is not an http or https
    /// URL, a User-Agent that is not a valid header value.
    pub fn new(settings: &NetworkSettings, turns: TurnPlace) -> Result<Self, WorldError> {
        Ok(Self::of(Arc::new(Shared {
            settings: settings.clone(),
            client: Client::new(settings)?,
            politeness: Politeness::new(turns),
            browser: settings.browser.clone().map(Browser::new),
        })))
    }

    /// The same world for another submission: with a new budget, but with shared TLS and turns at hosts.
    /// Another thread may use it.
    pub fn for_another(&self) -> Self {
        Self::of(Arc::clone(&self.shared))
    }

    pub fn fetcher(&self) -> &dyn Fetcher {
        self
    }

    pub fn resolver(&self) -> &dyn Resolver {
        &self.resolver
    }

    fn of(shared: Arc<Shared>) -> Self {
        let limit = Duration::from_millis(shared.settings.limits.submission_ms);
        let budget = Arc::new(Budget::new(limit));
        Self {
            resolver: DnsResolver::new(&shared.settings, Arc::clone(&budget)),
            shared,
            budget,
            robots: Mutex::default(),
        }
    }

    fn try_once(&self, url: &Url, crawl_delay: Option<Duration>) -> Result<Fetched, Silence> {
        let Shared {
            settings,
            client,
            politeness,
            ..
        } = &*self.shared;
        if self.budget.left().is_none() {
            return Err(self.budget.used_up().into());
        }
        let addresses = match route::addresses(url, &self.resolver, settings) {
            Ok(addresses) => addresses,
            Err(fetched) => return Ok(fetched),
        };
        // The site requires this pause. The wait for a turn depends on other processes and is free.
        let asked = crawl_delay
            .unwrap_or_default()
            .min(self.longest_crawl_delay());
        self.budget.charge(asked);
        if self.budget.left().is_none() {
            return Err(self.budget.used_up().into());
        }
        let min_gap = Duration::from_millis(settings.min_gap_ms);
        let turn = politeness.turn(&turn_name(url), min_gap.max(asked), self.lock_patience());
        let _turn = turn.map_err(|held| {
            // The other lookups of the submission would wait in vain too.
            self.budget.charge(self.budget.limit());
            not_asked(held.to_string())
        })?;
        match client.get(url, &addresses, &self.budget) {
            Err(Silence { why, .. })
                if why.silence == UnansweredKind::Timeout && self.budget.left().is_none() =>
            {
                Err(self.budget.used_up().into())
            }
            answer => answer,
        }
    }

    /// A crawl delay is limited to a third of the submission's time, because a judgement commonly makes
    /// three requests to one site.
    fn longest_crawl_delay(&self) -> Duration {
        self.budget.limit() / 3
    }

    /// Twice the longest time of a pause and a request.
    fn lock_patience(&self) -> Duration {
        let NetworkSettings {
            min_gap_ms, limits, ..
        } = &self.shared.settings;
        let pause = Duration::from_millis(*min_gap_ms).max(self.longest_crawl_delay());
        (pause + Duration::from_millis(limits.request_ms)) * 2
    }
}

impl Fetcher for LiveWorld {
    fn get(&self, request: &Request) -> Fetched {
        let url = match without_credentials(&request.url) {
            Ok(url) => url,
            Err(why) => return Fetched::Unanswered(why),
        };
        let began = Instant::now();
        let limits = &self.shared.settings.limits;
        let fetched = retry(limits, &self.budget, || {
            let fetched = self.try_once(&url, request.crawl_delay);
            fetched.map_err(|silence| (silence.why, silence.retry_after))
        });
        let fetched = fetched.unwrap_or_else(Fetched::Unanswered);
        log::fetched(&url, &fetched, began.elapsed());
        fetched
    }

    fn render(&self, url: &Url, response: &Response) -> Rendered {
        let content_type = response.content_type.as_deref();
        match &self.shared.browser {
            Some(browser) if Page::is_html(content_type, &response.body) => {
                browser.render(url, response, self)
            }
            _ => Rendered::Markup,
        }
    }

    fn check_network(&self) -> Result<(), Unanswered> {
        let settings = &self.shared.settings;
        match &settings.proxy {
            // The proxy resolves names and connects, so only the proxy must be reachable.
            Some(proxy) => {
                let budget = Arc::new(Budget::new(Duration::MAX));
                let resolver = DnsResolver::new(settings, budget);
                route::connect_to_proxy(proxy, &resolver, &settings.limits)
            }
            None => self.resolver.check_network(),
        }
    }
}

impl Resources for LiveWorld {
    /// One answer without the pause between pages: a browser makes no pause either.
    fn get(&self, url: &Url, within: Duration) -> Resource {
        let url = match without_credentials(url) {
            Ok(url) => url,
            Err(why) => return Resource::Unanswered(why),
        };
        let Shared {
            settings,
            client,
            politeness,
            ..
        } = &*self.shared;
        let began = Instant::now();
        let addresses = match route::addresses(&url, &self.resolver, settings) {
            Ok(addresses) => addresses,
            // An address that no reader can reach is not a part of the page.
            Err(Fetched::Unanswered(why)) if why.silence != UnansweredKind::PrivateAddress => {
                return Resource::Unanswered(why);
            }
            Err(_) => return Resource::Unreachable,
        };
        let turn = politeness.turn(&turn_name(&url), Duration::ZERO, self.lock_patience());
        let _turn = match turn {
            Ok(turn) => turn,
            Err(held) => return Resource::Unanswered(not_asked(held.to_string())),
        };
        let answer = client.resource(&url, &addresses, &self.budget, within);
        log::resource(&url, &answer, began.elapsed());
        match answer {
            Ok(answer) => Resource::Answered(answer),
            Err(why) => Resource::Unanswered(why),
        }
    }

    fn may_read(&self, frame: &Url) -> bool {
        if self.shared.settings.robots == RobotsPolicy::Ignore {
            return true;
        }
        let mut known = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = known.entry(frame.origin().ascii_serialization());
        let rules = rules.or_insert_with(|| visit::rules_of(self, frame));
        rules.as_ref().is_ok_and(|rules| rules.allow(frame))
    }
}

/// The URL as it goes over the wire: no fragment and no credentials.
fn without_credentials(url: &Url) -> Result<Url, Unanswered> {
    let mut bare = url.clone();
    bare.set_fragment(None);
    let cleared = bare.set_username("").is_ok() && bare.set_password(None).is_ok();
    if cleared && matches!(bare.scheme(), "http" | "https") {
        return Ok(bare);
    }
    let detail = format!("only http and https are fetched, not {}", url.scheme());
    Err(Unanswered::new(UnansweredKind::Protocol, detail))
}

fn turn_name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("the tests' URLs are well-formed")
    }

    #[test]
    fn neither_credentials_nor_fragments_go_over_the_wire() {
        let bare = without_credentials(&url("https://user:pass@acme.test/a?b#c"));
        assert_eq!(bare, Ok(url("https://acme.test/a?b")));
    }

    #[test]
    fn other_schemes_are_not_fetched() {
        for text in ["ftp://acme.test/", "file:///etc/passwd", "data:text/html,x"] {
            let why = without_credentials(&url(text)).expect_err(text);
            assert_eq!(why.silence, UnansweredKind::Protocol);
        }
    }

    #[test]
    fn a_trailing_dot_does_not_buy_a_second_turn() {
        let names = ["http://Acme.test./", "https://acme.test:8443/"].map(|u| turn_name(&url(u)));
        assert_eq!(names, ["acme.test", "acme.test"]);
    }
}
