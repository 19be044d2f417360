//! A small world written by hand, for practice, controls and tests.
//!
//! One JSON document:
//!
//! ```json
//! {
//!   "pages": {
//!     "https://acme.com/": {"status": 301, "location": "https://www.acme.com/"},
//!     "https://www.acme.com/": {"content_type": "text/plain", "body": "info@acme.com"},
//!     "https://slow.com/": {"silence": "timeout"}
//!   },
//!   "dns": {
//!     "acme.com": {"MX": [[10, "mx.acme.com"]], "A": ["192.0.2.1"], "AAAA": "unanswered"}
//!   }
//! }
//! ```
//!
//! `status` defaults to 200 and `content_type` to `text/html; charset=utf-8`. `refresh` is the header
//! of that name. `silence` replaces an answer by an [`UnansweredKind`] with which a site can fail to
//! answer. A null MX is `[[0, "."]]`.
//!
//! A host that is not listed does not exist: an unknown path of a listed host is 404, and an unknown
//! name is NXDOMAIN. A listed name has only the records that it lists. The host of every page counts as
//! a listed name.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::Deserialize;
use url::Url;

use crate::quest::{Key, json};
use crate::world::domain::{BadHostName, HostName};
use crate::world::sandbox::NoSandbox;
use crate::world::{
    Fetched, Fetcher, Looked, MxHost, RecordKind, Records, Request, Resolver, Response, Unanswered,
    UnansweredKind, UniqueValue, UniquenessIndex, World,
};

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Written")]
pub struct RecordedWorld {
    pages: BTreeMap<Url, Fetched>,
    names: BTreeMap<HostName, BTreeMap<RecordKind, Looked>>,
    hosts: BTreeSet<HostName>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    // Texts, so that two spellings of the same address are noticed.
    pages: BTreeMap<String, WrittenPage>,
    #[serde(default)]
    dns: BTreeMap<String, WrittenName>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a page with `silence` alone, or with `status`, `content_type`, \
                 `location`, `refresh` and `body`"
)]
enum WrittenPage {
    Silent(SilentPage),
    Answered(AnsweredPage),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SilentPage {
    silence: UnansweredKind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredPage {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default = "html")]
    content_type: String,
    location: Option<String>,
    refresh: Option<String>,
    #[serde(default)]
    body: String,
}

fn ok() -> u16 {
    200
}

fn html() -> String {
    "text/html; charset=utf-8".to_owned()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "UPPERCASE")]
struct WrittenName {
    a: Option<WrittenRecords<IpAddr>>,
    aaaa: Option<WrittenRecords<IpAddr>>,
    mx: Option<WrittenRecords<(u16, String)>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenRecords<T> {
    Records(Vec<T>),
    Silence(Silence),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Silence {
    Unanswered,
}

/// Why a document does not describe a world.
#[derive(Debug, thiserror::Error)]
pub enum BadWorld {
    #[error("{text}: {why}")]
    Address { text: String, why: url::ParseError },
    #[error(transparent)]
    Host(#[from] BadHostName),
    #[error("{0}: this address is written twice")]
    Twice(String),
    #[error(
        "{0}: expected a `silence` of timeout, connection, tls, dns, private-address, protocol or \
         budget"
    )]
    Silence(Url),
}

impl TryFrom<Written> for RecordedWorld {
    type Error = BadWorld;

    fn try_from(written: Written) -> Result<Self, BadWorld> {
        let mut names = BTreeMap::new();
        for (name, records) in written.dns {
            if names
                .insert(HostName::parse(&name)?, records.looked()?)
                .is_some()
            {
                return Err(BadWorld::Twice(name));
            }
        }
        let mut pages = BTreeMap::new();
        for (text, page) in written.pages {
            let url = match Url::parse(&text) {
                Ok(url) => url,
                Err(why) => return Err(BadWorld::Address { text, why }),
            };
            let fetched = page.fetched(&url)?;
            if pages.insert(url, fetched).is_some() {
                return Err(BadWorld::Twice(text));
            }
        }
        let mut hosts: BTreeSet<_> = pages.keys().filter_map(HostName::of_url).collect();
        for (name, records) in &names {
            let addresses = [RecordKind::A, RecordKind::Aaaa].map(|kind| records.get(&kind));
            if addresses
                .iter()
                .any(|found| matches!(found, Some(Looked::Found(_))))
            {
                hosts.insert(name.clone());
            }
        }
        for host in &hosts {
            names.entry(host.clone()).or_default();
        }
        Ok(Self {
            pages,
            names,
            hosts,
        })
    }
}

impl RecordedWorld {
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        json::value(text).and_then(serde_json::from_value)
    }

    pub fn world_with<'w>(&'w self, accepted: &'w dyn UniquenessIndex) -> World<'w> {
        World {
            fetcher: self,
            resolver: self,
            accepted,
            sandbox: &NoSandbox,
        }
    }
}

impl WrittenPage {
    fn fetched(self, url: &Url) -> Result<Fetched, BadWorld> {
        match self {
            // These kinds describe this program or an answer.
            Self::Silent(SilentPage {
                silence:
                    UnansweredKind::Denied
                    | UnansweredKind::Status
                    | UnansweredKind::NotAsked
                    | UnansweredKind::NoBrowser
                    | UnansweredKind::NotRecorded,
            }) => Err(BadWorld::Silence(url.clone())),
            Self::Silent(SilentPage { silence }) => {
                let silent = Unanswered::new(silence, "recorded as unanswered");
                Ok(Fetched::Unanswered(silent))
            }
            Self::Answered(page) => Ok(page.fetched()),
        }
    }
}

impl AnsweredPage {
    fn fetched(self) -> Fetched {
        match self.status {
            200..400 | 404 | 410 => Fetched::Response(Response {
                status: self.status,
                content_type: Some(self.content_type),
                location: self.location,
                refresh: self.refresh,
                disposition: None,
                body: self.body.into_bytes(),
            }),
            status => Fetched::Unanswered(Unanswered::status(status)),
        }
    }
}

impl WrittenName {
    fn looked(self) -> Result<BTreeMap<RecordKind, Looked>, BadHostName> {
        let mut looked = BTreeMap::new();
        for (kind, addresses) in [(RecordKind::A, self.a), (RecordKind::Aaaa, self.aaaa)] {
            if let Some(addresses) = addresses {
                looked.insert(
                    kind,
                    addresses.looked(|found| Ok(Records::Addresses(found)))?,
                );
            }
        }
        if let Some(exchangers) = self.mx {
            looked.insert(RecordKind::Mx, exchangers.looked(mx_records)?);
        }
        Ok(looked)
    }
}

fn mx_records(written: Vec<(u16, String)>) -> Result<Records, BadHostName> {
    let hosts = written.into_iter().map(|(preference, host)| {
        let host = (host != ".").then(|| HostName::parse(&host)).transpose()?;
        Ok(MxHost { preference, host })
    });
    let mut hosts = hosts.collect::<Result<Vec<_>, _>>()?;
    hosts.sort();
    Ok(Records::Mx(hosts))
}

impl<T> WrittenRecords<T> {
    fn looked(
        self,
        records: impl FnOnce(Vec<T>) -> Result<Records, BadHostName>,
    ) -> Result<Looked, BadHostName> {
        Ok(match self {
            Self::Records(found) if found.is_empty() => Looked::NoData,
            Self::Records(found) => Looked::Found(records(found)?),
            Self::Silence(Silence::Unanswered) => Looked::Unanswered(Unanswered::new(
                UnansweredKind::Dns,
                "recorded as unanswered",
            )),
        })
    }
}

impl Fetcher for RecordedWorld {
    fn get(&self, request: &Request) -> Fetched {
        if let Some(fetched) = self.pages.get(&request.url) {
            return fetched.clone();
        }
        match HostName::of_url(&request.url) {
            Some(host) if self.hosts.contains(&host) => Fetched::Response(Response {
                status: 404,
                ..Response::default()
            }),
            _ => Fetched::NoSuchHost,
        }
    }
}

impl Resolver for RecordedWorld {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked {
        let known = self.names.get(name);
        known.map_or(Looked::NoSuchName, |records| {
            records.get(&kind).cloned().unwrap_or(Looked::NoData)
        })
    }
}

impl UniquenessIndex for RecordedWorld {
    /// Always none, because a recorded world has no earlier PASSes.
    fn holder(&self, _value: &UniqueValue) -> Option<Key> {
        None
    }
}
