//! Goes to a page as a browser would: hop by hop, each hop seen and judged like the first.

mod frames;
mod gatekeeper;
#[cfg(test)]
mod tests;
mod walk;

use url::Url;

use self::gatekeeper::Gatekeeper;
use self::walk::Walk;
use super::settings::RobotsPolicy;
use crate::world::page::Page;
use crate::world::{Fetcher, Unanswered};

/// The most hops after the first request: redirects, refreshes and frames together.
pub const MAX_HOPS: usize = 5;

/// A way through the web, and where it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Every URL that was asked for, or that a hop named as the next, in order.
    pub hops: Vec<Hop>,
    /// Where it ended.
    pub end: End,
    /// Frames of the page that could not be read: what they show is unknown. Frames that do
    /// not exist are not among them, and of very many that had no hop left only the first are.
    pub unread: Vec<UnreadFrame>,
}

/// A frame that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFrame {
    /// Its source.
    pub url: Url,
    /// Why.
    pub why: Unread,
}

/// Why a frame could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// No definite answer, or too many hops on its way.
    Unanswered(Unanswered),
    /// robots.txt forbids to look.
    Forbidden,
    /// Too large, or not text.
    Unreadable(String),
    /// The visit's hops were used up.
    TooManyHops,
}

/// One URL of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The URL, without its fragment.
    pub url: Url,
    /// What led to it.
    pub by: Step,
}

/// What leads to a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The submission or the gate named it.
    Start,
    /// A 3xx answer.
    Redirect,
    /// A meta refresh or a `Refresh` header.
    Refresh,
    /// A `frame` or `iframe`.
    Frame,
}

/// Where a visit may end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The page that answered, followed by the pages of its frames that could be read.
    Pages(Vec<Page>),
    /// 404, 410, or a host that does not exist.
    Missing {
        /// Where.
        url: Url,
        /// The status; none when there is no such host.
        status: Option<u16>,
    },
    /// No definite answer, or more hops than are followed.
    Unanswered {
        /// Where.
        url: Url,
        /// Why.
        why: Unanswered,
    },
    /// robots.txt forbids to look.
    Forbidden {
        /// What it forbids.
        url: Url,
    },
    /// Too large, or not text.
    Unreadable {
        /// Where.
        url: Url,
        /// Why, for people.
        why: String,
    },
}

/// Goes to `start` and follows where it leads.
///
/// Redirects and refreshes are followed, whatever delay the page still asks for, and frames
/// are read; together at most [`MAX_HOPS`] of them. A refresh to a URL that the way has passed
/// already is a page that reloads: it is read as it stands. Each hop must be http or https
/// without credentials, and allowed by the robots.txt of its own origin, which is asked once a
/// visit.
#[must_use]
pub fn visit(fetcher: &dyn Fetcher, start: &Url, robots: RobotsPolicy) -> Visit {
    Walk::new(Gatekeeper::new(fetcher, robots), Page::parse).go(start)
}
