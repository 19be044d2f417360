//! What a gate saw of the world: enough to judge again without the world.
//!
//! As JSON, one document a judgement; every question stands once, in the order of asking:
//!
//! ```json
//! {"exchanges": [
//!   {"get": {"url": "https://acme.com/contact", "answer": {"response": {
//!     "status": 200, "content_type": "text/html", "body": {"sha256": "9f86…", "bytes": 5120}}}}},
//!   {"get": {"url": "https://gone.com/", "answer": "no-such-host"}},
//!   {"dns": {"name": "acme.com", "kind": "MX", "answer": "no-data"}},
//!   {"session": {"taken": {"mailbox": "info@acme.com"}, "holder": null}}
//! ]}
//! ```
//!
//! Bodies are kept apart, compressed and named by the digest of what they were before
//! ([`pack()`]).

mod bodies;
mod pack;
mod robots;
mod workshop;

pub use bodies::Bodies;
pub use pack::{BadPack, pack, unpack};
pub use workshop::{Apart, Asked, StoredCall, StoredRan, StoredSaid, Told, WorkshopExchange};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use super::domain::HostName;
use super::fetch::robots::means_no_rules;
use super::{
    Accepted, EarlierDoubt, Fetched, Looked, RecordKind, Response, ResponseHead, Taken, Unanswered,
};
use crate::base::Digest;
use crate::quest::Key;

/// Every question that one judgement asked, with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The exchanges, in the order of asking.
    pub exchanges: Vec<Exchange>,
}

/// Evidence with the bodies that it names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// The exchanges.
    pub evidence: Evidence,
    /// Every body that they name.
    pub bodies: BTreeMap<Digest, Vec<u8>>,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// A page was asked for.
    Get(PageExchange),
    /// DNS was asked.
    Dns(DnsExchange),
    /// The session was asked.
    Session(SessionExchange),
    /// The session was asked what reviewers doubted before.
    Doubts(Vec<EarlierDoubt>),
    /// The session was asked whether reviewers may be.
    MayAsk(bool),
    /// The tree was asked, or a command was run.
    Workshop(WorkshopExchange),
}

/// A page that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageExchange {
    /// The page.
    pub url: Url,
    /// What came.
    pub answer: PageAnswer,
}

/// What came of asking for a page: [`Fetched`] with the body named by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageAnswer {
    /// A definite answer.
    Response(StoredResponse),
    /// The host does not exist.
    NoSuchHost,
    /// The body is larger than the limit.
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// No definite answer.
    Unanswered(Unanswered),
}

/// A definite answer of a server, its body apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredResponse {
    /// Status and headers.
    #[serde(flatten)]
    pub head: ResponseHead,
    /// Its body.
    pub body: BodyRef,
}

/// A body that is stored apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRef {
    /// The digest of its bytes, uncompressed.
    pub sha256: Digest,
    /// Its length, uncompressed.
    pub bytes: u64,
}

/// A question to DNS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DnsExchange {
    /// The name.
    pub name: HostName,
    /// The kind of record.
    pub kind: RecordKind,
    /// What came.
    pub answer: Looked,
}

/// A question to the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionExchange {
    /// What may be taken.
    pub taken: Taken,
    /// The quest that holds it, if one does.
    pub holder: Option<Key>,
}

impl Evidence {
    /// What came of asking for `url`.
    #[must_use]
    pub fn page(&self, url: &Url) -> Option<&PageAnswer> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Get(get) if get.url == *url => Some(&get.answer),
            _ => None,
        })
    }

    /// What DNS said.
    #[must_use]
    pub fn dns(&self, name: &HostName, kind: RecordKind) -> Option<&Looked> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Dns(dns) if dns.name == *name && dns.kind == kind => Some(&dns.answer),
            _ => None,
        })
    }

    /// What the session said: outer `None` when it was not asked.
    #[must_use]
    pub fn holder(&self, taken: &Taken) -> Option<Option<&Key>> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Session(asked) if asked.taken == *taken => Some(asked.holder.as_ref()),
            _ => None,
        })
    }

    /// What reviewers doubted before; none when the session was not asked.
    #[must_use]
    pub fn doubts(&self) -> Option<&[EarlierDoubt]> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Doubts(doubts) => Some(doubts.as_slice()),
            _ => None,
        })
    }

    /// Whether reviewers might be asked; none when the session was not.
    #[must_use]
    pub fn may_ask(&self) -> Option<bool> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::MayAsk(may) => Some(*may),
            _ => None,
        })
    }

    /// What the workshop answered.
    #[must_use]
    pub fn told(&self, asked: &Asked) -> Option<&Told> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Workshop(asking) if asking.asked == *asked => Some(&asking.answer),
            _ => None,
        })
    }

    /// The bodies that it names; one may come more than once.
    pub fn bodies(&self) -> impl Iterator<Item = &BodyRef> {
        self.exchanges.iter().flat_map(|exchange| match exchange {
            Exchange::Get(PageExchange {
                answer: PageAnswer::Response(response),
                ..
            }) => vec![&response.body],
            Exchange::Workshop(asking) => asking.answer.bodies(),
            _ => Vec::new(),
        })
    }

    /// Every lookup that the world did not answer.
    ///
    /// A robots.txt that is answered with a client error is not among them: that is an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = &Unanswered> {
        self.exchanges.iter().filter_map(|exchange| match exchange {
            Exchange::Get(get) => match &get.answer {
                PageAnswer::Unanswered(why) if !means_no_rules(&get.url, why) => Some(why),
                _ => None,
            },
            Exchange::Dns(dns) => match &dns.answer {
                Looked::Unanswered(why) => Some(why),
                _ => None,
            },
            Exchange::Session(_)
            | Exchange::Doubts(_)
            | Exchange::MayAsk(_)
            | Exchange::Workshop(_) => None,
        })
    }

    /// Whether any lookup was not answered.
    #[must_use]
    pub fn rests_on_silence(&self) -> bool {
        self.unanswered().next().is_some()
    }

    /// Whether `accepted` answers any question to the session otherwise than it was answered.
    #[must_use]
    pub fn session_differs(&self, accepted: &dyn Accepted) -> bool {
        self.exchanges.iter().any(|exchange| match exchange {
            Exchange::Session(asked) => accepted.holder(&asked.taken) != asked.holder,
            _ => false,
        })
    }

    /// Whether `accepted` tells of other earlier doubts than were told of.
    #[must_use]
    pub fn doubts_differ(&self, accepted: &dyn Accepted) -> bool {
        self.doubts()
            .is_some_and(|doubts| accepted.doubts() != doubts)
    }
}

impl PageAnswer {
    /// The answer in stored form, and the body that it names.
    #[must_use]
    pub fn of(fetched: Fetched) -> (Self, Option<(Digest, Vec<u8>)>) {
        match fetched {
            Fetched::Response(response) => {
                let (stored, body) = StoredResponse::of(response);
                let digest = stored.body.sha256;
                (Self::Response(stored), Some((digest, body)))
            }
            Fetched::NoSuchHost => (Self::NoSuchHost, None),
            Fetched::TooLarge { limit_bytes } => (Self::TooLarge { limit_bytes }, None),
            Fetched::Unanswered(why) => (Self::Unanswered(why), None),
        }
    }

    /// The answer as it came; none when `bodies` has not the body that it names.
    #[must_use]
    pub fn fetched(&self, bodies: &dyn Bodies) -> Option<Fetched> {
        Some(match self {
            Self::Response(stored) => Fetched::Response(stored.response(bodies)?),
            Self::NoSuchHost => Fetched::NoSuchHost,
            Self::TooLarge { limit_bytes } => Fetched::TooLarge {
                limit_bytes: *limit_bytes,
            },
            Self::Unanswered(why) => Fetched::Unanswered(why.clone()),
        })
    }
}

impl StoredResponse {
    fn of(response: Response) -> (Self, Vec<u8>) {
        let body = BodyRef::of(&response.body);
        let head = ResponseHead {
            status: response.status,
            content_type: response.content_type,
            location: response.location,
            refresh: response.refresh,
        };
        (Self { head, body }, response.body)
    }

    fn response(&self, bodies: &dyn Bodies) -> Option<Response> {
        let head = self.head.clone();
        Some(Response {
            status: head.status,
            content_type: head.content_type,
            location: head.location,
            refresh: head.refresh,
            body: bodies.body(&self.body.sha256)?,
        })
    }
}

impl BodyRef {
    /// The name of `body`.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self {
            sha256: Digest::of(body),
            bytes: body.len() as u64,
        }
    }
}

pub mod prune;
pub mod record;
pub mod recorded;
pub mod replay;
#[cfg(test)]
mod tests;
