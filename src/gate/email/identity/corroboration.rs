//! Whether the site presents the address as its own.
//!
//! The agent chooses the source among all pages of the site. Visitors and customers write on many of
//! them, and others repeat their URL or are out of date. The home page, and what it links as the site's
//! notice, introduction or contact page, are the site's own choice. The address must stand on two of these
//! pages, or be the only one of its domain there. What the contact page has between its header and its footer
//! comes before what all pages have there: a footer may name the address for applications. Of several on
//! the contact page, those that the legal notice has come first: the home page may also show a tenant's.

use std::collections::BTreeSet;
use std::rc::Rc;

use itertools::Itertools as _;
use url::{Position, Url};

use super::super::source::{Seen, how_shown};
use super::super::step::{Context, EMAIL, SITE, SOURCE, quoted};
use super::{home_page, home_url, no_answer, notice, own_pages};
use crate::gate::Fact;
use crate::gate::email::site::on_site;
use crate::world::domain::HostName;
use crate::world::email_text::Needle;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, addresses_of};

/// The fewest and the most pages that are read besides the home page and the source.
const MIN_PAGES: usize = 2;
const MAX_PAGES: usize = 3;

/// The most lines of a page that only lets its reader choose a language or enter.
const MAX_LINES: usize = 12;

/// How many of the choices are read.
const MAX_CHOSEN: usize = 2;

/// The most other addresses that a fact names.
const MAX_NAMED: usize = 5;

/// Why the site does not present the address; none if it does, or if the source itself leaves a doubt.
pub fn doubt(context: &Context<'_>, site: &Url, email: &Mailbox, source: &Url) -> Option<Fact> {
    let asked = Asked {
        context,
        site,
        email,
        source: context.base.visit(source),
    };
    // What speaks against the source is told by step 5.
    asked.doubts(&asked.source).filter(Vec::is_empty)?;
    let mut doubts = Vec::new();
    for home in asked.homes() {
        doubts.push(asked.doubt_of(&home)?);
    }
    doubts.into_iter().next()
}

struct Asked<'a> {
    context: &'a Context<'a>,
    site: &'a Url,
    email: &'a Mailbox,
    source: Rc<Visit>,
}

/// What the pages that the site presents show.
#[derive(Default)]
struct Presented {
    read: Vec<Rc<Visit>>,
    /// How many of them show the address.
    showing: usize,
    /// The other addresses of its domain on them.
    others: BTreeSet<String>,
    /// What one of them says against the address.
    denial: Option<Fact>,
    /// One that gave no answer, and why.
    silent: Option<(Url, String)>,
}

impl Presented {
    fn is_on_two(&self) -> bool {
        self.showing > 1
    }

    fn is_the_only_one(&self) -> bool {
        self.showing == 1 && self.others.is_empty()
    }
}

/// What some pages have between the lines that all pages share.
#[derive(Default)]
struct Listed {
    has_ours: bool,
    /// The other addresses of its domain, and the first page that has one.
    others: BTreeSet<String>,
    at: Option<Url>,
}

impl Asked<'_> {
    /// The home page of whoever reads the mail, and the pages that the operator names.
    fn homes(&self) -> Vec<Url> {
        let home = home_page(self.site, self.email);
        let anchors = self.context.anchors().into_iter();
        let named = anchors.filter(|it| on_site(self.site, it));
        let named = named.flat_map(|it| [home_url(&it), it]);
        std::iter::once(home).chain(named).unique().collect()
    }

    fn doubt_of(&self, home: &Url) -> Option<Fact> {
        let presented = self.presented_by(home);
        if let Some(denial) = &presented.denial {
            return Some(self.denied(denial));
        }
        if presented.is_on_two() || presented.is_the_only_one() {
            return self.preferred(home);
        }
        if let Some((url, why)) = &presented.silent {
            let fact = Fact::new("identity-unanswered", "a page of the site", quoted(why));
            return Some(fact.on(SITE).at_url(url));
        }
        Some(self.unpresented(&presented, home))
    }

    /// Reads the home page, and what it links until that settles it.
    fn presented_by(&self, home: &Url) -> Presented {
        let mut presented = Presented::default();
        let front = self.context.base.visit(home);
        let mut linked = self.linked(&front);
        self.add(&mut presented, front, &linked);
        linked.retain(|url| !self.is_source(url));
        for (count, url) in linked.iter().take(MAX_PAGES).enumerate() {
            if presented.is_on_two() || count >= MIN_PAGES && presented.is_the_only_one() {
                break;
            }
            let visit = self.context.base.visit(url);
            let linked = self.linked(&visit);
            self.add(&mut presented, visit, &linked);
        }
        presented
    }

    /// The pages that a page presents: contact pages, then the notice and the others. A short page without
    /// any lets its reader choose one.
    fn linked(&self, visit: &Visit) -> Vec<Url> {
        let End::Pages(pages) = &visit.end else {
            return Vec::new();
        };
        let Some(page) = pages.first() else {
            return Vec::new();
        };
        let mut linked = notice::linked(page, self.site);
        linked.sort_by_key(|(_, rank)| rank.order_of_contact());
        if !linked.is_empty() {
            return linked.into_iter().map(|(url, _)| url).collect();
        }
        let links = page.links.iter().map(|(url, _)| url);
        let own = links.filter(|url| on_site(self.site, url) && **url != page.url);
        let is_short = page.visible.len() <= MAX_LINES;
        let chosen = if is_short { MAX_CHOSEN } else { 0 };
        own.unique().take(chosen).cloned().collect()
    }

    /// What the site prefers to the address: the addresses of its contact pages, if it is none of them;
    /// and of several there, those that its legal notice has, too.
    fn preferred(&self, home: &Url) -> Option<Fact> {
        let front = self.context.base.visit(home);
        let linked = notice::linked(own_pages(&front, self.site).next()?, self.site);
        let (contacts, others): (Vec<_>, Vec<_>) =
            linked.into_iter().partition(|(_, rank)| rank.is_contact());
        let visit = |(url, _): &(Url, _)| self.context.base.visit(url);
        let contacts: Vec<Rc<Visit>> = contacts.iter().take(MAX_PAGES).map(visit).collect();
        let mut listed = self.listed(&contacts, &[&front]);
        // The home page may end as the contact page does.
        if let Some(other) = others.first().filter(|_| !listed.has_ours).map(visit) {
            listed = self.listed(&contacts, &[&front, &other]);
        }
        if !listed.has_ours {
            return self.beside("contact page", &listed);
        }
        let mut notices = others.iter().filter(|(_, rank)| rank.names_operator());
        let notice = notices.next().filter(|_| !listed.others.is_empty())?;
        let mut named = self.listed(&[visit(notice)], &[&front]);
        named.others.retain(|it| listed.others.contains(it));
        (!named.has_ours).then(|| self.beside("legal notice", &named))?
    }

    /// The addresses of the domain that pages have between the lines that they share with all the others.
    fn listed(&self, pages: &[Rc<Visit>], sharing: &[&Visit]) -> Listed {
        let first = |visit| own_pages(visit, self.site).next();
        let sharing: Vec<&Page> = sharing.iter().copied().filter_map(first).collect();
        let needle = Needle::of(self.email);
        let mut listed = Listed::default();
        for page in pages.iter().filter_map(|visit| first(visit)) {
            let part = between(page, &sharing);
            let mut texts = part.visible.iter().chain(&part.linked);
            listed.has_ours |= texts.any(|text| needle.is_in(text));
            let others = self.others_of(&part);
            if listed.at.is_none() && !others.is_empty() {
                listed.at = Some(page.url.clone());
            }
            listed.others.extend(others);
        }
        listed
    }

    fn is_source(&self, page: &Url) -> bool {
        self.source.way().iter().any(|hop| is_same(&hop.url, page))
    }

    /// Counts a page, and the source if that is among what the page links.
    fn add(&self, presented: &mut Presented, visit: Rc<Visit>, linked: &[Url]) {
        self.count(presented, visit);
        if linked.iter().any(|url| self.is_source(url)) {
            self.count(presented, Rc::clone(&self.source));
        }
    }

    fn count(&self, presented: &mut Presented, visit: Rc<Visit>) {
        if let Some(why) = no_answer(&visit.end) {
            let url = visit.way().first().map(|hop| hop.url.clone());
            presented.silent = presented.silent.take().or(url.map(|url| (url, why)));
            return;
        }
        if presented.read.iter().any(|read| is_one_page(read, &visit)) {
            return;
        }
        let doubts = self.doubts(&visit);
        presented.showing += usize::from(doubts.as_ref().is_some_and(Vec::is_empty));
        let mut doubts = doubts.into_iter().flatten();
        let denial = doubts.find(|fact| fact.rule.as_str() == "email-disowned");
        presented.denial = presented.denial.take().or(denial);
        presented.others.extend(self.others(&visit));
        presented.read.push(visit);
    }

    /// What speaks against the address on a page of the site.
    fn doubts(&self, visit: &Visit) -> Option<Vec<Fact>> {
        let seen = Seen::of(visit, self.site, self.email)?;
        on_site(self.site, &seen.main.url).then(|| how_shown(&seen, self.site, self.email))
    }

    /// The other addresses of the domain that a page of the site shows.
    fn others(&self, visit: &Visit) -> Vec<String> {
        let own = own_pages(visit, self.site);
        own.flat_map(|page| self.others_of(page)).collect()
    }

    fn others_of(&self, page: &Page) -> Vec<String> {
        let Some(domain) = self.email.domain().registrable() else {
            return Vec::new();
        };
        // Of an address with rare signs, only the end may be read.
        let ours = self.email.to_string();
        let is_ours = |address: &String| {
            let cut =
                |rest: &str| !rest.ends_with(|c: char| c.is_alphanumeric() || "._+-".contains(c));
            ours.strip_suffix(address.as_str()).is_some_and(cut)
        };
        let mut others = addresses_of(page, &domain, usize::MAX).0;
        others.retain(|address| !is_ours(address));
        others
    }

    fn denied(&self, denial: &Fact) -> Fact {
        let expected = format!("{} as the site's own address on all its pages", self.email);
        let fact = Fact::new("email-ambiguous", expected, &*denial.actual).on(EMAIL);
        match &denial.location {
            Some(place) => fact.at(place.clone()),
            None => fact,
        }
    }

    fn beside(&self, what: &str, listed: &Listed) -> Option<Fact> {
        let expected = format!("{} among the addresses of the {what}", self.email);
        let named = listed.others.iter().take(MAX_NAMED);
        let named = named.map(|address| quoted(address)).join(", ");
        let fact = Fact::new("email-ambiguous", expected, format!("it shows {named}"));
        let at = listed.at.as_ref().filter(|_| !listed.others.is_empty())?;
        Some(fact.on(EMAIL).at_url(at))
    }

    fn unpresented(&self, presented: &Presented, home: &Url) -> Fact {
        let read = presented
            .read
            .iter()
            .filter_map(|visit| visit.way().first());
        let read = read.map(|hop| hop.url.as_str()).join(" ");
        if presented.showing == 0 {
            let expected = format!("{} where the site presents itself", self.email);
            let actual = format!("not on its own pages; read: {read}");
            let fact = Fact::new("email-uncorroborated", expected, actual);
            return fact.on(SOURCE).at_url(home);
        }
        let named = presented.others.iter().take(MAX_NAMED);
        let named = named.map(|address| quoted(address)).join(", ");
        let expected = format!("{} on two pages, or as the only one", self.email);
        let actual = format!("on one; of its domain, the site also shows {named}; read: {read}");
        let fact = Fact::new("email-ambiguous", expected, actual);
        fact.on(EMAIL).at_url(home)
    }
}

/// What a page has between the lines with which it begins and ends as all the others do.
fn between(page: &Page, others: &[&Page]) -> Page {
    let lines = &page.visible;
    let starts = others.iter().map(|other| {
        let pairs = lines.iter().zip(&other.visible);
        pairs.take_while(|(one, other)| one == other).count()
    });
    let ends = others.iter().map(|other| {
        let pairs = lines.iter().rev().zip(other.visible.iter().rev());
        pairs.take_while(|(one, other)| one == other).count()
    });
    let start = starts.min().unwrap_or_default();
    let end = lines.len() - ends.min().unwrap_or_default();
    let own = start..end.max(start);
    let mails = page.mail_links.iter();
    let mails = mails.filter(|link| own.contains(&link.line));
    Page {
        linked: mails.map(|link| link.address.clone()).collect(),
        visible: lines[own.clone()].to_vec(),
        ..Page::empty(&page.url)
    }
}

/// Whether two visits ended at one page, or at two that say the same.
fn is_one_page(one: &Visit, other: &Visit) -> bool {
    let ends = [one, other].map(|visit| visit.way().last());
    let [said, again] = [one, other].map(|visit| match &visit.end {
        End::Pages(pages) => pages.first().map(|page| &page.visible),
        _ => None,
    });
    matches!(ends, [Some(one), Some(other)] if is_same(&one.url, &other.url))
        || said.is_some() && said == again
}

/// Whether two URLs lead to one page: `www`, TLS and a slash at the end make no other one.
fn is_same(one: &Url, other: &Url) -> bool {
    let parts = |url: &Url| {
        let host = HostName::of_url(url);
        let host = host.map(|it| it.as_str().trim_start_matches("www.").to_owned());
        let path = url.path().trim_end_matches('/').to_owned();
        let query = url[Position::AfterPath..Position::AfterQuery].to_owned();
        (host, url.port(), path, query)
    };
    parts(one) == parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::gate::email::tests::url;

    #[test]
    fn one_page_has_several_urls() {
        for (one, other, expected) in rows! {
            "https://acme.kr/contact", "http://www.acme.kr/contact/#mail" => true;
            "https://acme.kr", "https://acme.kr/" => true;
            "https://acme.kr/contact", "https://acme.kr/contact?x=1" => false;
            "https://acme.kr/contact", "https://shop.acme.kr/contact" => false;
            "https://acme.kr/contact", "https://acme.kr:8443/contact" => false;
            "https://acme.kr/contact", "https://acme.kr/Contact" => false;
        } {
            assert_eq!(is_same(&url(one), &url(other)), expected, "{one} {other}");
        }
    }
}
