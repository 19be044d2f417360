//! What an element's name and attributes say about how it is shown and whom it speaks of.

use std::sync::LazyLock;

use regex::Regex;
use scraper::node::Element;
use url::Url;

use super::owner::Regions;
use crate::base::word_list::{entries, word_lists};
use crate::world::domain::HostName;

const HTML: &str = "http://www.w3.org/1999/xhtml";

word_lists! {
    REPLACED = "words/replaced.txt";
    PARTING = "words/parting.txt";
    NEVER_SHOWN = "words/never_shown.txt";
}

static LOGO: LazyLock<Regex> = LazyLock::new(|| any_case("logo"));
static OTHERS: LazyLock<Regex> =
    LazyLock::new(|| any_case(&entries(include_str!("words/others.txt")).join("|")));

fn any_case(letters: &str) -> Regex {
    Regex::new(&format!("(?i-u){letters}")).expect("the words are letters of ASCII")
}

const STRUCK: &[&str] = &["del", "s", "strike"];

#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each holds by itself")]
pub(super) struct Shape {
    pub(super) hides: bool,
    /// Whether it is hidden even where a browser says what else is.
    pub(super) hides_in_browsers: bool,
    pub(super) parts: bool,
    pub(super) preformatted: bool,
}

/// The value of an attribute. `Element::attr` looks its name up in a table of all names first.
pub(super) fn attr<'e>(element: &'e Element, name: &str) -> Option<&'e str> {
    let mut attrs = element.attrs.iter();
    let found = attrs.find(|(known, _)| known.ns.is_empty() && &*known.local == name);
    found.map(|(_, value)| &**value)
}

/// What an element is called: its id and its classes. `Element::classes` puts each of them into a
/// table of all names first.
pub(super) fn names(element: &Element) -> impl Iterator<Item = &str> {
    let classes = attr(element, "class").unwrap_or_default();
    let id = attr(element, "id");
    id.into_iter().chain(classes.split_ascii_whitespace())
}

/// Whether what is in the element is no part of the page yet, or of no browser's.
pub(super) fn is_inert(element: &Element) -> bool {
    matches!(
        element.name(),
        "template" | "noscript" | "noembed" | "noframes"
    )
}

pub(super) fn shape(element: &Element) -> Shape {
    let name = element.name();
    let hides_in_browsers = NEVER_SHOWN.contains(&name) || is_struck(element);
    Shape {
        hides_in_browsers,
        hides: hides_in_browsers
            || (name == "dialog" && attr(element, "open").is_none())
            || attr(element, "popover").is_some(),
        parts: PARTING.contains(&name),
        preformatted: matches!(name, "pre" | "listing" | "xmp" | "plaintext"),
    }
}

pub(super) fn is_replaced(element: &Element) -> bool {
    REPLACED.contains(&element.name())
}

/// Whether a reader may see where the element begins and ends in its line: a `wbr` shows
/// nothing unless the line breaks.
pub(super) fn is_edged(element: &Element) -> bool {
    element.name() != "wbr"
}

/// Whether the page takes back what the element says: a reader sees it, struck out.
pub(super) fn is_struck(element: &Element) -> bool {
    STRUCK.contains(&element.name())
}

pub(super) fn is_html(element: &Element) -> bool {
    &*element.name.ns == HTML
}

/// Whether a header or footer inside is this element's, not the page's (HTML Accessibility API
/// Mappings, `banner` and `contentinfo`).
pub(super) fn is_section(element: &Element) -> bool {
    matches!(
        element.name(),
        "article" | "aside" | "main" | "nav" | "section" | "blockquote"
    )
}

/// The level of a heading, from 1 to 6.
pub(super) fn heading_level(element: &Element) -> Option<u8> {
    let level = element.name().strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

/// Counts the region of the page that an element opens.
///
/// The page's header and footer are the elements of that name outside all sections, those with
/// the role, and those whose id or class is that whole word.
pub(super) fn enter_region(element: &Element, in_section: bool, regions: &mut Regions) {
    let called = |called: &[&str]| {
        names(element).any(|one| called.iter().any(|name| one.eq_ignore_ascii_case(name)))
    };
    let role = attr(element, "role").unwrap_or_default();
    let region = match element.name() {
        "h1" => &mut regions.heading,
        "article" | "aside" | "blockquote" | "figcaption" => &mut regions.article,
        "nav" => &mut regions.menu,
        _ if role == "navigation" => &mut regions.menu,
        _ if in_section => return,
        "header" => &mut regions.header,
        "footer" => &mut regions.footer,
        _ if role == "banner" || called(&["header", "site-header"]) => &mut regions.header,
        _ if role == "contentinfo" || called(&["footer", "site-footer"]) => &mut regions.footer,
        _ => return,
    };
    *region += 1;
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hints {
    pub(super) logo: bool,
    /// It is called something of others: clients, partners.
    pub(super) others: bool,
    pub(super) home: bool,
}

/// The hints of an element, which may lead to `target`.
pub(super) fn hints(page: &Url, target: Option<&Url>, element: &Element) -> Hints {
    let mut hints = Hints::default();
    for called in ["id", "class"].map(|name| attr(element, name)) {
        hints.logo |= called.is_some_and(|called| LOGO.is_match(called));
        hints.others |= called.is_some_and(|called| OTHERS.is_match(called));
    }
    let is_anchor = || attr(element, "href").is_some_and(|href| href.trim_start().starts_with('#'));
    hints.home = target.is_some_and(|to| {
        to.host() == page.host()
            && to.query().is_none()
            && (to.path() == "/" || to.path().starts_with("/index."))
            && element.name() == "a"
            && !is_anchor()
    });
    hints
}

/// Whether an element's text names somebody else: a link to another host, save those that stand
/// for the page's whole domain, or a choice of a list.
pub(super) fn names_others(page: &Url, target: Option<&Url>, element: &Element) -> bool {
    match element.name() {
        "select" | "option" | "datalist" => true,
        "a" => target.is_some_and(|to| !is_ours(page, to)),
        _ => false,
    }
}

fn is_ours(page: &Url, to: &Url) -> bool {
    let (Some(own), Some(to)) = (page.host_str(), to.host_str()) else {
        return false;
    };
    let [own, to] = [own, to].map(|host| host.strip_prefix("www.").unwrap_or(host));
    let domain = || HostName::of_url(page).and_then(|host| host.registrable());
    own == to || domain().is_some_and(|domain| domain.as_str() == to)
}
