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

pub mod prune;
pub mod record;
pub mod recorded;
pub mod replay;
mod sandbox;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::io::{Read as _, Write as _};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use url::Url;

use super::domain::HostName;
use super::{
    EarlierDoubt, Fetched, Looked, RecordKind, Response, ResponseHead, Unanswered, UniqueValue,
    UniquenessIndex,
};
use crate::base::Digest;
use crate::quest::Key;
use crate::world::fetch::robots::{MAX_REDIRECTS, means_no_rules, robots_url};

pub use sandbox::{Apart, Asked, StoredCall, StoredRan, StoredSaid, Told, WorkshopExchange};

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
    pub evidence: Evidence,
    pub bodies: BTreeMap<Digest, Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    Get(PageExchange),
    Dns(DnsExchange),
    Session(SessionExchange),
    /// The session was asked what reviewers doubted before.
    Doubts(Vec<EarlierDoubt>),
    MayAsk(bool),
    Workshop(WorkshopExchange),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageExchange {
    pub url: Url,
    pub answer: PageAnswer,
}

/// What came of asking for a page: [`Fetched`] with the body named by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageAnswer {
    Response(StoredResponse),
    NoSuchHost,
    TooLarge { limit_bytes: u64 },
    Unanswered(Unanswered),
}

/// A definite answer of a server, its body apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredResponse {
    #[serde(flatten)]
    pub head: ResponseHead,
    pub body: BodyRef,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRef {
    /// The digest of its bytes, uncompressed.
    pub sha256: Digest,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DnsExchange {
    pub name: HostName,
    pub kind: RecordKind,
    pub answer: Looked,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionExchange {
    pub taken: UniqueValue,
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

    #[must_use]
    pub fn dns(&self, name: &HostName, kind: RecordKind) -> Option<&Looked> {
        self.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Dns(dns) if dns.name == *name && dns.kind == kind => Some(&dns.answer),
            _ => None,
        })
    }

    /// What the session said: outer `None` when it was not asked.
    #[must_use]
    pub fn holder(&self, taken: &UniqueValue) -> Option<Option<&Key>> {
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
    pub fn session_differs(&self, accepted: &dyn UniquenessIndex) -> bool {
        self.exchanges.iter().any(|exchange| match exchange {
            Exchange::Session(asked) => accepted.holder(&asked.taken) != asked.holder,
            _ => false,
        })
    }

    /// Whether `accepted` tells of other earlier doubts than were told of.
    #[must_use]
    pub fn doubts_differ(&self, accepted: &dyn UniquenessIndex) -> bool {
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

pub trait Bodies {
    /// The bytes whose digest is `digest`, uncompressed; none when they are not there.
    fn body(&self, digest: &Digest) -> Option<Vec<u8>>;
}

impl Bodies for BTreeMap<Digest, Vec<u8>> {
    fn body(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.get(digest).cloned()
    }
}

/// The operating system field of a gzip header, for "unknown" (RFC 1952 §2.3.1).
const OS_UNKNOWN: u8 = 255;

/// A stored body that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BadPack {
    #[error("the stored body is damaged; restore it from a copy")]
    Damaged(#[source] io::Error),
    /// It unpacks to more than any body that was stored.
    #[error("the stored body unpacks to more than {limit_bytes} bytes: it was not stored so")]
    TooLarge {
        /// The most bytes that were to come.
        limit_bytes: u64,
    },
}

/// Compresses a body, without time or system in its header.
///
/// # Panics
///
/// Never: it writes to memory alone, which does not fail.
#[must_use]
pub fn pack(body: &[u8]) -> Vec<u8> {
    let mut packer = GzBuilder::new()
        .mtime(0)
        .operating_system(OS_UNKNOWN)
        .write(Vec::new(), Compression::default());
    packer
        .write_all(body)
        .and_then(|()| packer.finish())
        .expect("writing to memory does not fail")
}

/// Unpacks a body of at most `limit_bytes`.
pub fn unpack(packed: &[u8], limit_bytes: u64) -> Result<Vec<u8>, BadPack> {
    let mut body = Vec::new();
    GzDecoder::new(packed)
        .take(limit_bytes.saturating_add(1))
        .read_to_end(&mut body)
        .map_err(BadPack::Damaged)?;
    if body.len() as u64 > limit_bytes {
        return Err(BadPack::TooLarge { limit_bytes });
    }
    Ok(body)
}

impl Evidence {
    /// Whether the robots.txt of `page` was asked for, and gave no answer.
    ///
    /// A server in trouble forbids all (RFC 9309 §2.3.1.4) and has said nothing of its own.
    #[must_use]
    pub fn robots_unanswered(&self, page: &Url) -> bool {
        let mut url = robots_url(page);
        for _ in 0..=MAX_REDIRECTS {
            let location = match self.page(&url) {
                Some(PageAnswer::Unanswered(why)) => return !means_no_rules(&url, why),
                Some(PageAnswer::Response(stored)) => stored.head.location.as_deref(),
                _ => return false,
            };
            match location.and_then(|location| url.join(location).ok()) {
                Some(target) => url = target,
                None => return false,
            }
            url.set_fragment(None);
        }
        false
    }
}

#[cfg(test)]
mod tests_pack {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_more_than_was_stored() {
        let bomb = pack(&vec![0; 1 << 20]);
        assert!(bomb.len() < 1 << 12);
        assert!(matches!(
            unpack(&bomb, 1000),
            Err(BadPack::TooLarge { limit_bytes: 1000 })
        ));
        assert_eq!(unpack(&bomb, 1 << 20).unwrap().len(), 1 << 20);
    }

    #[test]
    fn refuses_damage() {
        let mut packed = pack(b"hello, hello, hello");
        packed.pop();
        assert!(matches!(unpack(&packed, 100), Err(BadPack::Damaged(_))));
        let mut packed = pack(b"hello, hello, hello");
        let crc = packed.len() - 8;
        packed[crc] ^= 1;
        assert!(matches!(unpack(&packed, 100), Err(BadPack::Damaged(_))));
        assert!(unpack(b"", 100).is_err());
    }

    #[test]
    fn keeps_time_and_system_out() {
        let packed = pack(b"x");
        assert_eq!(&packed[4..8], &[0; 4], "MTIME");
        assert_eq!(packed[9], OS_UNKNOWN);
    }

    proptest! {
        #[test]
        fn unpacks_what_it_packed(body in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let packed = pack(&body);
            prop_assert_eq!(&packed, &pack(&body));
            prop_assert_eq!(unpack(&packed, body.len() as u64).unwrap(), body);
        }
    }
}

#[cfg(test)]
mod tests_robots {
    use super::*;

    fn evidence(exchanges: &[(&str, &str)]) -> Evidence {
        let exchanges: Vec<String> = exchanges
            .iter()
            .map(|(url, answer)| format!(r#"{{"get":{{"url":"{url}","answer":{answer}}}}}"#))
            .collect();
        let text = format!(r#"{{"exchanges":[{}]}}"#, exchanges.join(","));
        serde_json::from_str(&text).unwrap()
    }

    fn silent(status: u16) -> String {
        format!(
            r#"{{"unanswered":{{"silence":"status","detail":"HTTP status {status}","status":{status}}}}}"#
        )
    }

    fn response(status: u16, location: &str) -> String {
        let body = format!(r#"{{"sha256":"{}","bytes":0}}"#, "0".repeat(64));
        format!(r#"{{"response":{{"status":{status}{location},"body":{body}}}}}"#)
    }

    fn said(exchanges: &[(&str, &str)]) -> bool {
        let page = Url::parse("https://acme.com/contact?x=1").unwrap();
        evidence(exchanges).robots_unanswered(&page)
    }

    const ROBOTS: &str = "https://acme.com/robots.txt";

    #[test]
    fn a_server_in_trouble_has_not_answered() {
        assert!(said(&[(ROBOTS, &silent(503))]));
        assert!(said(&[(ROBOTS, &silent(429))]));
        assert!(!said(&[(ROBOTS, &silent(403))]));
        assert!(!said(&[(ROBOTS, &response(200, ""))]));
        assert!(!said(&[("https://www.acme.com/robots.txt", &silent(503))]));
        assert!(!said(&[]));
    }

    #[test]
    fn redirects_are_followed_to_who_did_not_answer() {
        let elsewhere = response(301, r#","location":"https://www.acme.com/r.txt#x""#);
        let www = "https://www.acme.com/r.txt";
        assert!(said(&[(ROBOTS, &elsewhere), (www, &silent(500))]));
        assert!(!said(&[(ROBOTS, &elsewhere), (www, &response(200, ""))]));
        let circle = response(301, r#","location":"/robots.txt""#);
        assert!(!said(&[(ROBOTS, &circle)]));
    }
}
