//! Step 5, `source`: does a page of the site show the address, on its own account?

pub mod disowned;
pub mod echo;
mod refusal;
#[cfg(test)]
mod tests;
pub mod user_content;

use url::Url;

use super::site::{on_site, registrable};
use super::step::{Context, EMAIL, SOURCE, Step, quoted};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, addresses_of, presence};

pub static STEP: Step = Step {
    name: "email-source",
    cost: Cost::Page,
    verifies: Verifies::Fact,
    keys: &["site", "email", "source"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let (Some(site), Some(email), Some(source)) = (&context.site, &context.email, &context.source)
    else {
        return Vec::new();
    };
    if echo::carries(source, email) {
        return vec![echoed(source)];
    }
    let visit = context.base.visit(source);
    judge(&visit, site, email)
}

fn judge(visit: &Visit, site: &Url, email: &Mailbox) -> Vec<Fact> {
    let way = visit.way();
    if let Some(hop) = way.iter().find(|hop| echo::carries(&hop.url, email)) {
        return vec![echoed(&hop.url)];
    }
    let Some(seen) = Seen::of(visit, site, email) else {
        return vec![no_page(&visit.end).on(SOURCE)];
    };
    let mut findings = Vec::new();
    if !on_site(site, &seen.main.url) {
        findings.push(off_site(site, &seen.main.url));
    }
    let mut pages = seen.counted();
    let others = pages.find_map(|page| Some((&page.url, page.others_write.as_deref()?)));
    findings.extend(others.map(|(url, mark)| written_by_others(url, mark)));
    findings.extend(how_shown(&seen, site, email));
    findings
}

fn echoed(url: &Url) -> Fact {
    let expected = "a page whose URL does not contain the address";
    finding("source-echo", url, expected, "its URL contains the address")
}

fn off_site(site: &Url, page: &Url) -> Fact {
    let expected = format!("a page on {}", quoted(site.as_str()));
    let actual = "the page that answered is on another site";
    finding("source-off-site", page, expected, actual)
}

fn written_by_others(url: &Url, mark: &str) -> Fact {
    let expected = "a page that the site's owner writes";
    let actual = format!("other people can write there: {mark}");
    finding("source-user-content", url, expected, actual)
}

fn finding(
    rule: &'static str,
    url: &Url,
    expected: impl Into<String>,
    actual: impl Into<String>,
) -> Fact {
    Fact::new(rule, expected, actual).on(SOURCE).at_url(url)
}

#[derive(Debug, Clone)]
pub struct Seen<'a> {
    pub main: &'a Page,
    pub own: Vec<&'a Page>,
    pub foreign: Vec<&'a Page>,
    pub unread: Vec<&'a End>,
}

impl<'a> Seen<'a> {
    /// The pages of `visit`; none when it ended without one.
    ///
    /// When a frame's URL carries the address, no frame counts: what it shows may be an echo.
    pub fn of(visit: &'a Visit, site: &Url, email: &Mailbox) -> Option<Self> {
        let End::Pages(pages) = &visit.end else {
            return None;
        };
        let (main, frames) = pages.split_first()?;
        let after = &visit.hops[visit.way().len()..];
        let echoes = after.iter().any(|hop| echo::carries(&hop.url, email));
        let frames = if echoes { &[] } else { frames };
        let (own, foreign) = frames.iter().partition(|page| on_site(site, &page.url));
        let unread = visit.unread.iter();
        let unread = unread.filter(|(url, _)| on_site(site, url));
        Some(Self {
            main,
            own,
            foreign,
            unread: unread.map(|(_, end)| end).collect(),
        })
    }

    pub fn counted(&self) -> impl Iterator<Item = &'a Page> {
        std::iter::once(self.main).chain(self.own.iter().copied())
    }
}

const MAX_NAMED: usize = 5;

pub fn how_shown(seen: &Seen<'_>, site: &Url, email: &Mailbox) -> Vec<Fact> {
    let best = best(seen.counted(), email);
    let owners = best.map_or(Presence::Absent, |(_, how)| how);
    if let Some(fact) = by_visitors(seen, email, owners) {
        return vec![fact];
    }
    let Some((page, how)) = best else {
        return vec![absent(seen, site, email)];
    };
    let hidden = match how {
        Presence::Hidden => Some((
            "email-hidden",
            "only where no reader sees it, or struck out",
        )),
        Presence::Obfuscated => Some((
            "email-obfuscated",
            "only in disguise, or it is unclear where it begins",
        )),
        Presence::Visible if disowned::is_cut(page, email) => {
            Some(("email-obfuscated", "only with its beginning cut off"))
        }
        Presence::Visible | Presence::Absent => None,
    };
    let hidden = hidden.map(|(rule, actual)| {
        let expected = format!("{email} where a reader sees it");
        finding(rule, &page.url, expected, actual)
    });
    let refused = seen.counted().find_map(|page| {
        let words = quoted(&refusal::states_no_collection(page)?);
        let expected = "a page that does not forbid collecting addresses";
        Some(finding("collection-refused", &page.url, expected, words))
    });
    let facts = [
        hidden,
        in_comments(page, email),
        disowned(seen, email),
        left_at_once(page, email),
        refused,
    ];
    facts.into_iter().flatten().collect()
}

/// Whether the address is only below a heading of what visitors write.
fn in_comments(page: &Page, email: &Mailbox) -> Option<Fact> {
    let owners = Page {
        visible: user_content::without_visitors(page)?,
        ..Page::empty(&page.url)
    };
    let expected = format!("{email} in the words of the site's owner");
    let actual = "only below a heading of what visitors write";
    (presence(&owners, email) == Presence::Absent)
        .then(|| finding("source-user-content", &page.url, expected, actual))
}

fn disowned(seen: &Seen<'_>, email: &Mailbox) -> Option<Fact> {
    let expected = format!("{email} as the site's own address");
    if let Some(word) = disowned::disguise(email) {
        let actual = format!("it is disguised: {word:?} is not a part of it");
        return Some(Fact::new("email-disowned", expected, actual).on(EMAIL));
    }
    if let Some(command) = disowned::command(email) {
        let actual = format!("a program reads it: {command:?} is a mailing list's command");
        return Some(Fact::new("email-disowned", expected, actual).on(EMAIL));
    }
    let mut pages = seen.counted();
    let noted = pages.find_map(|page| Some((page, disowned::note(page, email)?)));
    noted.map(|(page, note)| {
        let actual = format!("the page says near it: {}", quoted(&note));
        finding("email-disowned", &page.url, expected, actual)
    })
}

fn left_at_once(page: &Page, email: &Mailbox) -> Option<Fact> {
    let expected = format!("{email} on a page that stays");
    let actual = "a script leaves the page at once";
    let fact = || finding("source-needs-script", &page.url, expected, actual);
    page.leaves.then(fact)
}

/// Whether visitors show the address better than the owner does.
fn by_visitors(seen: &Seen<'_>, email: &Mailbox, owners: Presence) -> Option<Fact> {
    let page = seen
        .counted()
        .find(|page| presence(&page.of_visitors(), email) < owners)?;
    let expected = format!("{email} in the words of the site's owner");
    let actual = "only in a comment, a review or another's data";
    Some(finding("source-user-content", &page.url, expected, actual))
}

fn best<'a>(
    pages: impl Iterator<Item = &'a Page>,
    email: &Mailbox,
) -> Option<(&'a Page, Presence)> {
    let found = pages.map(|page| (page, presence(page, email)));
    found
        .filter(|(_, how)| *how != Presence::Absent)
        .min_by_key(|(_, how)| *how)
}

/// Why the address is on no page that counts, the most telling reason alone.
fn absent(seen: &Seen<'_>, site: &Url, email: &Mailbox) -> Fact {
    if let Some((page, _)) = best(seen.foreign.iter().copied(), email) {
        return off_site(site, &page.url);
    }
    if let Some(end) = seen.unread.first() {
        return no_page(end).on(SOURCE);
    }
    if let Some(page) = seen.counted().find(|page| page.needs_script) {
        let expected = format!("{email} on the page");
        let actual = "the page shows little without its scripts, and not the address";
        return finding("source-needs-script", &page.url, expected, actual);
    }
    let (addresses, count) = addresses(seen, site);
    let actual = if addresses.is_empty() {
        "not on the page, nor any other address of the site".to_owned()
    } else {
        let shown: Vec<String> = addresses.iter().map(|address| quoted(address)).collect();
        let shown = shown.join(", ");
        format!("not on the page; of the site, it shows {shown}")
    };
    let expected = format!("{email} on the page");
    let fact = finding("email-not-on-source", &seen.main.url, expected, actual);
    fact.times(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

fn addresses(seen: &Seen<'_>, site: &Url) -> (Vec<String>, usize) {
    let Some(domain) = registrable(site) else {
        return (Vec::new(), 0);
    };
    let mut named: Vec<String> = Vec::new();
    let mut count = 0;
    for page in seen.counted() {
        let (some, all) = addresses_of(page, &domain, MAX_NAMED);
        count += all;
        for address in some {
            if !named.contains(&address) {
                named.push(address);
            }
        }
    }
    named.truncate(MAX_NAMED);
    (named, count)
}

/// Why a visit ended without a page. Only a page that does not exist makes a submission wrong.
pub fn no_page(end: &End) -> Fact {
    let unread = |rule, expected, actual: &str, url| {
        let fact = Fact::new(rule, expected, actual).at_url(url);
        fact.unconfirmed()
    };
    match end {
        End::Missing { url, status } => {
            let status = status.map(|status| format!("status {status}"));
            let actual = status.unwrap_or_else(|| "no such host".to_owned());
            Fact::new("source-missing", "a page that exists", actual).at_url(url)
        }
        End::Unanswered { url, why } => {
            let why = quoted(&why.to_string());
            unread("source-unanswered", "a page that answers", &why, url)
        }
        End::Forbidden { url } => {
            let expected = "a page that robots.txt allows";
            unread("source-robots", expected, "robots.txt forbids it", url)
        }
        End::Unreadable { url, why } => unread(
            "source-unreadable",
            "a page that can be read",
            &quoted(why),
            url,
        ),
        End::Pages(_) => Fact::wrong("a page", "none").unconfirmed(),
    }
}
