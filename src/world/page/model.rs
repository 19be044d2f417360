//! A page as plain values: what it says to its reader, and where.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use url::Url;

use crate::base::line::Line;
use crate::base::text::normalise;
use crate::quest::Seen;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub url: Url,
    /// What a reader can see: one entry a block, cell or line; inline elements joined, entities
    /// decoded, invisible characters removed, runs of white space one space.
    pub visible: Vec<String>,
    /// Which lines of `visible` are headings, and of what level, in order.
    pub headings: Vec<(usize, u8)>,
    /// Addresses that are shown, and whose beginning may be a label that an element's edge parts
    /// from the rest. They are not in `visible`.
    pub unclear: Vec<String>,
    /// Addresses that a reader can click or a machine is meant to read: addressees of `mailto:`
    /// links (percent escapes decoded), JSON-LD `email` of the owner, microdata `email`,
    /// `data-cfemail` decoded.
    pub linked: Vec<String>,
    /// Where in `visible` the links are that lead to addresses.
    pub mail_links: Vec<MailLink>,
    /// What visitors of the page wrote, as far as it can be told: the text of comments and
    /// reviews, the addresses linked there, and those that JSON-LD gives to others than the
    /// page's owner.
    pub visitors: Vec<String>,
    /// What no reader sees: comments, scripts, styles, templates, attributes, hidden elements;
    /// of these only what may spell an address.
    pub hidden: Vec<String>,
    /// What the page says where it may tell whose it is, in its own order: what it declares, and
    /// its visible lines, without what links to other sites.
    pub owner: Vec<OwnerText>,
    /// Other pages to which it links, with what it calls them.
    pub links: Vec<(Url, String)>,
    pub frames: Vec<Url>,
    pub refresh: Option<Url>,
    pub needs_script: bool,
    /// What decided what a reader sees; none for a page that is not HTML.
    pub seen: Option<Seen>,
    /// A script of the page leads its reader elsewhere as soon as it runs.
    pub leaves: bool,
    /// A mark by which others than the owner write on the page.
    pub others_write: Option<String>,
}

/// The text of a link to an address, which need not show it, or one line of that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLink {
    pub address: String,
    /// The index of its line in `visible`.
    pub line: usize,
    /// Its bytes in that line; none where the link is a picture.
    pub label: Range<usize>,
}

#[derive(Debug, Clone)]
pub struct OwnerText {
    pub place: OwnerPlace,
    pub text: String,
    /// Whether it is one, wherever it is.
    pub is_heading: bool,
    /// The text as it is looked for, once something is.
    line: OnceCell<Arc<Line>>,
}

impl OwnerText {
    pub fn new(place: OwnerPlace, text: String) -> Self {
        Self {
            place,
            text,
            is_heading: place == OwnerPlace::Heading,
            line: OnceCell::new(),
        }
    }

    /// The same text as if it stood elsewhere.
    pub fn moved(&self, place: OwnerPlace) -> Self {
        Self {
            place,
            ..self.clone()
        }
    }

    pub fn line(&self) -> &Line {
        self.line.get_or_init(|| Arc::new(Line::new(&self.text)))
    }
}

impl PartialEq for OwnerText {
    fn eq(&self, other: &Self) -> bool {
        (self.place, &self.text) == (other.place, &other.text)
    }
}

impl Eq for OwnerText {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnerPlace {
    Title,
    /// What the page tells machines is the site's name.
    SiteName,
    /// What it tells machines is an organization's name: those of one organization together.
    Organization,
    /// The other text of an image that leads home.
    Logo,
    Heading,
    Header,
    Footer,
    /// In `<article>`, `<aside>` or a quotation, which speak of anything.
    Article,
    Body,
    /// In `<nav>`, whose words name what they lead to.
    Menu,
    /// A line of the owner's with the names that link to other sites.
    Linked,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("its content type is {0}")]
    NotText(String),
    #[error("its bytes are not text in {0}")]
    BadEncoding(String),
    #[error("its elements nest deeper than {0}")]
    TooDeep(usize),
    /// Its elements lie deeper, taken together, than those of any page that people read.
    #[error("the depths of its elements add up to more than {0}")]
    TooDeepInAll(usize),
    #[error("as a PDF, {0}")]
    Pdf(&'static str),
    /// It has more elements, or more attributes on one, than any page that people read.
    #[error("it has more elements or attributes than {0}")]
    TooMany(usize),
}

impl Page {
    pub(crate) fn empty(url: &Url) -> Self {
        Self {
            url: url.clone(),
            visible: Vec::new(),
            headings: Vec::new(),
            unclear: Vec::new(),
            linked: Vec::new(),
            mail_links: Vec::new(),
            visitors: Vec::new(),
            hidden: Vec::new(),
            owner: Vec::new(),
            links: Vec::new(),
            frames: Vec::new(),
            refresh: None,
            needs_script: false,
            seen: None,
            leaves: false,
            others_write: None,
        }
    }

    /// What its visitors wrote, as a page of its own.
    pub fn of_visitors(&self) -> Self {
        Self {
            visible: self.visitors.clone(),
            ..Self::empty(&self.url)
        }
    }
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(normalise).filter(|line| !line.is_empty())
}
