//! The lookups of a gate: one HTTP exchange, one DNS question, and why there was no answer.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::world::domain::HostName;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub url: Url,
    pub crawl_delay: Option<Duration>,
}

/// The result of one GET. Redirects are answers and not followed.
///
/// `B` is the body: its bytes or, in evidence, their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fetched<B = Vec<u8>> {
    /// The server answered with a definite status: 2xx, 3xx, 404 or 410.
    Response(Response<B>),
    /// DNS says that the host does not exist (NXDOMAIN), or has no address at all.
    NoSuchHost,
    TooLarge {
        limit_bytes: u64,
    },
    Unanswered(Unanswered),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response<B = Vec<u8>> {
    pub status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
    /// The header `Content-Disposition`, which makes a download of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disposition: Option<Box<str>>,
    /// The body after decompression, at most the limit's bytes.
    pub body: B,
}

impl<B> Fetched<B> {
    pub fn with_body<C, E>(self, convert: impl FnOnce(B) -> Result<C, E>) -> Result<Fetched<C>, E> {
        Ok(match self {
            Self::Response(response) => Fetched::Response(Response {
                status: response.status,
                content_type: response.content_type,
                location: response.location,
                refresh: response.refresh,
                disposition: response.disposition,
                body: convert(response.body)?,
            }),
            Self::NoSuchHost => Fetched::NoSuchHost,
            Self::TooLarge { limit_bytes } => Fetched::TooLarge { limit_bytes },
            Self::Unanswered(why) => Fetched::Unanswered(why),
        })
    }
}

impl<B> Response<B> {
    /// Whether the status sends the reader on to the `Location` (RFC 9110 §15.4).
    pub fn redirects(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }

    /// Why a browser would show no page for this successful answer: it is not final (202), keeps the
    /// previous page (204, 205), answers no part that was asked for (206), or saves a file.
    pub fn is_no_page(&self) -> Option<String> {
        let kind = self.disposition.as_deref().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !matches!(self.status, 200 | 201 | 203) {
            Some(format!("its status is {}", self.status))
        } else if kind.eq_ignore_ascii_case("inline") || kind.is_empty() {
            None
        } else {
            // Any other kind is an attachment (RFC 6266 §4.2).
            Some("it is a download".to_owned())
        }
    }
}

/// The answer to one GET as a browser shows it.
///
/// `B` is a document: its bytes or, in evidence, their digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rendered<B = Vec<u8>> {
    /// No browser shows it, so its markup counts.
    Markup,
    Page(RenderedPage<B>),
    Unanswered(Unanswered),
}

/// What a reader sees of a page, in the form that `page/rendered.rs` reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderedPage<B = Vec<u8>> {
    pub body: B,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<RenderedFrame<B>>,
    /// Every URL that a frame was asked from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Url>,
    /// Frames that their robots.txt forbids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<Url>,
    /// The page that a script or a meta tag opens at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Url>,
    /// Whether a request of a script got no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenderedFrame<B = Vec<u8>> {
    pub url: Url,
    pub body: B,
}

impl<B> Rendered<B> {
    pub fn with_bodies<C, E>(
        self,
        mut convert: impl FnMut(B) -> Result<C, E>,
    ) -> Result<Rendered<C>, E> {
        let page = match self {
            Self::Markup => return Ok(Rendered::Markup),
            Self::Unanswered(why) => return Ok(Rendered::Unanswered(why)),
            Self::Page(page) => page,
        };
        let body = convert(page.body)?;
        let frames = page.frames.into_iter().map(|RenderedFrame { url, body }| {
            let body = convert(body)?;
            Ok(RenderedFrame { url, body })
        });
        Ok(Rendered::Page(RenderedPage {
            body,
            frames: frames.collect::<Result<_, E>>()?,
            hops: page.hops,
            forbidden: page.forbidden,
            leaves: page.leaves,
            incomplete: page.incomplete,
        }))
    }
}

#[cfg_attr(test, mockall::automock)]
pub trait Fetcher {
    /// Makes one exchange: politely, within the limits, retrying what does not answer.
    fn get(&self, request: &Request) -> Fetched;

    /// Shows what came from `url` in a browser, if the session has one.
    fn render(&self, url: &Url, response: &Response) -> Rendered {
        let _ = (url, response);
        Rendered::Markup
    }

    /// Checks that this machine has a network for pages. A recorded world needs no network.
    fn check_network(&self) -> Result<(), Unanswered> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordKind {
    A,
    Aaaa,
    Mx,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MxHost {
    pub preference: u16,
    /// Its host; `None` for the root, as a null MX has it (RFC 7505 §3).
    pub host: Option<HostName>,
}

/// The records that a name has, after CNAMEs. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Records {
    Addresses(Vec<IpAddr>),
    Mx(Vec<MxHost>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Looked {
    Found(Records),
    /// The name exists, and has no such record (RFC 2308 §2.2).
    NoData,
    /// The name does not exist (RFC 2308 §2.1).
    NoSuchName,
    Unanswered(Unanswered),
}

#[cfg_attr(test, mockall::automock)]
pub trait Resolver {
    fn lookup(&self, name: &HostName, kind: RecordKind) -> Looked;

    /// Checks that this machine has a network for DNS: a name server must send any reply about the
    /// root. A recorded world needs no network.
    fn check_network(&self) -> Result<(), Unanswered> {
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    pub silence: UnansweredKind,
    /// The detail, for people: a status, a host, an operating system's message.
    pub detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl Unanswered {
    pub fn new(silence: UnansweredKind, detail: impl Into<String>) -> Self {
        Self {
            silence,
            detail: detail.into(),
            status: None,
        }
    }

    pub fn status(status: u16) -> Self {
        Self {
            silence: UnansweredKind::Status,
            detail: format!("HTTP status {status}"),
            status: Some(status),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnansweredKind {
    Timeout,
    Connection,
    /// The operating system sends no packet, as in an agent's sandbox: this program may not connect or
    /// may open no more files, or there is no route.
    Denied,
    Tls,
    /// A status that is neither 2xx, 3xx with a usable target, 404 nor 410.
    Status,
    Dns,
    PrivateAddress,
    Protocol,
    /// All lookups of the submission together ran out of time.
    Budget,
    /// This program could not ask: another process held the lock of the host, or this one was stopped.
    NotAsked,
    /// The browser of the session cannot be used.
    NoBrowser,
    NotRecorded,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}
