//! The answers of the world in a judgement: enough to judge again without the world.
//!
//! As JSON, one document per judgement; every question occurs once, in order:
//!
//! ```json
//! {"exchanges": [
//!   {"get": {"url": "https://acme.com/contact", "answer": {"response": {
//!     "status": 200, "content_type": "text/html", "body": {"sha256": "9f86…", "bytes": 5120}}}}},
//!   {"get": {"url": "https://gone.com/", "answer": "no-such-host"}},
//!   {"dns": {"name": "acme.com", "kind": "MX", "answer": "no-data"}},
//!   {"session": {"value": {"mailbox": "info@acme.com"}, "holder": null}}
//! ]}
//! ```
//!
//! Bodies are stored separately, compressed ([`pack()`]) and named by the digest of their original
//! bytes.

pub mod prune;
pub mod record;
pub mod recorded;
pub mod replay;
mod sandbox;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::io::{Read as _, Write as _};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use url::Url;

use super::domain::HostName;
use super::{
    EarlierDoubt, Fetched, Looked, RecordKind, Rendered, Unanswered, UniqueValue, UniquenessIndex,
};
use crate::base::Digest;
use crate::quest::Key;
use crate::world::fetch::robots::{MAX_REDIRECTS, means_no_rules, robots_url};
use crate::world::sandbox::Network;
use crate::world::tree::TreePath;

pub use sandbox::{Question, SandboxAnswer};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    pub exchanges: Vec<Exchange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    pub evidence: Evidence,
    pub bodies: BTreeMap<Digest, Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Exchange {
    Get {
        url: Url,
        answer: PageAnswer,
    },
    /// The page at this URL as a browser showed it.
    Rendered {
        url: Url,
        answer: Rendered<BodyRef>,
    },
    Dns {
        name: HostName,
        kind: RecordKind,
        answer: Looked,
    },
    Session {
        value: UniqueValue,
        holder: Option<Key>,
    },
    Doubts(Vec<EarlierDoubt>),
    MayAsk(bool),
    Sandbox {
        asked: Question,
        answer: SandboxAnswer,
    },
}

/// The result of a request for a page, with its body stored separately.
pub type PageAnswer = Fetched<BodyRef>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRef {
    pub sha256: Digest,
    pub bytes: u64,
}

impl Evidence {
    fn find<'e, T>(&'e self, answer: impl Fn(&'e Exchange) -> Option<T>) -> Option<T> {
        self.exchanges.iter().find_map(answer)
    }

    /// The files of the tree that were looked at.
    pub fn files(&self) -> impl Iterator<Item = &TreePath> {
        self.exchanges.iter().filter_map(|exchange| match exchange {
            Exchange::Sandbox {
                asked: Question::File(path),
                ..
            } => Some(path),
            _ => None,
        })
    }

    /// Whether a change of these files may change what was seen: a command may read any file.
    pub fn may_see(&self, paths: &BTreeSet<&TreePath>) -> bool {
        self.exchanges.iter().any(|exchange| match exchange {
            Exchange::Sandbox { asked, .. } => match asked {
                Question::File(path) => paths.contains(path),
                Question::Run(_) | Question::Call(_) | Question::Service(_) => true,
                Question::Pinned(_)
                | Question::Changes
                | Question::ControlService(_)
                | Question::Chat(_)
                | Question::Nonce
                | Question::Received => false,
            },
            _ => false,
        })
    }

    pub fn page(&self, page: &Url) -> Option<&PageAnswer> {
        self.find(|exchange| match exchange {
            Exchange::Get { url, answer } if url == page => Some(answer),
            _ => None,
        })
    }

    /// A page as a browser showed it; none if no browser did.
    pub fn rendered(&self, page: &Url) -> Option<&Rendered<BodyRef>> {
        self.find(|exchange| match exchange {
            Exchange::Rendered { url, answer } if url == page => Some(answer),
            _ => None,
        })
    }

    pub fn dns(&self, host: &HostName, of: RecordKind) -> Option<&Looked> {
        self.find(|exchange| match exchange {
            Exchange::Dns { name, kind, answer } if name == host && *kind == of => Some(answer),
            _ => None,
        })
    }

    /// The answer of the session; the outer `None` if it was not asked.
    pub fn holder(&self, value: &UniqueValue) -> Option<Option<&Key>> {
        self.find(|exchange| match exchange {
            Exchange::Session {
                value: asked,
                holder,
            } if asked == value => Some(holder.as_ref()),
            _ => None,
        })
    }

    pub fn doubts(&self) -> Option<&[EarlierDoubt]> {
        self.find(|exchange| match exchange {
            Exchange::Doubts(doubts) => Some(doubts.as_slice()),
            _ => None,
        })
    }

    pub fn may_ask(&self) -> Option<bool> {
        self.find(|exchange| match exchange {
            Exchange::MayAsk(may) => Some(*may),
            _ => None,
        })
    }

    /// The result of the last command of this name.
    pub(crate) fn last_run(&self, check: &str) -> Option<&SandboxAnswer> {
        self.exchanges
            .iter()
            .rev()
            .find_map(|exchange| match exchange {
                Exchange::Sandbox {
                    asked: Question::Run(order),
                    answer,
                } if order.name == check => Some(answer),
                _ => None,
            })
    }

    pub fn answer_to(&self, question: &Question) -> Option<&SandboxAnswer> {
        self.find(|exchange| match exchange {
            Exchange::Sandbox { asked, answer } if asked == question => Some(answer),
            _ => None,
        })
    }

    /// The bodies that it refers to, possibly with duplicates.
    pub fn bodies(&self) -> impl Iterator<Item = &BodyRef> {
        self.exchanges.iter().flat_map(|exchange| match exchange {
            Exchange::Get {
                answer: PageAnswer::Response(response),
                ..
            } => vec![&response.body],
            Exchange::Rendered {
                answer: Rendered::Page(page),
                ..
            } => {
                let frames = page.frames.iter().map(|frame| &frame.body);
                std::iter::once(&page.body).chain(frames).collect()
            }
            Exchange::Sandbox { answer, .. } => answer.bodies(),
            _ => Vec::new(),
        })
    }

    /// Whether it rests only on a tree, commands and services, which can be asked again without the
    /// network. Reviewers are ignored. A command without a tree that may use the network does not
    /// qualify.
    pub fn rests_on_machine(&self, has_tree: bool) -> bool {
        let mut asked = self.exchanges.iter().filter_map(|exchange| match exchange {
            Exchange::Sandbox {
                asked: Question::Run(order),
                ..
            } if order.is_of_reviewer() => None,
            Exchange::Sandbox {
                asked: Question::Chat(_),
                ..
            } => None,
            Exchange::Sandbox { asked, .. } => Some(asked),
            _ => None,
        });
        let is_local = |asked: &Question| match asked {
            Question::Run(order) => has_tree || order.network != Network::Any,
            _ => true,
        };
        asked
            .next()
            .is_some_and(|first| is_local(first) && asked.all(is_local))
    }

    #[must_use]
    pub fn of_network(mut self) -> Self {
        self.exchanges.retain(|it| {
            matches!(
                it,
                Exchange::Get { .. } | Exchange::Rendered { .. } | Exchange::Dns { .. }
            )
        });
        self
    }

    /// Every unanswered lookup. A client error for a robots.txt counts as an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = &Unanswered> {
        self.exchanges.iter().filter_map(|exchange| match exchange {
            Exchange::Get {
                url,
                answer: PageAnswer::Unanswered(why),
            } => (!means_no_rules(url, why)).then_some(why),
            Exchange::Rendered {
                answer: Rendered::Unanswered(why),
                ..
            }
            | Exchange::Dns {
                answer: Looked::Unanswered(why),
                ..
            } => Some(why),
            _ => None,
        })
    }

    pub fn rests_on_silence(&self) -> bool {
        self.unanswered().next().is_some()
    }

    /// Whether `accepted` would answer any question to the session differently.
    pub fn session_differs(&self, accepted: &dyn UniquenessIndex) -> bool {
        self.exchanges.iter().any(|exchange| match exchange {
            Exchange::Session { value, holder } => accepted.holder(value) != *holder,
            _ => false,
        })
    }

    /// Whether `accepted` has other earlier doubts than the recorded ones.
    pub fn doubts_differ(&self, accepted: &dyn UniquenessIndex) -> bool {
        self.doubts()
            .is_some_and(|doubts| accepted.doubts() != doubts)
    }

    /// Whether the robots.txt of `page` was requested without an answer. A server error, which forbids
    /// everything (RFC 9309 §2.3.1.4), is not an answer.
    pub fn robots_unanswered(&self, page: &Url) -> bool {
        let mut url = robots_url(page);
        for _ in 0..=MAX_REDIRECTS {
            let location = match self.page(&url) {
                Some(PageAnswer::Unanswered(why)) => return !means_no_rules(&url, why),
                Some(PageAnswer::Response(stored)) => stored.location.as_deref(),
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

impl PageAnswer {
    pub fn fetched(&self, bodies: &dyn Bodies) -> Option<Fetched> {
        let body = |body: BodyRef| body.load(bodies).ok_or(());
        self.clone().with_body(body).ok()
    }
}

impl BodyRef {
    pub fn of(body: &[u8]) -> Self {
        Self {
            sha256: Digest::of(body),
            bytes: body.len() as u64,
        }
    }

    /// The bytes, if they exist and match their digest: others may be able to write to the store.
    pub(super) fn load(&self, bodies: &dyn Bodies) -> Option<Vec<u8>> {
        let body = bodies.body(&self.sha256)?;
        (Digest::of(&body) == self.sha256).then_some(body)
    }
}

pub trait Bodies {
    /// The uncompressed bytes with this digest, if they exist.
    fn body(&self, digest: &Digest) -> Option<Vec<u8>>;
}

impl Bodies for BTreeMap<Digest, Vec<u8>> {
    fn body(&self, digest: &Digest) -> Option<Vec<u8>> {
        self.get(digest).cloned()
    }
}

/// The operating system field of a gzip header, for "unknown" (RFC 1952 §2.3.1).
const OS_UNKNOWN: u8 = 255;

#[derive(Debug, thiserror::Error)]
pub enum BadPack {
    #[error("the stored body is damaged; restore it from a copy")]
    Damaged(#[source] io::Error),
    #[error("the stored body unpacks to more than {limit_bytes} bytes: it was changed")]
    TooLarge { limit_bytes: u64 },
}

/// Compresses a body, without time or system in its header.
///
/// # Panics
///
/// Never, because writing to memory does not fail.
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
