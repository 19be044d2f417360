//! Whether the site presents the page that shows the address, or shows the address where it presents
//! itself.
//!
//! The agent chooses the source among all pages of the site. Visitors and customers write on many of
//! them, and others repeat their URL or are out of date. The home page, and what it links as the site's
//! notice, introduction or contact page, are the site's own choice.

use itertools::Itertools as _;
use url::{Position, Url};

use super::super::identity::{home_page, home_url, notice};
use super::super::step::{Context, SOURCE};
use super::disowned::ENDS;
use super::{Seen, how_shown, no_page};
use crate::gate::Fact;
use crate::world::domain::HostName;
use crate::world::email_text::Needle;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{MailLink, Page, Presence, addresses_of, presence};

/// The most pages that are read besides the home page.
const MAX_PAGES: usize = 3;

/// Why the source does not speak for the site.
pub fn doubt(context: &Context<'_>, site: &Url, email: &Mailbox, source: &Visit) -> Option<Fact> {
    let asked = Asked {
        context,
        site,
        email,
        source,
    };
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
    source: &'a Visit,
}

impl Asked<'_> {
    /// The home page of whoever reads the mail, and the pages that the operator names.
    fn homes(&self) -> Vec<Url> {
        let home = home_page(self.site, self.email);
        let anchors = self.context.anchors().into_iter();
        let named = anchors.filter(|it| it.host() == self.site.host());
        let named = named.flat_map(|it| [home_url(&it), it]);
        std::iter::once(home).chain(named).unique().collect()
    }

    fn doubt_of(&self, home: &Url) -> Option<Fact> {
        let is_clear = self.shows_alone(self.source);
        let is_presented = |page: &Url| is_clear && self.is_source(page);
        if is_presented(home) {
            return None;
        }
        let front = self.context.base.visit(home);
        let page = match &front.end {
            End::Pages(pages) => pages.first()?,
            End::Missing { .. } => return Some(self.uncorroborated(home, &[])),
            end => return Some(no_page(end).on(SOURCE)),
        };
        let mut linked = notice::linked(page, self.site);
        let is_linked = linked.iter().any(|(url, _)| is_presented(url));
        if is_linked || is_presented(&page.url) || self.shows(&front) {
            return None;
        }
        linked.sort_by_key(|(_, rank)| rank.order_of_contact());
        let linked: Vec<Url> = linked.into_iter().map(|(url, _)| url).collect();
        let read = &linked[..linked.len().min(MAX_PAGES)];
        let mut visits = read.iter().map(|url| self.context.base.visit(url));
        let is_shown = visits.any(|visit| self.shows(&visit));
        (!is_shown).then(|| self.uncorroborated(home, read))
    }

    fn is_source(&self, page: &Url) -> bool {
        self.source.way().iter().any(|hop| is_same(&hop.url, page))
    }

    /// Whether a page shows the address as the source does.
    fn shows(&self, visit: &Visit) -> bool {
        let seen = || Seen::of(visit, self.site, self.email);
        let is_plain = |seen: Seen<'_>| how_shown(&seen, self.site, self.email).is_empty();
        self.shows_alone(visit) && seen().is_some_and(is_plain)
    }

    fn shows_alone(&self, visit: &Visit) -> bool {
        let seen = Seen::of(visit, self.site, self.email);
        let pages = seen.iter().flat_map(Seen::counted);
        let mut shown = pages.filter(|page| presence(page, self.email) == Presence::Visible);
        shown.any(|page| !is_paired(page, self.email))
    }

    fn uncorroborated(&self, home: &Url, read: &[Url]) -> Fact {
        let expected = format!("{} where the site presents itself", self.email);
        let read: Vec<&str> = std::iter::once(home).chain(read).map(Url::as_str).collect();
        let actual = format!("not on its own pages; read: {}", read.join(" "));
        let fact = Fact::new("email-uncorroborated", expected, actual);
        fact.on(SOURCE).at_url(home)
    }
}

/// Whether a page shows the address only beside another one of its domain: in sentences such as `write to
/// A instead of B`, or in links that are called by another address. Which of them counts is said in words.
fn is_paired(page: &Page, email: &Mailbox) -> bool {
    let Some(domain) = email.domain().registrable() else {
        return false;
    };
    let needle = Needle::of(email);
    let read = |text: &str| Page {
        visible: vec![text.to_owned()],
        ..Page::empty(&page.url)
    };
    let is_shown = |text: &Page| presence(text, email) == Presence::Visible;
    let of_domain = |text: &Page| addresses_of(text, &domain, 0).1;
    let shown = page.visible.iter().filter(|line| needle.is_in(line));
    let sentences = shown.flat_map(|line| ENDS.split(line)).map(read);
    let sentences = sentences.filter(is_shown);
    let linked = page.mail_links.iter();
    let linked = linked.filter(|link| needle.is_in(&link.address));
    let label = |link: &MailLink| page.visible.get(link.line)?.get(link.label.clone());
    let labels = linked.filter_map(label).map(read);
    let labels = labels.filter(|text| !is_shown(text));
    let are_beside_another = sentences
        .map(|text| of_domain(&text) > 1)
        .chain(labels.map(|text| of_domain(&text) > 0));
    let mut are_beside_another = are_beside_another.peekable();
    are_beside_another.peek().is_some() && are_beside_another.all(|is_one| is_one)
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
    fn an_address_beside_another_of_its_domain_is_one_of_two() {
        for (html, expected) in rows! {
            "Write to new@acme.kr instead of info@acme.kr." => true;
            "<a href=mailto:info@acme.kr>info@acme.kr</a>, now new@acme.kr" => true;
            "<a href=mailto:info@acme.kr>new@acme.kr</a>" => true;
            "<a href=mailto:info@acme.kr>Write to us</a>" => false;
            "<a href=mailto:info@acme.kr><img src=mail.png></a>" => false;
            "info@acme.kr" => false;
            "info@acme.kr, office@bolt.kr" => false;
            "Sales: new@acme.kr. Office: info@acme.kr." => false;
            "Sales: new@acme.kr / Office: info@acme.kr" => false;
            "Sales: new@acme.kr<br>Office: info@acme.kr" => false;
            "new@acme.kr, info@acme.kr<p>info@acme.kr" => false;
            "new@acme.kr, info@acme.kr <a href=mailto:info@acme.kr>Mail</a>" => false;
            "new@acme.kr, old@acme.kr" => false;
            "" => false;
        } {
            let html = format!("<p>{html}");
            let page = Page::parse(
                &url("https://acme.kr/"),
                Some("text/html"),
                None,
                html.as_bytes(),
            );
            let email = Mailbox::parse("info@acme.kr").unwrap();
            assert_eq!(is_paired(&page.unwrap(), &email), expected, "{html}");
        }
    }

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
