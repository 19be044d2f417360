//! How the pages of a visit show the address.

use url::Url;

use super::super::on_site::registrable;
use super::super::quoted::quoted;
use super::seen::Seen;
use super::{ending, finding, off_site};
use crate::gate::Finding;
use crate::world::mailbox::Mailbox;
use crate::world::page::{Page, Presence, addresses_of, presence, states_no_collection};

/// The most addresses of the site that a fact names.
const MAX_NAMED: usize = 5;

/// What the pages show of the address: only the best of all counts.
pub fn judge(seen: &Seen<'_>, site: &Url, email: &Mailbox) -> Vec<Finding> {
    let Some((page, how)) = best(seen.counted(), email) else {
        return vec![by_visitors(seen, email).unwrap_or_else(|| absent(seen, site, email))];
    };
    let expected = format!("{email} where a reader sees it");
    let mut findings: Vec<Finding> = match how {
        Presence::Hidden => Some((
            "email-hidden",
            "only where no reader sees it, or struck out",
        )),
        Presence::Obfuscated => Some((
            "email-obfuscated",
            "only in disguise, or it is not sure where it begins",
        )),
        Presence::Visible | Presence::Absent => None,
    }
    .map(|(rule, actual)| finding(rule, &page.url, expected, actual))
    .into_iter()
    .collect();
    let mut pages = seen.counted();
    findings.extend(pages.find_map(|page| {
        let words = states_no_collection(page)?;
        let expected = "a page that lets its addresses be noted down";
        Some(finding(
            "collection-refused",
            &page.url,
            expected,
            quoted(&words),
        ))
    }));
    findings
}

/// That only the page's visitors wrote the address, if so.
fn by_visitors(seen: &Seen<'_>, email: &Mailbox) -> Option<Finding> {
    let page = seen
        .counted()
        .find(|page| presence(&page.of_visitors(), email) != Presence::Absent)?;
    let expected = format!("{email} in the words of the site's owner");
    let actual = "only in a comment, a review or another's data";
    Some(finding("source-user-content", &page.url, expected, actual))
}

/// The page that shows the address best; none when it is absent from all.
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
fn absent(seen: &Seen<'_>, site: &Url, email: &Mailbox) -> Finding {
    if let Some((page, _)) = best(seen.foreign.iter().copied(), email) {
        return off_site(site, &page.url);
    }
    if let Some(frame) = seen.unread.first() {
        return ending::finding_of_frame(frame);
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
        format!(
            "not on the page; of the site, it shows {}",
            shown.join(", ")
        )
    };
    finding(
        "email-not-on-source",
        &seen.main.url,
        format!("{email} on the page"),
        actual,
    )
    .times(u32::try_from(count).unwrap_or(u32::MAX).max(1))
}

/// Up to five addresses of the site, and how many there are in all.
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
