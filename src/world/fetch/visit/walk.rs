//! One visit in the making.

use url::Url;

use super::frames::Frames;
use super::gatekeeper::{Asked, Gatekeeper, walkable};
use super::{End, Hop, MAX_HOPS, Step, Unread, UnreadFrame, Visit};
use crate::world::fetch::robots::Permission;
use crate::world::page::{Page, Unreadable};
use crate::world::{Fetched, Response, Silence, Unanswered};

/// Reads the bytes of one answer; [`Page::parse`] but in tests.
pub(super) type Parse = fn(&Url, Option<&str>, Option<&str>, &[u8]) -> Result<Page, Unreadable>;

/// The most frames that are named for want of hops: a page may hold a hundred thousand.
const MAX_LEFT_FRAMES: usize = 16;

/// A visit in the making.
pub(super) struct Walk<'a> {
    gatekeeper: Gatekeeper<'a>,
    parse: Parse,
    hops: Vec<Hop>,
}

/// What one answer leads to.
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

    /// Goes to `start` and follows where it leads.
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

    /// The page that `url` leads to over redirects and refreshes.
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

    /// Notes a hop, and refuses one that may not be made.
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

/// An end at a hop that cannot be made.
fn stuck(url: Url, detail: &str) -> End {
    End::Unanswered {
        url,
        why: Unanswered::new(Silence::Status, detail),
    }
}
