//! Fetches pages over HTTP/1.1: politely, within limits, and only from public addresses.
//!
//! Every try resolves its host anew with the session's resolver, checks what comes, and
//! pins the addresses that pass for the one connection that it makes; connections are never
//! reused. Through an operator's proxy it is the proxy that resolves names: then only hosts
//! that are spelled as addresses can be checked here.
//!
//! Only a page's own answer carries a body: those of redirects, 404 and 410 say nothing that
//! a gate looks at, and are not read.

mod client;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use url::Url;

use super::dns::DnsResolver;
use super::politeness::Politeness;
use super::settings::{Budget, NetworkSettings, backoff};
use super::{log, route};
use crate::world::{Fetched, Fetcher, Request, Unanswered, UnansweredKind};
use client::{Client, Exchanged};

pub use client::ClientError;

/// What is shared by the fetchers of one process: settings, TLS roots, turns at hosts.
#[derive(Debug)]
pub struct HttpSetup {
    settings: NetworkSettings,
    client: Client,
    politeness: Politeness,
}

#[derive(Debug)]
pub struct HttpFetcher {
    setup: Arc<HttpSetup>,
    resolver: Arc<DnsResolver>,
    budget: Arc<Budget>,
}

impl HttpSetup {
    /// Checks the settings; TLS is set up only when a request is made.
    pub fn new(settings: &NetworkSettings, politeness: Politeness) -> Result<Self, ClientError> {
        Ok(Self {
            settings: settings.clone(),
            client: Client::new(settings)?,
            politeness,
        })
    }

    pub fn settings(&self) -> &NetworkSettings {
        &self.settings
    }
}

impl HttpFetcher {
    pub fn new(setup: Arc<HttpSetup>, resolver: Arc<DnsResolver>, budget: Arc<Budget>) -> Self {
        Self {
            setup,
            resolver,
            budget,
        }
    }

    fn try_once(&self, url: &Url, crawl_delay: Option<Duration>) -> Exchanged {
        let settled = |why| Exchanged::Settled(Fetched::Unanswered(why));
        let settings = &self.setup.settings;
        if self.budget.left().is_none() {
            return settled(self.budget.used_up());
        }
        let addresses =
            match crate::world::fetch::route::addresses(url, self.resolver.as_ref(), settings) {
                Ok(addresses) => addresses,
                Err(fetched) => return Exchanged::Settled(fetched),
            };
        let turn = self.setup.politeness.turn(
            &turn_name(url),
            self.gap(crawl_delay),
            self.budget.deadline(),
        );
        let (Some(_turn), Some(left)) = (turn, self.budget.left()) else {
            return settled(self.budget.used_up());
        };
        let limit = Duration::from_millis(settings.limits.request_ms);
        match self.setup.client.get(url, addresses, limit.min(left)) {
            Exchanged::Silent { why, .. }
                if why.silence == UnansweredKind::Timeout && self.budget.left().is_none() =>
            {
                settled(self.budget.used_up())
            }
            exchanged => exchanged,
        }
    }

    /// The gap before a request: what the operator and robots.txt ask for.
    ///
    /// A crawl delay counts up to a third of the submission's time, so that the three
    /// requests that a judgement commonly makes of one site can be made at all.
    fn gap(&self, crawl_delay: Option<Duration>) -> Duration {
        let longest = self.budget.limit() / 3;
        let asked = crawl_delay.unwrap_or_default().min(longest);
        self.setup.settings.min_gap().max(asked)
    }

    /// Tries until there is a definite answer, or no try is left.
    fn get_in_the_end(&self, url: &Url, crawl_delay: Option<Duration>) -> Fetched {
        let limits = &self.setup.settings.limits;
        for tried in 1.. {
            let (why, retry_after) = match self.try_once(url, crawl_delay) {
                Exchanged::Settled(fetched) => return fetched,
                Exchanged::Silent { why, retry_after } => (why, retry_after),
            };
            let pause = backoff(limits, tried).max(retry_after.unwrap_or_default());
            if tried >= limits.tries || self.budget.left().is_none_or(|left| left <= pause) {
                return Fetched::Unanswered(why);
            }
            thread::sleep(pause);
        }
        Fetched::Unanswered(self.budget.used_up())
    }
}

impl Fetcher for HttpFetcher {
    fn get(&self, request: &Request) -> Fetched {
        let url = match bare(&request.url) {
            Ok(url) => url,
            Err(why) => return Fetched::Unanswered(why),
        };
        let began = Instant::now();
        let fetched = self.get_in_the_end(&url, request.crawl_delay);
        log::fetched(&url, &fetched, began.elapsed());
        fetched
    }
}

/// The URL as it goes over the wire: no fragment and no credentials.
fn bare(url: &Url) -> Result<Url, Unanswered> {
    let mut bare = url.clone();
    bare.set_fragment(None);
    let cleared = bare.set_username("").is_ok() && bare.set_password(None).is_ok();
    if cleared && matches!(bare.scheme(), "http" | "https") {
        return Ok(bare);
    }
    Err(Unanswered {
        silence: UnansweredKind::Protocol,
        status: None,
        detail: format!("only http and https are fetched, not {}", url.scheme()),
    })
}

fn turn_name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_suffix('.').unwrap_or(host).to_owned()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Greeted {
    Answered { status: u16, date: Option<String> },
    NoSuchHost,
    Unanswered(Unanswered),
}

/// Greets the server of `url` once, with all of `limit` for it.
pub fn greet(
    url: &Url,
    settings: &NetworkSettings,
    limit: Duration,
) -> Result<Greeted, ClientError> {
    let client = Client::new(settings)?;
    let budget = Arc::new(Budget::new(limit));
    let resolver = DnsResolver::new(settings, Arc::clone(&budget));
    let addresses = match route::addresses(url, &resolver, settings) {
        Ok(addresses) => addresses,
        Err(Fetched::Unanswered(why)) => return Ok(Greeted::Unanswered(why)),
        Err(_) => return Ok(Greeted::NoSuchHost),
    };
    let Some(left) = budget.left() else {
        return Ok(Greeted::Unanswered(budget.used_up()));
    };
    Ok(match client.head(url, addresses, left) {
        Ok((status, date)) => Greeted::Answered { status, date },
        Err(why) => Greeted::Unanswered(why),
    })
}

pub fn roots(settings: &NetworkSettings) -> Result<usize, String> {
    let client = Client::new(settings).map_err(|error| error.to_string())?;
    client.trust().map_err(|error| error.to_string())?;
    Ok(webpki_roots::TLS_SERVER_ROOTS.len() + settings.ca_certs_pem.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("the tests' URLs are well-formed")
    }

    #[test]
    fn neither_credentials_nor_fragments_go_over_the_wire() {
        let bare = bare(&url("https://user:pass@acme.test/a?b#c"));
        assert_eq!(bare, Ok(url("https://acme.test/a?b")));
    }

    #[test]
    fn other_schemes_are_not_fetched() {
        for text in ["ftp://acme.test/", "file:///etc/passwd", "data:text/html,x"] {
            let why = bare(&url(text)).expect_err(text);
            assert_eq!(why.silence, UnansweredKind::Protocol);
        }
    }

    #[test]
    fn a_trailing_dot_does_not_buy_a_second_turn() {
        let names = ["http://Acme.test./", "https://acme.test:8443/"].map(|u| turn_name(&url(u)));
        assert_eq!(names, ["acme.test", "acme.test"]);
    }
}
