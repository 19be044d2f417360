//! Visits a page like a browser: hop by hop, with every hop checked like the first, as robots.txt
//! allows, and with the frames of the page.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use url::Url;

use super::settings::RobotsPolicy;
use crate::world::domain::{HostName, RegistrableDomain};
use crate::world::fetch::robots::{MAX_REDIRECTS, Rules, robots_rules, robots_url};
use crate::world::page::Page;
use crate::world::{Fetched, Fetcher, Rendered, Request, Response, Unanswered, UnansweredKind};

/// The most hops after the first request: redirects, refreshes and frames together.
pub const MAX_HOPS: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// Every URL that was requested, or that a hop named as the next one, in order.
    pub hops: Vec<Hop>,
    pub end: End,
    /// Frames of the page that could not be read, so that their content is unknown. Frames that do not
    /// exist are left out, and only the first of very many frames without a hop left are listed.
    pub unread: Vec<(Url, End)>,
}

impl Visit {
    /// The hops from the start to the page that answered, without those of its frames.
    pub fn way(&self) -> &[Hop] {
        let end = self.hops.iter().position(|hop| hop.by == Step::Frame);
        &self.hops[..end.unwrap_or(self.hops.len())]
    }
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

/// Visits `start` and follows its redirects, refreshes and frames.
///
/// Redirects and refreshes are followed without their delays, and frames are read, in total at most
/// [`MAX_HOPS`]. A page with a refresh to a URL that was already visited reloads itself and is read.
/// Each hop must be http or https without credentials, and allowed by the robots.txt of its origin,
/// which is fetched once per visit.
pub fn visit(fetcher: &dyn Fetcher, start: &Url, robots: RobotsPolicy) -> Visit {
    let walk = Walk {
        fetcher,
        policy: robots,
        robots: BTreeMap::new(),
        hops: Vec::new(),
    };
    walk.go(start)
}

/// The most frames that are listed as unread for lack of hops: a page may have a hundred thousand.
const MAX_LEFT_FRAMES: usize = 16;

struct Walk<'a> {
    fetcher: &'a dyn Fetcher,
    policy: RobotsPolicy,
    /// By origin: the rules of its robots.txt, or why they are not known.
    robots: BTreeMap<String, Result<Rules, Unanswered>>,
    hops: Vec<Hop>,
}

enum Next {
    Page(Box<Whole>),
    Redirect(Url),
}

/// A page, with all its frames if a browser showed it.
struct Whole {
    page: Page,
    frames: Option<Frames>,
}

#[derive(Default)]
struct Frames {
    pages: Vec<Page>,
    unread: Vec<(Url, End)>,
    /// Every URL that a frame was asked from.
    hops: Vec<Url>,
}

impl From<Page> for Next {
    fn from(page: Page) -> Self {
        let frames = None;
        Self::Page(Box::new(Whole { page, frames }))
    }
}

impl Walk<'_> {
    fn go(mut self, start: &Url) -> Visit {
        let (end, unread) = match self.follow(start.clone(), Step::Start) {
            Ok(whole) => {
                let (pages, unread) = self.with_frames(whole);
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

    /// The page that `url` leads to over redirects and refreshes.
    fn follow(&mut self, mut url: Url, mut by: Step) -> Result<Whole, End> {
        let mut way = Vec::new();
        loop {
            url.set_fragment(None);
            self.hop(&url, by)?;
            if way.contains(&url) {
                return Err(unanswered_at(url, "it redirects in a circle"));
            }
            way.push(url.clone());
            match self.ask(&url)? {
                Next::Redirect(target) => (url, by) = (target, Step::Redirect),
                Next::Page(whole) => match refresh_target(&whole.page, &way) {
                    Some(target) => (url, by) = (target, Step::Refresh),
                    None => return Ok(*whole),
                },
            }
        }
    }

    fn hop(&mut self, url: &Url, by: Step) -> Result<(), End> {
        let used_up = self.hops_left() == 0;
        let hop = url.clone();
        self.hops.push(Hop { url: hop, by });
        let refusal = if !can_be_fetched(url) {
            "it is not an http or https URL without credentials"
        } else if used_up {
            "it takes more hops than are followed"
        } else {
            return Ok(());
        };
        Err(unanswered_at(url.clone(), refusal))
    }

    /// The number of hops that are still allowed, without the start.
    fn hops_left(&self) -> usize {
        (MAX_HOPS + 1).saturating_sub(self.hops.len())
    }

    fn ask(&mut self, at: &Url) -> Result<Next, End> {
        let url = at.clone();
        let mut crawl_delay = None;
        if self.policy == RobotsPolicy::Obey {
            let fetcher = self.fetcher;
            let origin = at.origin().ascii_serialization();
            let rules = self.robots.entry(origin);
            let rules = rules.or_insert_with(|| rules_of(fetcher, at));
            match rules {
                Ok(rules) if rules.allow(at) => crawl_delay = rules.crawl_delay,
                Ok(_) => return Err(End::Forbidden { url }),
                Err(silence) => {
                    let mut why = silence.clone();
                    why.detail = format!("robots.txt: {}", why.detail);
                    return Err(End::Unanswered { url, why });
                }
            }
        }
        let request = Request {
            url: url.clone(),
            crawl_delay,
        };
        match self.fetcher.get(&request) {
            Fetched::Response(response) => read(self.fetcher, url, &response),
            Fetched::NoSuchHost => Err(End::Missing { url, status: None }),
            Fetched::TooLarge { limit_bytes } => {
                let why = format!("it is larger than {limit_bytes} bytes");
                Err(End::Unreadable { url, why })
            }
            Fetched::Unanswered(why) => Err(End::Unanswered { url, why }),
        }
    }

    /// `page` with its frames as shown by the browser.
    fn with_shown(&mut self, page: Page, frames: Frames) -> (Vec<Page>, Vec<(Url, End)>) {
        let by = Step::Frame;
        let hops = frames.hops.into_iter().map(|url| Hop { url, by });
        self.hops.extend(hops);
        let pages = std::iter::once(page).chain(frames.pages);
        (pages.collect(), frames.unread)
    }

    /// `page` with the pages of its frames and of their frames, each URL once. Those of the same site
    /// come first, because the hops are limited.
    fn with_frames(&mut self, whole: Whole) -> (Vec<Page>, Vec<(Url, End)>) {
        let page = whole.page;
        if let Some(frames) = whole.frames {
            return self.with_shown(page, frames);
        }
        let site = site_of(&page.url);
        let is_own = |url: &Url| site.is_some() && site_of(url) == site;
        let mut seen: BTreeSet<Url> = self.hops.iter().map(|hop| hop.url.clone()).collect();
        let (mut own, mut foreign) = (VecDeque::new(), VecDeque::new());
        let mut pages = vec![page];
        let mut unread = Vec::new();
        let mut added = 0;
        loop {
            for page in &pages[added..] {
                for url in page.frames.iter().filter(|url| can_be_fetched(url)) {
                    let mut url = url.clone();
                    url.set_fragment(None);
                    if seen.insert(url.clone()) {
                        let list = if is_own(&url) { &mut own } else { &mut foreign };
                        list.push_back(url);
                    }
                }
            }
            added = pages.len();
            if self.hops_left() == 0 {
                break;
            }
            let Some(url) = own.pop_front().or_else(|| foreign.pop_front()) else {
                break;
            };
            match self.follow(url.clone(), Step::Frame) {
                Ok(frame) => pages.push(frame.page),
                // A frame that does not exist shows nothing.
                Err(End::Missing { .. }) => {}
                Err(end) => unread.push((url, end)),
            }
        }
        let left = own.into_iter().chain(foreign).take(MAX_LEFT_FRAMES);
        unread.extend(left.map(|url| {
            let end = unanswered_at(url.clone(), "a frame beyond those that are followed");
            (url, end)
        }));
        (pages, unread)
    }
}

fn read(fetcher: &dyn Fetcher, url: Url, response: &Response) -> Result<Next, End> {
    match response.status {
        200..300 => match response.is_no_page() {
            Some(why) => Err(End::Unreadable { url, why }),
            None => read_page(fetcher, url, response),
        },
        status @ (404 | 410) => Err(End::Missing {
            url,
            status: Some(status),
        }),
        status => redirect_target(&url, response)
            .map(Next::Redirect)
            .ok_or_else(|| End::Unanswered {
                url,
                why: Unanswered::status(status),
            }),
    }
}

/// The page as a browser shows it, or else by its markup.
fn read_page(fetcher: &dyn Fetcher, url: Url, response: &Response) -> Result<Next, End> {
    let refresh = response.refresh.as_deref();
    let unreadable = |why: &dyn ToString| End::Unreadable {
        url: url.clone(),
        why: why.to_string(),
    };
    let rendered = match fetcher.render(&url, response) {
        Rendered::Page(rendered) => rendered,
        Rendered::Unanswered(why) => return Err(End::Unanswered { url, why }),
        Rendered::Markup => {
            let content_type = response.content_type.as_deref();
            let page = Page::parse(&url, content_type, refresh, &response.body);
            return page.map(Next::from).map_err(|why| unreadable(&why));
        }
    };
    let incomplete = rendered.incomplete;
    let mut page = Page::rendered(&url, refresh, &rendered.body, incomplete)
        .map_err(|why| unreadable(&why))?;
    if let Some(target) = rendered.leaves {
        page.refresh = Some(target);
    }
    let pages = rendered.frames.iter().map(|frame| {
        let page = Page::rendered(&frame.url, None, &frame.body, incomplete);
        page.map_err(|why| unreadable(&why))
    });
    let forbidden = rendered.forbidden.into_iter();
    let frames = Frames {
        pages: pages.collect::<Result<_, _>>()?,
        unread: forbidden
            .map(|url| (url.clone(), End::Forbidden { url }))
            .collect(),
        hops: rendered.hops,
    };
    let frames = Some(frames);
    Ok(Next::Page(Box::new(Whole { page, frames })))
}

fn site_of(url: &Url) -> Option<RegistrableDomain> {
    HostName::of_url(url)?.registrable()
}

/// The rules of the robots.txt for `url`, or why they are not known.
pub(super) fn rules_of(fetcher: &dyn Fetcher, url: &Url) -> Result<Rules, Unanswered> {
    robots_rules(&fetch_robots(fetcher, robots_url(url)))
}

/// The last answer after redirects from `url`, also to other hosts.
fn fetch_robots(fetcher: &dyn Fetcher, mut url: Url) -> Fetched {
    let mut redirects = 0;
    loop {
        let answer = fetcher.get(&Request {
            url: url.clone(),
            crawl_delay: None,
        });
        let target = match &answer {
            Fetched::Response(response) => redirect_target(&url, response),
            _ => None,
        };
        match target {
            Some(mut target) if redirects < MAX_REDIRECTS && can_be_fetched(&target) => {
                target.set_fragment(None);
                url = target;
            }
            _ => return answer,
        }
        redirects += 1;
    }
}

fn redirect_target(url: &Url, response: &Response) -> Option<Url> {
    let location = response.location.as_deref();
    url.join(location.filter(|_| response.redirects())?).ok()
}

/// Whether a URL may be requested at all: http or https, which always have a host, without
/// credentials.
fn can_be_fetched(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
}

/// The target of a page's refresh; none if it only reloads, goes back, or opens another program
/// (`mailto:`).
fn refresh_target(page: &Page, way: &[Url]) -> Option<Url> {
    let mut target = page.refresh.clone()?;
    target.set_fragment(None);
    (can_be_fetched(&target) && !way.contains(&target)).then_some(target)
}

fn unanswered_at(url: Url, detail: &str) -> End {
    End::Unanswered {
        url,
        why: Unanswered::new(UnansweredKind::Status, detail),
    }
}
