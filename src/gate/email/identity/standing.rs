//! How the pages of a visit name the company.

use url::{Position, Url};

use super::super::on_site::on_site;
use super::super::source::echo;
use super::company_name::CompanyName;
use super::folded::Folded;
use super::owner_name;
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Visit};
use crate::world::page::{OwnerPlace, Page};

/// How a page names the company, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Not at all.
    Absent,
    /// On a page whose URL carries the name, so that it may be an echo.
    Carried,
    /// In its text.
    Mentioned,
    /// Where a site signs all its pages, on a page that does not introduce the site.
    Signed,
    /// Where the name of the site's owner stands.
    Owner,
}

/// How the visit's pages on the site name the company, at best.
///
/// A page other than `home`, the page that may introduce the site, has a title, a heading, a
/// logo or an address of what it is about: an article, a directory's entry. There only what a
/// site puts on all its pages counts, and no more than as a signature: the site's name, the
/// footer, the copyright line.
#[must_use]
pub fn standing(visit: &Visit, site: &Url, home: &Url, name: &CompanyName) -> Standing {
    let End::Pages(pages) = &visit.end else {
        return Standing::Absent;
    };
    let is_home = pages.first().is_some_and(|page| page.url == *home)
        || visit.hops.first().is_some_and(|hop| hop.url == *home);
    let own = pages.iter().filter(|page| on_site(site, &page.url));
    let best = own.map(|page| on_page(page, is_home, name)).max();
    let best = best.unwrap_or(Standing::Absent);
    if best > Standing::Carried && visit.hops.iter().any(|hop| carries(&hop.url, name)) {
        return Standing::Carried;
    }
    best
}

fn on_page(page: &Page, is_home: bool, name: &CompanyName) -> Standing {
    let is_in = |text: &str| name.is_in(&Folded::new(text));
    let owner = |is_meant: fn(OwnerPlace) -> bool| {
        let mut owners = page.owner.iter();
        owners
            .any(|owner| is_meant(owner.place) && owner_name::names(owner.place, &owner.text, name))
    };
    let mentioned = || {
        let mut owners = page.owner.iter();
        owners.any(|owner| is_in(&owner.text)) || page.visible.iter().any(|text| is_in(text))
    };
    if is_home && owner(|_| true) {
        Standing::Owner
    } else if owner(is_on_all_pages) {
        Standing::Signed
    } else if mentioned() {
        Standing::Mentioned
    } else {
        Standing::Absent
    }
}

fn is_on_all_pages(place: OwnerPlace) -> bool {
    match place {
        OwnerPlace::SiteName | OwnerPlace::Footer | OwnerPlace::Copyright => true,
        OwnerPlace::Title
        | OwnerPlace::Heading
        | OwnerPlace::Logo
        | OwnerPlace::Organization
        | OwnerPlace::Header
        | OwnerPlace::Address => false,
    }
}

/// Whether the URL carries the name beside its registrable domain, which the owner chose: in a
/// name below that, which may be anybody's choice, in its path or in its query.
#[must_use]
pub fn carries(url: &Url, name: &CompanyName) -> bool {
    let below = HostName::of_url(url).and_then(|host| {
        let domain = host.registrable()?;
        let below = host.as_str().strip_suffix(domain.as_str())?;
        Some(idna::domain_to_unicode(below.trim_end_matches('.')).0)
    });
    let tail = &url[Position::BeforePath..Position::AfterQuery];
    below.is_some_and(|below| name.is_in(&Folded::new(&below)))
        || echo::readings_of(tail)
            .iter()
            .any(|reading| name.is_in(&Folded::new(&String::from_utf8_lossy(reading))))
}
