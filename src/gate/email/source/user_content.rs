//! The parts of a page that its visitors write.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::super::lists::VISITOR_HEADINGS;
use crate::base::fold::fold_spelling;
use crate::base::words::rows;
use crate::world::page::{OwnerPlace, Page};

/// What headings call the words of visitors, as patterns; see the table.
#[derive(Debug, Clone, Deserialize)]
struct HeadingWords {
    heading: String,
    counted: String,
}

/// The patterns of all languages.
struct Headings {
    /// Anywhere in a heading.
    heading: Regex,
    /// A line with their number.
    counted: Regex,
}

static HEADINGS: LazyLock<Headings> = LazyLock::new(|| {
    let rows: Vec<HeadingWords> = rows(VISITOR_HEADINGS)
        .into_iter()
        .map(|row| row.word)
        .collect();
    let all = |field: fn(&HeadingWords) -> &String| {
        let patterns = rows.iter().map(|row| fold_spelling(field(row)));
        // A word of a script without spaces has no edges.
        let edged = patterns.map(|pattern| {
            if pattern.is_ascii() {
                format!(r"\b(?:{pattern})\b")
            } else {
                format!("(?:{pattern})")
            }
        });
        edged.collect::<Vec<_>>().join("|")
    };
    let heading = all(|row| &row.heading);
    let counted = format!("{heading}|{}", all(|row| &row.counted));
    let built = |pattern: &str| {
        Regex::new(pattern).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
    };
    Headings {
        heading: built(&heading),
        counted: built(&format!(
            r"^\d+ ?(?:件ノ|개의|[条则篇])? ?(?:{counted}).{{0,80}}$|(?:{counted}) ?[(:]? ?\d+ ?[件개条]?\)?$"
        )),
    }
});

/// A heading has few words.
const MOST_WORDS: usize = 5;

fn is_short(text: &str) -> bool {
    text.split(' ').count() <= MOST_WORDS
}

/// The lines of a page outside its visitors' sections; `None` if it has no such section.
///
/// A section goes from its heading to the next one as high. What the page's footer says is the
/// owner's, unless the section begins there.
pub fn without_visitors(page: &Page) -> Option<Vec<String>> {
    /// A line that counts comments is as a heading of this level.
    const COUNTED: u8 = 2;
    const MOST_BYTES: usize = 200;
    let (mut section, mut has_any) = (None, false);
    let mut headings = page.headings.iter().peekable();
    let footer = page.owner.iter();
    let footer = footer.filter(|it| it.place == OwnerPlace::Footer);
    let footer: Vec<&String> = footer.map(|it| &it.text).collect();
    let (mut owners, mut theirs, mut begins_in_footer) = (Vec::new(), Vec::new(), false);
    for (at, line) in page.visible.iter().enumerate() {
        let level = headings
            .next_if(|(index, _)| *index == at)
            .map(|(_, level)| *level);
        if let (Some(level), Some(above)) = (level, section)
            && level <= above
        {
            section = None;
        }
        // Folding is dear.
        if line.len() <= MOST_BYTES && section.is_none() {
            let is_theirs = |line: &str| is_short(line) && HEADINGS.heading.is_match(line);
            if let Some(level) = level.filter(|_| is_theirs(&fold_spelling(line))) {
                section = Some(level);
            } else if line.contains(char::is_numeric)
                && HEADINGS.counted.is_match(&fold_spelling(line))
            {
                section = Some(COUNTED);
            }
            begins_in_footer = section.is_some() && footer.contains(&line);
        }
        has_any |= section.is_some();
        match section {
            None => owners.push(line.clone()),
            Some(_) if begins_in_footer => theirs.push(line),
            Some(_) => {}
        }
    }
    let owned = footer.into_iter().filter(|line| !theirs.contains(line));
    owners.extend(owned.cloned());
    has_any.then_some(owners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;

    fn is_of_visitors(heading: &str) -> bool {
        owners(&[(1, "ours"), (2, heading), (0, "theirs")]).is_some()
    }

    #[test]
    fn every_language_has_headings() {
        check(VISITOR_HEADINGS, |_: &HeadingWords, text| {
            is_of_visitors(text)
        });
        for heading in [
            "What our customers say",
            "Das sagen unsere Gäste",
            "Ce que disent nos clients",
            "Ce qu’en pensent les lecteurs",
            "Lo que opinan los lectores",
            "O que dizem nossos clientes",
            "Cosa dicono i nostri clienti",
            "Wat klanten vinden",
            "Co mówią o nas klienci",
        ] {
            assert!(is_of_visitors(heading), "{heading}");
        }
    }

    /// The lines that are the owner's, of a page of headings with their level and lines.
    fn owners(lines: &[(u8, &str)]) -> Option<Vec<String>> {
        let mut page = Page::empty(&url::Url::parse("https://acme.com/").unwrap());
        for (at, (level, line)) in lines.iter().enumerate() {
            page.visible.push((*line).to_owned());
            if *level > 0 {
                page.headings.push((at, *level));
            }
        }
        without_visitors(&page)
    }

    #[test]
    fn a_section_of_visitors_ends_with_the_next_heading_as_high() {
        let page = [
            (1, "News"),
            (0, "ours"),
            (3, "Comentários"),
            (4, "Joelma"),
            (0, "theirs"),
            (3, "Contato"),
            (0, "ours too"),
        ];
        let kept = ["News", "ours", "Contato", "ours too"];
        assert_eq!(owners(&page).unwrap(), kept);
        let counted = [
            (0, "ours"),
            (0, "3 Kommentare zu Neues"),
            (3, "Kurt"),
            (0, "theirs"),
        ];
        assert_eq!(owners(&counted).unwrap(), ["ours"]);
        let plain = [
            (0, "Comments welcome"),
            (2, "Our comment policy for the press room"),
            (0, "x"),
        ];
        assert_eq!(owners(&plain), None);
    }

    #[test]
    fn the_footer_is_the_owners_but_for_a_section_that_begins_there() {
        for html in [
            "<h2>Comments</h2><p>theirs<footer><p>ours</footer>",
            "<footer><p>ours<h4>Recent comments</h4><p>theirs</footer>",
        ] {
            let url = url::Url::parse("https://acme.com/").unwrap();
            let page = Page::parse(&url, Some("text/html"), None, html.as_bytes()).unwrap();
            let owners = without_visitors(&page).unwrap();
            assert!(owners.iter().any(|line| line == "ours"), "{html}");
            assert!(!owners.iter().any(|line| line == "theirs"), "{html}");
        }
    }
}
