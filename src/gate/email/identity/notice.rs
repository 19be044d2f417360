//! The pages on which a site says who runs it, and what of them is their own.

use std::collections::HashSet;

use itertools::Itertools as _;
use url::Url;

use super::words::{Line, NOTICES, Rank};
use crate::gate::email::site::on_site;
use crate::world::page::{OwnerPlace, OwnerText, Page};

/// The pages to which a home page links as its legal notice, the surest first.
pub(super) fn linked(home: &Page, site: &Url) -> Vec<(Url, Rank)> {
    let mut found: Vec<(Url, Rank, usize)> = Vec::new();
    for (url, text) in home.links.iter().unique() {
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

/// Where a link of the home page leads that is called as the notice that the law asks for, if that is
/// another site.
pub(super) fn elsewhere(home: &Page, site: &Url) -> Option<Url> {
    let mut links = home.links.iter().filter(|(url, text)| {
        let line = Line::new(text);
        let found = NOTICES.at(&line, 0).filter(|(_, rank)| rank.is_of_law());
        found.is_some() && line.words.len() <= MAX_LINK_WORDS && !on_site(site, url)
    });
    links.next().map(|(url, _)| url.clone())
}

/// The notices that a page has itself: their headings, and the lines below these.
pub(super) fn on_page(page: &Page) -> Vec<OwnerText> {
    let starts = page.headings.iter().map(|(at, _)| *at);
    let ends = starts.clone().skip(1).chain([page.visible.len()]);
    let sections = starts
        .zip(ends)
        .map(|(start, end)| &page.visible[start..end]);
    let notices = sections.filter(|lines| is_heading(&Line::new(&lines[0])));
    let lines = notices.flatten();
    lines
        .map(|line| OwnerText::new(OwnerPlace::Body, line.clone()))
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

/// The lines of a page that are its own, and those of the frame that its site has around all pages.
pub(super) struct Parted {
    pub(super) own: Vec<OwnerText>,
    pub(super) frame: Vec<OwnerText>,
}

/// Parts a page from the frame of its site, as the home page shows it: the lines of header and footer
/// that both have, and around them, what both begin and end with. A frame says no more on a notice than
/// on the home page.
pub(super) fn parted(page: &[OwnerText], home: &[OwnerText]) -> Parted {
    let (_, inner) = by_place(page);
    let (around, home_inner) = by_place(home);
    let around: HashSet<_> = around.into_iter().map(key).collect();
    let common = common(&inner, &home_inner);
    let mut inner = 0..;
    let lines = page.iter().filter(|text| is_line(text.place)).cloned();
    let (frame, own) = lines.partition(|text| {
        if is_around(text.place) {
            around.contains(&key(text))
        } else {
            inner.next().is_some_and(|at| common.contains(&at))
        }
    });
    Parted { own, frame }
}

fn key(text: &OwnerText) -> (OwnerPlace, &str) {
    (text.place, &text.text)
}

/// The lines of header and footer, and the others.
fn by_place(texts: &[OwnerText]) -> (Vec<&OwnerText>, Vec<&OwnerText>) {
    let lines = texts.iter().filter(|text| is_line(text.place));
    lines.partition(|text| is_around(text.place))
}

fn is_around(place: OwnerPlace) -> bool {
    matches!(place, OwnerPlace::Header | OwnerPlace::Footer)
}

/// The lines of a site's end that may differ from page to page, as a date or a counter does.
const MAX_DIFFERING: usize = 2;

/// Which lines of a page are those with which it begins or ends as the home page does.
fn common(page: &[&OwnerText], home: &[&OwnerText]) -> HashSet<usize> {
    let begin = page
        .iter()
        .zip(home)
        .take_while(|(one, other)| one == other);
    let ends = page.iter().rev().zip(home.iter().rev()).enumerate();
    let alike = ends.filter(|(_, (one, other))| one == other).enumerate();
    let end = alike.take_while(|(count, (at, _))| at - count <= MAX_DIFFERING);
    let end = end.map(|(_, (at, _))| page.len() - 1 - at);
    (0..begin.count()).chain(end).collect()
}

/// Whether a text is a visible line, outside of menus.
pub(super) fn is_line(place: OwnerPlace) -> bool {
    use OwnerPlace::{Linked, Logo, Menu, Organization, SiteName, Title};
    !matches!(
        place,
        Title | SiteName | Organization | Logo | Linked | Menu
    )
}

#[cfg(test)]
mod tests {
    use OwnerPlace::{Body, Footer, Heading, Title};

    use super::*;
    use crate::base::rows;

    fn texts(texts: &[(OwnerPlace, &str)]) -> Vec<OwnerText> {
        let texts = texts.iter();
        texts
            .map(|(place, text)| OwnerText::new(*place, (*text).to_owned()))
            .collect()
    }

    fn parts(page: &[OwnerText], home: &[OwnerText]) -> (Vec<OwnerText>, Vec<OwnerText>) {
        let Parted { own, frame } = parted(page, home);
        (own, frame)
    }

    #[test]
    fn the_frame_of_a_site_is_no_part_of_its_notice() {
        let home = texts(&[
            (Title, "Acme"),
            (Body, "Acme"),
            (Heading, "Noodles"),
            (Body, "Acme GmbH"),
            (Body, "Partners"),
            (Footer, "© Acme GmbH"),
            (Footer, "Monday"),
        ]);
        let page = texts(&[
            (Title, "Impressum"),
            (Body, "Acme"),
            (Heading, "Impressum"),
            (Body, "Acme GmbH"),
            (Body, "Tel. 1"),
            (Body, "Partners"),
            (Footer, "© Acme GmbH"),
            (Footer, "Tuesday"),
        ]);
        let at = |lines: &[usize]| -> Vec<OwnerText> {
            lines.iter().map(|at| page[*at].clone()).collect()
        };
        assert_eq!(parts(&page, &home), (at(&[2, 3, 4, 7]), at(&[1, 5, 6])));
        assert_eq!(parts(&home, &home), (vec![], home[1..].into()));
        assert_eq!(parts(&page, &[]), (page[1..].into(), vec![]));
    }

    #[test]
    fn a_page_may_have_its_notice_itself() {
        let here = Url::parse("https://acme.de/").unwrap();
        let page = Page {
            visible: [
                "Noodles",
                "Impressum",
                "Acme GmbH",
                "Tel. 1",
                "Dealers",
                "Gamma GmbH",
            ]
            .map(str::to_owned)
            .into(),
            ..Page::empty(&here)
        };
        for (headings, expected) in rows! {
            &[0_usize, 1, 4][..] => "Impressum|Acme GmbH|Tel. 1";
            &[0, 1] => "Impressum|Acme GmbH|Tel. 1|Dealers|Gamma GmbH";
            // No heading, and the heading of something else.
            &[] => "";
            &[0, 4] => "";
        } {
            let headings = headings.iter().map(|at| (*at, 2)).collect();
            let page = Page {
                headings,
                ..page.clone()
            };
            let found: Vec<String> = on_page(&page).into_iter().map(|it| it.text).collect();
            assert_eq!(found.join("|"), expected, "{:?}", page.headings);
        }
    }

    #[test]
    fn few_lines_may_differ_at_the_end_of_a_sites_pages() {
        for (page, home, own) in rows! {
            "A © 1", "B © 1" => "A";
            "A © 1", "B © 2" => "A 1";
            "A © 1 x", "B © 2 y" => "A 1 x";
            "A © 1 x z", "B © 2 y w" => "A © 1 x z";
            // The home page has that line in another place.
            "A B C D", "B x y z" => "A B C D";
            "A © 1", "B C © 2" => "A 1";
            "A © 1", "A © 1" => "";
        } {
            let lines = |text: &str| -> Vec<OwnerText> {
                let words: Vec<_> = text.split(' ').map(|word| (Body, word)).collect();
                texts(&words)
            };
            let (found, _) = parts(&lines(page), &lines(home));
            let found: Vec<String> = found.into_iter().map(|line| line.text).collect();
            assert_eq!(found.join(" "), own, "{page} | {home}");
        }
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
