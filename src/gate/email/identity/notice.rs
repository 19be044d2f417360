//! The pages on which a site says who runs it, and what of them is their own.

use url::Url;

use super::words::{Line, NOTICES, Rank};
use crate::gate::email::site::on_site;
use crate::world::page::{OwnerPlace, OwnerText, Page};

/// The pages to which a home page links as its legal notice, the surest first.
pub(super) fn linked(home: &Page, site: &Url) -> Vec<(Url, Rank)> {
    let mut found: Vec<(Url, Rank, usize)> = Vec::new();
    for (url, text) in &home.links {
        if !on_site(site, url) || *url == home.url {
            continue;
        }
        let Some((rank, length)) = rank(url, text) else {
            continue;
        };
        match found.iter_mut().find(|(known, ..)| known == url) {
            Some(known) if (known.1, known.2) > (rank, length) => {
                (known.1, known.2) = (rank, length);
            }
            Some(_) => {}
            None => found.push((url.clone(), rank, length)),
        }
    }
    found.sort_by_key(|(_, rank, length)| (*rank, *length));
    found
        .into_iter()
        .map(|(url, rank, _)| (url, rank))
        .collect()
}

/// What a link is called that leads to a notice has few words.
const MAX_LINK_WORDS: usize = 6;

/// How surely a link leads to a notice, and the number of words that say so.
fn rank(url: &Url, text: &str) -> Option<(Rank, usize)> {
    let segment = url
        .path_segments()
        .and_then(|segments| segments.rev().find(|s| !s.is_empty()));
    let segment = percent_encoding::percent_decode_str(segment.unwrap_or_default());
    let segment = segment
        .decode_utf8_lossy()
        .replace(".html", " ")
        .replace(".php", " ");
    [text, &segment]
        .into_iter()
        .filter_map(|called| {
            let line = Line::new(called);
            let count = line.words.len();
            if count > MAX_LINK_WORDS {
                return None;
            }
            let rows = (0..count).filter_map(|at| NOTICES.at(&line, at));
            let ranks = rows.map(|(_, rank)| rank).chain(NOTICES.inside(&line));
            ranks.map(|rank| (rank, count)).min()
        })
        .min()
}

/// Whether a line is the heading of a notice.
pub(super) fn is_heading(line: &Line) -> bool {
    let count = line.words.len();
    count <= MAX_LINK_WORDS
        && NOTICES
            .at(line, 0)
            .is_some_and(|(_, rank)| rank.names_operator())
        && !line.text.contains(':')
}

/// The lines of a page that are its own, and those at its end that all pages of its site have.
pub(super) struct Parted {
    pub(super) own: Vec<OwnerText>,
    pub(super) foot: Vec<OwnerText>,
}

/// Parts a page from the frame that its site has around all pages, as the home page shows it: what both
/// begin with, and what both end with. A frame says no more on a notice than on the home page.
pub(super) fn parted(page: &[OwnerText], home: &[OwnerText]) -> Parted {
    let lines = |texts: &[OwnerText]| -> Vec<OwnerText> {
        let lines = texts.iter().filter(|text| is_line(text.place));
        lines.cloned().collect()
    };
    let (mut page, home) = (lines(page), lines(home));
    let alike = |(one, other): &(&OwnerText, &OwnerText)| one == other;
    let ends = page.iter().rev().zip(home.iter().rev());
    let foot = page.split_off(page.len() - ends.take_while(alike).count());
    let head = page.iter().zip(&home).take_while(alike).count();
    let own = page.split_off(head);
    Parted { own, foot }
}

/// Whether a text is a visible line.
pub(super) fn is_line(place: OwnerPlace) -> bool {
    use OwnerPlace::{Logo, Organization, SiteName, Title};
    !matches!(place, Title | SiteName | Organization | Logo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_site_is_no_part_of_its_notice() {
        use OwnerPlace::{Body, Footer, Heading, Title};
        let texts = |texts: &[(OwnerPlace, &str)]| -> Vec<OwnerText> {
            let texts = texts.iter().map(|(place, text)| OwnerText {
                place: *place,
                text: (*text).to_owned(),
            });
            texts.collect()
        };
        let home = texts(&[
            (Title, "Acme"),
            (Body, "Acme"),
            (Heading, "Noodles"),
            (Body, "Acme GmbH"),
            (Footer, "© Acme GmbH"),
        ]);
        let page = texts(&[
            (Title, "Impressum"),
            (Body, "Acme"),
            (Heading, "Impressum"),
            (Body, "Acme GmbH"),
            (Body, "Tel. 1"),
            (Footer, "© Acme GmbH"),
        ]);
        let parts = |page, home| {
            let Parted { own, foot } = parted(page, home);
            (own, foot)
        };
        assert_eq!(parts(&page, &home), (page[2..5].into(), page[5..].into()));
        assert_eq!(parts(&home, &home), (vec![], home[1..].into()));
        assert_eq!(parts(&page, &[]), (page[1..].into(), vec![]));
    }

    #[test]
    fn links_are_called_by_what_they_lead_to() {
        let home = |links: &[(&str, &str)]| {
            let here = Url::parse("https://acme.de/").unwrap();
            let links = links
                .iter()
                .map(|(path, text)| (here.join(path).unwrap(), (*text).to_owned()));
            let page = Page {
                links: links.collect(),
                ..Page::empty(&here)
            };
            let found = linked(&page, &here).into_iter();
            found
                .map(|(url, _)| url.path().to_owned())
                .collect::<Vec<_>>()
        };
        let links = [
            ("/kontakt", "Kontakt"),
            ("/a", "Impressum & Datenschutz"),
            ("/b", "Über uns"),
            ("/news", "Impressionen"),
            ("https://gamma.de/impressum", "Impressum"),
        ];
        assert_eq!(home(&links), ["/a", "/b", "/kontakt"]);
        assert_eq!(
            home(&[("/mentions-legales.html", "")]),
            ["/mentions-legales.html"]
        );
        assert_eq!(
            home(&[("/law", "特定商取引法に基づく表記"), ("/co", "会社概要")]),
            ["/law", "/co"]
        );
    }
}
