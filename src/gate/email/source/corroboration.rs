//! Whether the site presents the page that shows the address, or shows the address where it presents
//! itself.
//!
//! The agent chooses the source among all pages of the site. Visitors and customers write on many of
//! them, and others repeat their URL or are out of date. The home page, and what it links as the site's
//! notice, introduction or contact page, are the site's own choice.

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
    /// The home page of whoever reads the mail, and that of a host below the domain which the operator
    /// names.
    fn homes(&self) -> Vec<Url> {
        let (home, own) = (home_page(self.site, self.email), home_url(self.site));
        let anchors = self.context.anchors();
        let is_named = anchors.iter().any(|it| it.host() == self.site.host());
        let own = Some(own).filter(|own| is_named && *own != home);
        std::iter::once(home).chain(own).collect()
    }

    fn doubt_of(&self, home: &Url) -> Option<Fact> {
        let is_clear = self.shows(self.source);
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
        if is_presented(&page.url) || self.shows(&front) {
            return None;
        }
        let mut linked = notice::linked(page, self.site);
        if linked.iter().any(|(url, _)| is_presented(url)) {
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

    /// Whether a page shows the address without a doubt, and not only in a choice of two.
    fn shows(&self, visit: &Visit) -> bool {
        Seen::of(visit, self.site, self.email).is_some_and(|seen| {
            let shows_alone = |page: &Page| {
                presence(page, self.email) == Presence::Visible && !is_paired(page, self.email)
            };
            how_shown(&seen, self.site, self.email).is_empty() && seen.counted().any(shows_alone)
        })
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
    let alone = |text: &str| Page {
        visible: vec![text.to_owned()],
        ..Page::empty(&page.url)
    };
    let is_shown = |it: &Page| presence(it, email) == Presence::Visible;
    let count = |it: &Page| addresses_of(it, &domain, 0).1;
    let sentences = page.visible.iter().flat_map(|line| ENDS.split(line));
    let sentences = sentences.map(alone).filter(is_shown);
    let links = page.mail_links.iter();
    let links = links.filter(|link| Needle::of(email).is_in(&link.address));
    let label = |link: &MailLink| page.visible.get(link.line)?.get(link.label.clone());
    let labels = links.map(|link| alone(label(link).unwrap_or_default()));
    let labels = labels.filter(|it| !is_shown(it));
    let of_sentences = sentences.map(|it| count(&it) > 1);
    let mut places = of_sentences
        .chain(labels.map(|it| count(&it) > 0))
        .peekable();
    places.peek().is_some() && places.all(|is_beside_another| is_beside_another)
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
