//! What an element's name and attributes say about how it is shown and whom it speaks of.

use scraper::node::Element;
use url::Url;

use super::links;
use super::owner::Regions;
use crate::world::domain::HostName;

const HTML: &str = "http://www.w3.org/1999/xhtml";

/// Elements that part what is in them from what is around them.
const PARTING: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "center",
    "col",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "listing",
    "main",
    "marquee",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "text",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "xmp",
];

/// Elements that show something of their own in the line.
const REPLACED: &[&str] = &[
    "audio", "canvas", "embed", "iframe", "image", "img", "input", "math", "meter", "object",
    "progress", "svg", "textarea", "video",
];

/// Elements whose content no reader sees.
const NEVER_SHOWN: &[&str] = &[
    "annotation",
    "annotation-xml",
    "applet",
    "audio",
    "canvas",
    "datalist",
    "defs",
    "desc",
    "head",
    "iframe",
    "metadata",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "param",
    "rp",
    "script",
    "style",
    "symbol",
    "template",
    "textarea",
    "title",
    "video",
];

/// Elements whose content the page takes back.
const STRUCK: &[&str] = &["del", "s", "strike"];

/// How an element shapes the text in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shape {
    /// No reader sees it, or the page takes it back.
    pub(super) hides: bool,
    /// It parts its text from what is around it.
    pub(super) parts: bool,
    /// Its line breaks are shown.
    pub(super) preformatted: bool,
}

/// Whether what is in the element is no part of the page yet, or of no browser's.
pub(super) fn is_inert(element: &Element) -> bool {
    matches!(
        element.name(),
        "template" | "noscript" | "noembed" | "noframes"
    )
}

/// How an element shapes the text in it, by its name and its state.
pub(super) fn shape(element: &Element) -> Shape {
    let name = element.name();
    Shape {
        hides: NEVER_SHOWN.contains(&name)
            || is_struck(element)
            || (name == "dialog" && element.attr("open").is_none())
            || element.attr("popover").is_some(),
        parts: PARTING.contains(&name),
        preformatted: matches!(name, "pre" | "listing" | "xmp" | "plaintext"),
    }
}

/// Whether the element shows something of its own in the line.
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

/// Whether the element is HTML, not SVG nor `MathML`.
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

/// A region that tells who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Header,
    Footer,
    Heading,
    Address,
    Article,
    Menu,
}

impl Place {
    /// The count of open elements of this place.
    pub(super) fn count(self, regions: &mut Regions) -> &mut usize {
        match self {
            Self::Header => &mut regions.header,
            Self::Footer => &mut regions.footer,
            Self::Heading => &mut regions.heading,
            Self::Address => &mut regions.address,
            Self::Article => &mut regions.article,
            Self::Menu => &mut regions.menu,
        }
    }
}

/// The region that an element opens inside `sections` sectioning elements.
///
/// The page's header and footer are the elements of that name outside all sections, those with
/// the role, and those that the id or a class calls so by the whole word.
pub(super) fn place(element: &Element, sections: usize) -> Option<Place> {
    let called = |names: &[&str]| {
        let classes = element.classes();
        let mut all = element.id().into_iter().chain(classes);
        all.any(|one| names.iter().any(|name| one.eq_ignore_ascii_case(name)))
    };
    let role = element.attr("role").unwrap_or_default();
    match element.name() {
        "h1" => Some(Place::Heading),
        "address" => Some(Place::Address),
        "article" | "aside" | "blockquote" | "figcaption" => Some(Place::Article),
        "nav" => Some(Place::Menu),
        _ if role == "navigation" => Some(Place::Menu),
        _ if sections > 0 => None,
        "header" => Some(Place::Header),
        "footer" => Some(Place::Footer),
        _ if role == "banner" || called(&["header", "site-header"]) => Some(Place::Header),
        _ if role == "contentinfo" || called(&["footer", "site-footer"]) => Some(Place::Footer),
        _ => None,
    }
}

/// What an element's id, classes and link say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hints {
    /// It is called a logo.
    pub(super) logo: bool,
    /// It is called something of others: clients, partners.
    pub(super) others: bool,
    /// It leads to the site's home page.
    pub(super) home: bool,
}

/// Reads an element's hints.
pub(super) fn hints(base: &Url, element: &Element) -> Hints {
    const OTHERS: &[&str] = &[
        "client",
        "customer",
        "partner",
        "sponsor",
        "member",
        "brand",
        "award",
        "family",
        "reference",
        "trusted",
        "portfolio",
        "banner",
    ];
    let mut hints = Hints::default();
    for name in element.id().into_iter().chain(element.classes()) {
        let name = name.to_ascii_lowercase();
        hints.logo |= name.contains("logo");
        hints.others |= OTHERS.iter().any(|other| name.contains(other));
    }
    hints.home = element.name() == "a"
        && element.attr("href").is_some_and(|href| {
            links::absolute(base, href).is_some_and(|to| {
                to.host() == base.host()
                    && to.query().is_none()
                    && !href.trim_start().starts_with('#')
                    && (to.path() == "/" || to.path().starts_with("/index."))
            })
        });
    hints
}

/// Whether an element's text names somebody else: a link to another host, save those that stand
/// for the page's whole domain, or a choice of a list.
pub(super) fn names_others(base: &Url, element: &Element) -> bool {
    match element.name() {
        "select" | "option" | "datalist" => true,
        "a" => element
            .attr("href")
            .and_then(|href| links::absolute(base, href))
            .is_some_and(|to| !is_ours(base, &to)),
        _ => false,
    }
}

fn is_ours(base: &Url, to: &Url) -> bool {
    let (Some(own), Some(to)) = (base.host_str(), to.host_str()) else {
        return false;
    };
    let [own, to] = [own, to].map(|host| host.strip_prefix("www.").unwrap_or(host));
    let domain = HostName::of_url(base).and_then(|host| host.registrable());
    own == to || domain.is_some_and(|domain| domain.as_str() == to)
}
