//! Visits a page as a browser would: hop by hop, each hop checked like the first, within
//! robots.txt, with the frames of the page.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use url::Url;

use super::settings::RobotsPolicy;
use crate::world::domain::{HostName, RegistrableDomain};
use crate::world::fetch::robots::{
    MAX_REDIRECTS, Permission, RobotsRules, robots_rules, robots_url,
};
use crate::world::page::{Page, Unreadable};
use crate::world::{Fetched, Fetcher, Request, Response, Unanswered, UnansweredKind};

/// The most hops after the first request: redirects, refreshes and frames together.
pub const MAX_HOPS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Every URL that was asked for, or that a hop named as the next, in order.
    pub hops: Vec<Hop>,
    pub end: End,
    /// Frames of the page that could not be read: what they show is unknown. Frames that do
    /// not exist are not among them, and of very many that had no hop left only the first are.
    pub unread: Vec<UnreadFrame>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadFrame {
    pub url: Url,
    pub why: Unread,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// No definite answer, or too many hops on its way.
    Unanswered(Unanswered),
    Forbidden,
    Unreadable(String),
    TooManyHops,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub url: Url,
    pub by: Step,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Start,
    Redirect,
    /// A meta refresh or a `Refresh` header.
    Refresh,
    Frame,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The page that answered, followed by the pages of its frames that could be read.
    Pages(Vec<Page>),
    /// 404, 410, or a host that does not exist.
    Missing {
        url: Url,
        status: Option<u16>,
    },
    Unanswered {
        url: Url,
        why: Unanswered,
    },
    Forbidden {
        url: Url,
    },
    Unreadable {
        url: Url,
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
pub fn visit(fetcher: &dyn Fetcher, start: &Url, robots: RobotsPolicy) -> Visit {
    Walk::new(Gatekeeper::new(fetcher, robots), Page::parse).go(start)
}

/// Frames yet to read, each source once: those of the page's own site first.
pub(super) struct Frames {
    site: Option<RegistrableDomain>,
    seen: BTreeSet<Url>,
    own: VecDeque<Url>,
    foreign: VecDeque<Url>,
}

impl Frames {
    /// No frames yet, for a page at `url`; where the visit has been is not gone to again.
    pub(super) fn of_page_at(url: &Url, hops: &[Hop]) -> Self {
        Self {
            site: site_of(url),
            seen: hops.iter().map(|hop| hop.url.clone()).collect(),
            own: VecDeque::new(),
            foreign: VecDeque::new(),
        }
    }

    /// Adds the frames of `page` that can be asked for.
    pub(super) fn add(&mut self, page: &Page) {
        for url in page.frames.iter().filter(|url| walkable(url)) {
            let mut url = url.clone();
            url.set_fragment(None);
            if !self.seen.insert(url.clone()) {
                continue;
            }
            if self.site.is_some() && site_of(&url) == self.site {
                self.own.push_back(url);
            } else {
                self.foreign.push_back(url);
            }
        }
    }
}

impl Iterator for Frames {
    type Item = Url;

    fn next(&mut self) -> Option<Url> {
        self.own.pop_front().or_else(|| self.foreign.pop_front())
    }
}

fn site_of(url: &Url) -> Option<RegistrableDomain> {
    HostName::of_url(url)?.registrable()
}

/// A fetcher that asks the robots.txt of each origin first, once.
pub(super) struct Gatekeeper<'a> {
    fetcher: &'a dyn Fetcher,
    policy: RobotsPolicy,
    known: BTreeMap<String, RobotsRules>,
}

pub(super) enum Asked {
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

/// Reads the bytes of one answer; [`Page::parse`] but in tests.
pub(super) type Parse = fn(&Url, Option<&str>, Option<&str>, &[u8]) -> Result<Page, Unreadable>;

/// The most frames that are named for want of hops: a page may hold a hundred thousand.
const MAX_LEFT_FRAMES: usize = 16;

pub(super) struct Walk<'a> {
    gatekeeper: Gatekeeper<'a>,
    parse: Parse,
    hops: Vec<Hop>,
}

enum Next {
    Page(Box<Page>),
    Redirect(Url),
    End(End),
}

impl<'a> Walk<'a> {
    pub(super) fn new(gatekeeper: Gatekeeper<'a>, parse: Parse) -> Self {
        Self {
            gatekeeper,
            parse,
            hops: Vec::new(),
        }
    }

    pub(super) fn go(mut self, start: &Url) -> Visit {
        let (end, unread) = match self.follow(start.clone(), Step::Start) {
            Ok(page) => {
                let (pages, unread) = self.with_frames(page);
                (End::Pages(pages), unread)
            }
            Err(end) => (end, Vec::new()),
        };
        Visit {
            hops: self.hops,
            end,
            unread,
        }
    }

    fn follow(&mut self, mut url: Url, mut by: Step) -> Result<Page, End> {
        let mut way = Vec::new();
        loop {
            url.set_fragment(None);
            self.hop(&url, by)?;
            if way.contains(&url) {
                return Err(stuck(url, "it redirects in a circle"));
            }
            way.push(url.clone());
            match self.ask(&url) {
                Next::End(end) => return Err(end),
                Next::Redirect(target) => (url, by) = (target, Step::Redirect),
                Next::Page(page) => match onward(&page, &way) {
                    Some(target) => (url, by) = (target, Step::Refresh),
                    None => return Ok(*page),
                },
            }
        }
    }

    fn hop(&mut self, url: &Url, by: Step) -> Result<(), End> {
        let used_up = self.hops_left() == 0;
        self.hops.push(Hop {
            url: url.clone(),
            by,
        });
        let refusal = if !walkable(url) {
            "it is not an http or https URL without credentials"
        } else if used_up {
            "it takes more hops than are followed"
        } else {
            return Ok(());
        };
        Err(stuck(url.clone(), refusal))
    }

    /// The hops that may still be made; the start is none.
    fn hops_left(&self) -> usize {
        (MAX_HOPS + 1).saturating_sub(self.hops.len())
    }

    fn ask(&mut self, url: &Url) -> Next {
        let here = url.clone();
        match self.gatekeeper.get(url) {
            Asked::Fetched(Fetched::Response(response)) => self.read(url, &response),
            Asked::Fetched(Fetched::NoSuchHost) => Next::End(End::Missing {
                url: here,
                status: None,
            }),
            Asked::Fetched(Fetched::TooLarge { limit_bytes }) => Next::End(End::Unreadable {
                url: here,
                why: format!("it is larger than {limit_bytes} bytes"),
            }),
            Asked::Fetched(Fetched::Unanswered(why)) => {
                Next::End(End::Unanswered { url: here, why })
            }
            Asked::NotAllowed(Permission::Unknown(mut why)) => {
                why.detail = format!("robots.txt: {}", why.detail);
                Next::End(End::Unanswered { url: here, why })
            }
            Asked::NotAllowed(_) => Next::End(End::Forbidden { url: here }),
        }
    }

    fn read(&self, url: &Url, response: &Response) -> Next {
        let here = url.clone();
        match response.status {
            200..300 => match (self.parse)(
                url,
                response.content_type.as_deref(),
                response.refresh.as_deref(),
                &response.body,
            ) {
                Ok(page) => Next::Page(Box::new(page)),
                Err(why) => Next::End(End::Unreadable {
                    url: here,
                    why: why.to_string(),
                }),
            },
            404 | 410 => Next::End(End::Missing {
                url: here,
                status: Some(response.status),
            }),
            status => {
                let location = response
                    .location
                    .as_deref()
                    .filter(|_| response.redirects());
                match location.and_then(|location| url.join(location).ok()) {
                    Some(target) => Next::Redirect(target),
                    None => Next::End(End::Unanswered {
                        url: here,
                        why: Unanswered::status(status),
                    }),
                }
            }
        }
    }

    /// `page` with the pages of its frames and of theirs: those of its own site first, as hops
    /// are few.
    fn with_frames(&mut self, page: Page) -> (Vec<Page>, Vec<UnreadFrame>) {
        let mut frames = Frames::of_page_at(&page.url, &self.hops);
        frames.add(&page);
        let mut pages = vec![page];
        let mut unread = Vec::new();
        while self.hops_left() > 0
            && let Some(url) = frames.next()
        {
            match self.follow(url.clone(), Step::Frame) {
                Ok(frame) => {
                    frames.add(&frame);
                    pages.push(frame);
                }
                Err(end) => unread.extend(reason(end).map(|why| UnreadFrame { url, why })),
            }
        }
        let left = frames.map(|url| UnreadFrame {
            url,
            why: Unread::TooManyHops,
        });
        unread.extend(left.take(MAX_LEFT_FRAMES));
        (pages, unread)
    }
}

/// Where a page sends its reader on; none when it only reloads, goes back, or opens another
/// program (`mailto:`).
fn onward(page: &Page, way: &[Url]) -> Option<Url> {
    let mut target = page.refresh.clone()?;
    target.set_fragment(None);
    (walkable(&target) && !way.contains(&target)).then_some(target)
}

/// Why a frame has no page; none when it does not exist, and so shows nothing.
fn reason(end: End) -> Option<Unread> {
    match end {
        End::Pages(_) | End::Missing { .. } => None,
        End::Unanswered { why, .. } => Some(Unread::Unanswered(why)),
        End::Forbidden { .. } => Some(Unread::Forbidden),
        End::Unreadable { why, .. } => Some(Unread::Unreadable(why)),
    }
}

fn stuck(url: Url, detail: &str) -> End {
    End::Unanswered {
        url,
        why: Unanswered::new(UnansweredKind::Status, detail),
    }
}
