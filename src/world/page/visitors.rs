//! Where visitors write on a page: boxes of comments and reviews, whose words are kept apart, and
//! marks of boards, wikis and guest books, whose pages are visitors' as a whole.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;
use scraper::node::Element;
use serde::Deserialize;

use super::Page;
use super::element::{attr, names};
use crate::base::words::{Text, rows};

const BOX_TABLE: &str = include_str!("../words/visitor_boxes.toml");
const SOFTWARE_TABLE: &str = include_str!("../words/visitor_software.toml");

#[derive(Debug, Clone, Deserialize)]
struct BoxWord {
    text: String,
    kind: BoxKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BoxKind {
    /// Names such a box as a whole word.
    Word,
    /// Begins a word that names one.
    Stem,
    /// A word of the owner that a stem begins.
    Owner,
    /// Names a board, and with a part that follows it a box.
    Place,
    Part,
}

#[derive(Default)]
struct Boxes {
    words: HashSet<String>,
    stems: Vec<String>,
    owners: HashSet<String>,
    places: Vec<String>,
    parts: HashSet<String>,
}

static BOXES: LazyLock<Boxes> = LazyLock::new(|| {
    let mut boxes = Boxes::default();
    for BoxWord { text, kind } in rows(BOX_TABLE).into_iter().map(|row| row.word) {
        match kind {
            BoxKind::Word => drop(boxes.words.insert(text)),
            BoxKind::Stem => boxes.stems.push(text),
            BoxKind::Owner => drop(boxes.owners.insert(text)),
            BoxKind::Place => boxes.places.push(text),
            BoxKind::Part => drop(boxes.parts.insert(text)),
        }
    }
    boxes
});

/// Types of schema.org that visitors fill.
const TYPES: &[&str] = &[
    "Answer",
    "Comment",
    "DiscussionForumPosting",
    "Question",
    "Review",
    "UserComments",
    "UserReview",
];

/// Types of schema.org that say of a whole page that visitors write it.
const PAGE_TYPES: &[&str] = &["DiscussionForumPosting", "QAPage", "UserComments"];

/// Whether a name of an element is that of a box of visitors, for every name that a page has.
#[derive(Default)]
pub(super) struct Names(HashMap<String, bool>);

impl Names {
    /// Whether visitors write what is in an element: comments, replies, reviews and posts, by the
    /// words of its id or a class, or by schema.org's type or property.
    pub(super) fn are_of_visitors(&mut self, element: &Element) -> bool {
        if matches!(element.name(), "html" | "body" | "main") {
            return false;
        }
        let types = attr(element, "itemtype").unwrap_or_default();
        let mut types = types.split_ascii_whitespace();
        let properties = attr(element, "itemprop").unwrap_or_default();
        let mut properties = properties.split_ascii_whitespace();
        names(element).any(|name| self.is_of_visitors(name))
            || types.any(|one| TYPES.contains(&one.rsplit('/').next().unwrap_or(one)))
            || properties.any(|one| matches!(one, "comment" | "review" | "reviewBody"))
    }

    fn is_of_visitors(&mut self, name: &str) -> bool {
        if let Some(known) = self.0.get(name) {
            return *known;
        }
        let is_so = is_called_so(name);
        self.0.insert(name.to_owned(), is_so);
        is_so
    }
}

fn is_called_so(name: &str) -> bool {
    let words = words(name);
    let after_place = |word: &str| {
        let mut places = BOXES.places.iter();
        places.find_map(|place| Some(word.strip_prefix(place.as_str())?.to_owned()))
    };
    let stands = |word: &String| {
        let has_stem = || BOXES.stems.iter().any(|stem| word.starts_with(stem));
        BOXES.words.contains(word)
            || has_stem() && !BOXES.owners.contains(word)
            || after_place(word).is_some_and(|part| BOXES.parts.contains(&part))
    };
    let is_pair = |pair: &[String]| {
        BOXES.places.contains(&pair[0]) && BOXES.parts.contains(&pair[1])
            || BOXES.words.contains(&pair.concat())
    };
    words.iter().any(stands) || words.windows(2).any(is_pair)
}

fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The marks of software that visitors write with.
#[derive(Default)]
struct Software {
    generators: Vec<String>,
    ids: HashSet<String>,
    classes: HashSet<String>,
    /// Beginnings of classes.
    stems: Vec<String>,
    actions: Vec<String>,
}

static SOFTWARE: LazyLock<Software> = LazyLock::new(|| {
    let mut all = Software::default();
    for row in rows::<Text>(SOFTWARE_TABLE) {
        let mark = row.word.text;
        if let Some(name) = mark.strip_prefix("generator ") {
            all.generators.push(name.to_owned());
        } else if let Some(name) = mark.strip_prefix("action ") {
            all.actions.push(name.to_owned());
        } else if let Some(id) = mark.strip_prefix('#') {
            all.ids.insert(id.to_owned());
        } else if let Some(class) = mark.strip_prefix('.') {
            match class.strip_suffix('*') {
                Some(stem) => all.stems.push(stem.to_owned()),
                None => drop(all.classes.insert(class.to_owned())),
            }
        }
    }
    all
});

impl Software {
    fn mark(&self, element: &Element) -> Option<String> {
        if let Some(id) = attr(element, "id").filter(|id| self.ids.contains(*id)) {
            return Some(format!("the id {id:?}"));
        }
        let listed = |class: &&str| {
            self.classes.contains(*class) || self.stems.iter().any(|stem| class.starts_with(stem))
        };
        let classes = attr(element, "class").unwrap_or_default();
        if let Some(class) = classes.split_ascii_whitespace().filter(listed).min() {
            return Some(format!("the class {class:?}"));
        }
        let attribute = |name| attr(element, name).unwrap_or_default().to_ascii_lowercase();
        let (names, text) = match element.name() {
            "meta" if attribute("name") == "generator" => (&self.generators, attribute("content")),
            "form" => (&self.actions, attribute("action")),
            _ => return None,
        };
        let name = names.iter().find(|name| text.contains(name.as_str()))?;
        Some(format!("its software: {name:?}"))
    }
}

/// What a page shows of a board: marks of its software, or a form for guests among dated entries.
#[derive(Debug, Default)]
pub(super) struct Board {
    mark: Option<String>,
    has_text: bool,
    asks_guests: bool,
    takes_posts: bool,
}

/// What a form asks of guests who post, and a contact form of no one.
const GUEST_FIELDS: &[&str] = &["homepage", "nick", "nickname", "hompy"];

impl Board {
    /// Looks at the next element. `apart` says that it is in a box of visitors, whose words are
    /// kept apart already.
    pub(super) fn see(&mut self, element: &Element, apart: bool) {
        let mark = SOFTWARE.mark(element).or_else(|| {
            let rel = attr(element, "rel").unwrap_or_default();
            let mut rel = rel.split_ascii_whitespace();
            let by_user = !apart && rel.any(|one| one.eq_ignore_ascii_case("ugc"));
            by_user.then(|| "links that its users made".to_owned())
        });
        if self.mark.is_none() {
            self.mark = mark.or_else(|| leads_to_editing(element).then(|| "a wiki".to_owned()));
        }
        match element.name() {
            "form" => (self.has_text, self.asks_guests) = (false, false),
            "textarea" => self.has_text = true,
            "input" => {
                let name = attr(element, "name")
                    .unwrap_or_default()
                    .to_ascii_lowercase();
                let kind = attr(element, "type").unwrap_or_default();
                self.asks_guests |=
                    kind.eq_ignore_ascii_case("password") || GUEST_FIELDS.contains(&&*name);
            }
            _ => {}
        }
        self.takes_posts |= self.has_text && self.asks_guests;
    }

    /// Looks at JSON-LD.
    pub(super) fn see_data(&mut self, json: &str) {
        let says = |name: &&&str| json.contains(&format!("\"{name}\""));
        if let Some(name) = PAGE_TYPES.iter().find(says) {
            self.mark = Some(format!("its structured data: {name}"));
        }
    }

    /// The mark by which others than the owner write on `page`, if any.
    pub(super) fn mark(self, page: &Page) -> Option<String> {
        const ENTRIES: usize = 2;
        self.mark.or_else(|| {
            let lines = || page.visible.iter().chain(&page.visitors);
            let dated = || lines().filter(|line| DATE.is_match(line)).take(ENTRIES);
            let is_board = self.takes_posts && dated().count() == ENTRIES;
            is_board.then(|| "a form for guests below dated entries".to_owned())
        })
    }
}

/// Whether a link leads to where a reader edits the page (`MediaWiki`, `DokuWiki`, `MoinMoin`).
fn leads_to_editing(element: &Element) -> bool {
    let href = attr(element, "href").unwrap_or_default();
    let mut fields = href.split(['?', '&']).skip(1);
    element.name() == "a" && fields.any(|field| matches!(field, "action=edit" | "do=edit"))
}

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let (year, part) = (r"(?:19|20)\d\d", r"[01]?\d");
    let pattern = format!(
        r"\b{year} ?[-./年년] ?{part} ?[-./月월] ?[0-3]?\d|\b[0-3]?\d[-./]{part}[-./]{year}"
    );
    Regex::new(&pattern).expect("the pattern is a constant")
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;
    use crate::world::page::tests::page;

    #[test]
    fn boxes_of_visitors() {
        for name in "comments guestBook commentBody commentarea comment-list cmt cmt_list
            board_view boardView boardview bbs-list bbsContent qna_list forum-post postReply
            REVIEWS"
            .split_whitespace()
        {
            assert!(is_called_so(name), "{name}");
        }
    }

    #[test]
    fn boxes_of_the_owner() {
        for name in "commentary dashboard board-of-directors board preview content-view
            keyboard-list news_view"
            .split_whitespace()
            .chain([""])
        {
            assert!(!is_called_so(name), "{name}");
        }
    }

    #[test]
    fn every_word_of_a_box_counts() {
        check(BOX_TABLE, |word: &BoxWord, name| match word.kind {
            // An owner's word is no visitors', although a stem begins it.
            BoxKind::Owner => word.text == name,
            _ => is_called_so(name),
        });
    }

    #[test]
    fn every_mark_of_software_counts() {
        check(SOFTWARE_TABLE, |_: &Text, html| {
            page(html).others_write.is_some()
        });
    }

    #[test]
    fn a_page_that_a_reader_edits_is_a_wiki() {
        for (href, is_wiki) in [
            ("?do=edit", true),
            ("/index.php?title=A&amp;action=edit", true),
            ("/do=edit", false),
            ("?do=editorial", false),
        ] {
            let html = format!("<a href='{href}'>x</a>");
            assert_eq!(page(&html).others_write.is_some(), is_wiki, "{href}");
        }
    }

    #[test]
    fn a_form_for_guests_among_dated_entries_is_a_board() {
        let form = "<form><input name=nick><textarea></textarea></form>";
        let contact = "<form><input name=name><textarea></textarea></form>";
        let entries = "<p>2026-01-02 Kim<p>03.01.2026 Lee";
        for (html, is_board) in [
            (format!("{entries}{form}"), true),
            (format!("{entries}{contact}"), false),
            (format!("<p>2026-01-02 Kim{form}"), false),
            (entries.to_owned(), false),
        ] {
            assert_eq!(page(&html).others_write.is_some(), is_board, "{html}");
        }
    }
}
