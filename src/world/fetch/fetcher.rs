//! One HTTP exchange, as a gate sees it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::world::Unanswered;

/// One GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The page, http or https, without a fragment.
    pub url: Url,
    /// The least time since the last request to the same host, where robots.txt asks for one.
    pub crawl_delay: Option<Duration>,
}

/// What came of one GET. Redirects are answers, not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The server answered with a status that says something definite: 2xx, 3xx, 404 or 410.
    Response(Response),
    /// DNS says that the host does not exist (NXDOMAIN), or has no address at all.
    NoSuchHost,
    /// The body is larger than the limit.
    TooLarge {
        /// The limit, in bytes after decompression.
        limit_bytes: u64,
    },
    /// No definite answer, after all retries.
    Unanswered(Unanswered),
}

/// A definite answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The `Content-Type` header, as sent.
    pub content_type: Option<String>,
    /// The `Location` header, as sent.
    pub location: Option<String>,
    /// The `Refresh` header, as sent.
    pub refresh: Option<String>,
    /// The body after decompression, at most the limit's bytes.
    pub body: Vec<u8>,
}

impl Response {
    /// Whether the status sends the reader on to the `Location` (RFC 9110 §15.4).
    #[must_use]
    pub fn redirects(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }
}

/// The headers of a [`Response`] in evidence; the body is stored apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// The `Content-Type` header, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The `Location` header, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The `Refresh` header, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
}

/// Fetches pages.
#[cfg_attr(test, mockall::automock)]
pub trait Fetcher {
    /// Makes one exchange: politely, within the limits, retrying what does not answer.
    fn get(&self, request: &Request) -> Fetched;
}
