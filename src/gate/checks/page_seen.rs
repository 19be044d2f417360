//! A page that a check reads: where a visit ended, as what it means for a check.

use crate::gate::Fact;
use url::Url;

use crate::base::text::truncate;
use crate::gate::email::web_url::web_url;
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Hop, Step, Visit};
use crate::world::page::Page;

/// The longest URL that a fact shows whole.
const LONGEST: usize = 300;

/// The URL that a value spells, or the fact that it spells none.
pub(super) fn page_url(text: &str) -> Result<Url, Fact> {
    web_url(text).map_err(|bad| {
        let expected = "an http or https URL of a page";
        Fact::wrong(expected, bad.to_string())
    })
}

/// The URL, cut to a length that people read.
pub(super) fn location(url: &Url) -> String {
    truncate(url.as_str(), LONGEST).into_owned()
}

/// The hops from the start to the page that answered; those of its frames come after.
pub(super) fn way(visit: &Visit) -> &[Hop] {
    let end = visit.hops.iter().position(|hop| hop.by == Step::Frame);
    &visit.hops[..end.unwrap_or(visit.hops.len())]
}

/// The page that answered and its frames, or why there is none.
pub(super) fn pages(visit: &Visit) -> Result<(&Page, &[Page]), Fact> {
    let (url, expected, actual, definite) = match &visit.end {
        End::Pages(pages) => {
            if let Some(split) = pages.split_first() {
                return Ok(split);
            }
            return Err(Fact::wrong("a page", "none").unconfirmed());
        }
        End::Missing { url, status } => {
            let actual = status.map_or_else(
                || "no such host".to_owned(),
                |status| format!("status {status}"),
            );
            (url, "a page that exists", actual, true)
        }
        End::Unanswered { url, why } => (url, "a page that answers", why.to_string(), false),
        End::Forbidden { url } => {
            let actual = "robots.txt forbids it".to_owned();
            (url, "a page that robots.txt lets read", actual, false)
        }
        End::Unreadable { url, why } => (url, "a page that can be read", why.clone(), false),
    };
    let detail = Fact::wrong(expected, actual).at(location(url));
    Err(if definite {
        detail
    } else {
        detail.unconfirmed()
    })
}

/// Whether two URLs lie on one site: the same registrable domain.
pub(super) fn one_site(one: &Url, other: &Url) -> bool {
    let domain = |url: &Url| HostName::of_url(url).and_then(|host| host.registrable());
    domain(one).is_some() && domain(one) == domain(other)
}
