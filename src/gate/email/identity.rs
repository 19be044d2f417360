//! Step 7, `identity`: is the site the company's, and the address not another's already?

pub mod company_name;
mod name_similarity;
mod other_owner;
pub mod owner_name;
#[cfg(test)]
mod tests;

use url::{Position, Url};

use self::company_name::{CompanyName, Folded};
use super::freemail::freemail;
use super::site::{Agreement, LANGUAGES, agreement, hosted, on_site};
use super::source::echo;
use super::step::{Context, EMAIL, SITE, Step, quoted};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{OwnerPlace, Page};
use crate::world::{UniqueValue, UniquenessIndex};

pub static STEP: Step = Step {
    name: "email-identity",
    cost: Cost::Wide,
    verifies: Verifies::Fact,
    keys: &["site", "email", "source", "anchor"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let (Some(site), Some(email), Some(source)) = (&context.site, &context.email, &context.source)
    else {
        return Vec::new();
    };
    let ownership = ownership(context, site, email, source);
    let reuse = reuse(context.base.world.accepted, email);
    ownership.into_iter().chain(reuse).collect()
}

/// Whether the site names the company as its owner.
///
/// The home page does: the one that introduces the site, or, below a domain that may give its
/// names to anybody, the domain's own. Another page's signature holds only where the home page
/// knows the company too; a market's entry bears the seller's.
fn ownership(context: &Context<'_>, site: &Url, email: &Mailbox, source: &Url) -> Option<Fact> {
    let key = context.base.case.quest.key.as_str();
    let name = CompanyName::parse(key);
    if name.is_weak() {
        let expected = "a name of three characters or more that is not a common word";
        return Some(Fact::new("company-name-weak", expected, quoted(key)));
    }
    let home = home_page(site, email);
    let source = context.base.visit(source);
    let said = name_role(&source, site, &home, &name);
    let contested = |visit: &Visit| contested(context, visit, site, &home, &name);
    if said == NameRole::Owner {
        return contested(&source);
    }
    let visit = context.base.visit(&home);
    let silent = |why: &str| {
        let finding = Fact::new("identity-unanswered", "the site's home page", quoted(why));
        Some(finding.on(SITE).at(home.as_str()))
    };
    match &visit.end {
        End::Unanswered { why, .. } => silent(&why.to_string()),
        End::Forbidden { .. } => silent("robots.txt forbids it"),
        End::Unreadable { why, .. } => silent(why),
        End::Missing { .. } => unproven(said, key, &home, "; there is no home page"),
        End::Pages(pages) => {
            let elsewhere = pages.first().filter(|page| !on_site(site, &page.url));
            if let Some(page) = elsewhere {
                let there = quoted(page.url.as_str());
                let there = format!("; the home page leads elsewhere: {there}");
                return unproven(said, key, &home, &there);
            }
            let front = name_role(&visit, site, &home, &name);
            let both = said == NameRole::Signed && front >= NameRole::Mentioned;
            if both || said.max(front) == NameRole::Owner {
                return contested(&visit);
            }
            unproven(said.max(front), key, &home, "")
        }
    }
}

/// Who else the home page names as the owner.
///
/// Where the operator's anchor says whose that page is, or the site is one on somebody's host,
/// others' names do not matter.
fn contested(
    context: &Context<'_>,
    visit: &Visit,
    site: &Url,
    home: &Url,
    name: &CompanyName,
) -> Option<Fact> {
    const MAX_NAMED: usize = 3;
    let is_expected = agreement(home, &context.anchors()) == Some(Agreement::Same);
    if hosted(site).is_some() || is_expected {
        return None;
    }
    let End::Pages(pages) = &visit.end else {
        return None;
    };
    let own = pages.iter().filter(|page| on_site(site, &page.url));
    let owner: Vec<_> = own.flat_map(|page| page.owner.iter().cloned()).collect();
    let others = other_owner::others(&owner, home, name);
    let named = others.iter().take(MAX_NAMED);
    let named: Vec<String> = named
        .map(|(place, other)| format!("{}: {}", other_owner::called(*place), quoted(other)))
        .collect();
    if named.is_empty() {
        return None;
    }
    let key = context.base.case.quest.key.as_str();
    let expected = format!("only {} where a site names its owner", quoted(key));
    let finding = Fact::new("owner-contested", expected, named.join("; "));
    Some(finding.on(SITE).at(home.as_str()))
}

fn unproven(said: NameRole, key: &str, home: &Url, more: &str) -> Option<Fact> {
    let (rule, actual) = match said {
        NameRole::Owner => return None,
        NameRole::Signed => (
            "company-mentioned-only",
            "the source page has the name, but the home page does not",
        ),
        NameRole::Mentioned => (
            "company-mentioned-only",
            "it is mentioned, not named as owner",
        ),
        NameRole::Carried => (
            "company-not-on-site",
            "only on pages whose own URL contains it, so it may be an echo",
        ),
        NameRole::Absent => (
            "company-not-on-site",
            "on neither the source nor the home page",
        ),
    };
    let expected = format!("{} where a site names its owner", quoted(key));
    let finding = Fact::new(rule, expected, format!("{actual}{more}"));
    Some(finding.on(SITE).at(home.as_str()))
}

/// How a page names the company, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRole {
    Absent,
    /// On a page whose URL carries the name, so that it may be an echo.
    Carried,
    Mentioned,
    /// Where a site signs all its pages, on a page that does not introduce the site.
    Signed,
    Owner,
}

/// How the visit's pages on the site name the company, at best.
///
/// A page other than `home`, the page that may introduce the site, has a title, a heading, a
/// logo or an address of what it is about: an article, a directory's entry. There only what a
/// site puts on all its pages counts, and no more than as a signature: the site's name, the
/// footer, the copyright line.
pub fn name_role(visit: &Visit, site: &Url, home: &Url, name: &CompanyName) -> NameRole {
    let End::Pages(pages) = &visit.end else {
        return NameRole::Absent;
    };
    let is_home = pages.first().is_some_and(|page| page.url == *home)
        || visit.hops.first().is_some_and(|hop| hop.url == *home);
    let own = pages.iter().filter(|page| on_site(site, &page.url));
    let best = own.map(|page| on_page(page, is_home, name)).max();
    let best = best.unwrap_or(NameRole::Absent);
    if best > NameRole::Carried && visit.hops.iter().any(|hop| carries(&hop.url, name)) {
        return NameRole::Carried;
    }
    best
}

fn on_page(page: &Page, is_home: bool, name: &CompanyName) -> NameRole {
    let is_in = |text: &String| name.is_in(&Folded::new(text));
    let owners = || page.owner.iter();
    let mut named = owners().filter(|it| owner_name::names(it.place, &it.text, name));
    if is_home && named.next().is_some() {
        NameRole::Owner
    } else if named.any(|owner| is_on_all_pages(owner.place)) {
        NameRole::Signed
    } else if owners().any(|owner| is_in(&owner.text)) || page.visible.iter().any(is_in) {
        NameRole::Mentioned
    } else {
        NameRole::Absent
    }
}

/// Whether a site puts that place on all its pages.
fn is_on_all_pages(place: OwnerPlace) -> bool {
    use OwnerPlace::{Copyright, Footer, SiteName};
    matches!(place, SiteName | Footer | Copyright)
}

/// Whether the URL carries the name outside its registrable domain, which the owner chose: in a
/// name below that, which may be anybody's choice, in its path or in its query.
pub fn carries(url: &Url, name: &CompanyName) -> bool {
    let below = HostName::of_url(url)
        .and_then(|host| Some(idna::domain_to_unicode(host.below_domain()?).0));
    let tail = &url[Position::BeforePath..Position::AfterQuery];
    let is_in = |text: &str| name.is_in(&Folded::new(text));
    let mut readings = echo::readings_of(tail).into_iter();
    below.is_some_and(|below| is_in(&below))
        || readings.any(|reading| is_in(&String::from_utf8_lossy(&reading)))
}

/// Who else holds the address, or else its domain.
///
/// A mail provider's domain is everybody's, so that sharing it says nothing.
fn reuse(accepted: &dyn UniquenessIndex, email: &Mailbox) -> Option<Fact> {
    if let Some(holder) = accepted.holder(&UniqueValue::Mailbox(email.clone())) {
        let expected = "an address of this company alone";
        let actual = format!("{email} is accepted for {}", quoted(holder.as_str()));
        return Some(Fact::new("email-reused", expected, actual).on(EMAIL));
    }
    if freemail(email).is_some() {
        return None;
    }
    let domain = email.domain().registrable()?;
    let holder = accepted.holder(&UniqueValue::Domain(domain.clone()))?;
    let expected = "a domain of this company alone";
    let actual = format!(
        "an address of {domain} is accepted for {}",
        quoted(holder.as_str())
    );
    Some(Fact::new("domain-reused", expected, actual).on(EMAIL))
}

/// The home page of `site`: the root of its host, or the site itself where its host is not its
/// own.
pub fn home_url(site: &Url) -> Url {
    let mut home = site.clone();
    home.set_fragment(None);
    if hosted(site).is_none() {
        home.set_path("/");
        home.set_query(None);
    }
    home
}

/// The page that introduces who reads mail at `email`: the home page of `site`, or, where that
/// may be anybody's, the one of its registrable domain.
pub fn home_page(site: &Url, email: &Mailbox) -> Url {
    let mut home = home_url(site);
    if !introduces(&home, email)
        && let Some(domain) = HostName::of_url(&home).and_then(|host| host.registrable())
        && home.set_host(Some(&format!("www.{domain}"))).is_err()
    {
        // A registrable domain is a host, and so is `www.` before it.
        return home_url(site);
    }
    home
}

/// Whether a home page may introduce, by its title and headings, who reads mail at `email`.
///
/// A name below a registrable domain may be given to anybody, as portals do (`c17.jobs.kr`):
/// its front page introduces whoever has that name, and not the domain's owner. So it counts
/// where the address is of that very name, and on hosts that stand for the whole domain: the
/// domain itself, `www`, `m`, and languages or countries of two letters.
pub fn introduces(home: &Url, email: &Mailbox) -> bool {
    if hosted(home).is_some() {
        return true;
    }
    let Some(host) = HostName::of_url(home) else {
        return false;
    };
    let Some(below) = host.below_domain() else {
        return false;
    };
    let is_language = LANGUAGES.contains(&below);
    let host = host.as_str();
    let own = host.strip_prefix("www.").unwrap_or(host);
    let of_own = email.domain().as_str().strip_suffix(own);
    matches!(below, "" | "www" | "m")
        || is_language
        || of_own.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
