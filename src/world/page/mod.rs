//! What a page says to its reader, and where it says it.
//!
//! [`Page::parse`] turns the bytes of one answer into plain values; everything that gates
//! ask of a page is a pure function of them.

mod charset;
mod conceal;
mod credit;
mod dom;
mod element;
mod kind;
mod label;
mod links;
mod owner;
mod presence;
mod protected;
mod read;
mod refusal;
mod scripted;
mod spelled;
mod structured;
mod text;
mod unclear;
mod visible;
mod visitors;
mod whole;

#[cfg(test)]
mod tests;

use url::Url;

pub use presence::{Presence, addresses_of, presence};
pub use refusal::states_no_collection;
pub use text::is_unspaced;

/// What a page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it was read.
    pub url: Url,
    /// What a reader can see: one entry a block, cell or line; inline elements joined, entities
    /// decoded, invisible characters removed, runs of white space one space.
    pub visible: Vec<String>,
    /// Addresses that are shown, and whose beginning may be a label that an element's edge parts
    /// from the rest. They are not in `visible`.
    pub unclear: Vec<String>,
    /// Addresses that a reader can click or a machine is meant to read: addressees of `mailto:`
    /// links (percent escapes decoded), JSON-LD `email` of the owner, microdata `email`,
    /// `data-cfemail` decoded.
    pub linked: Vec<String>,
    /// What visitors of the page wrote, as far as it can be told: the text of comments and
    /// reviews, the addresses linked there, and those that JSON-LD gives to others than the
    /// page's owner.
    pub visitors: Vec<String>,
    /// What no reader sees: comments, scripts, styles, templates, attributes, hidden elements;
    /// of these only what may spell an address.
    pub hidden: Vec<String>,
    /// What stands where an owner's name stands.
    pub owner: Vec<OwnerText>,
    /// Pages shown inside it: `frame` and `iframe` sources, absolute, in order.
    pub frames: Vec<Url>,
    /// Where a meta refresh or a `Refresh` header leads, absolute.
    pub refresh: Option<Url>,
    /// Whether it shows little without its scripts.
    pub needs_script: bool,
}

/// A text at a place where an owner's name stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerText {
    /// The place.
    pub place: OwnerPlace,
    /// The text, normalised like visible text.
    pub text: String,
}

/// The places where an owner's name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnerPlace {
    /// `<title>`.
    Title,
    /// `og:site_name`, `application-name`.
    SiteName,
    /// `<h1>`.
    Heading,
    /// The logo's alternative text.
    Logo,
    /// The name of a JSON-LD or microdata organization.
    Organization,
    /// `<header>`.
    Header,
    /// `<footer>`.
    Footer,
    /// A copyright line.
    Copyright,
    /// An address line.
    Address,
}

/// A body that cannot be read as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The content type is not text.
    #[error("its content type is {0}")]
    NotText(String),
    /// It says text, and is not.
    #[error("its bytes are not text in {0}")]
    BadEncoding(String),
    /// Elements nest deeper than any page that people read.
    #[error("its elements nest deeper than {0}")]
    TooDeep(usize),
    /// Its elements lie deeper, taken together, than those of any page that people read.
    #[error("the depths of its elements add up to more than {0}")]
    TooDeepInAll(usize),
    /// It has more elements, or more attributes on one, than any page that people read.
    #[error("it has more elements or attributes than {0}")]
    TooMany(usize),
}

impl Page {
    /// Reads the bytes of one answer.
    ///
    /// `content_type` and `refresh` are headers as sent. The charset comes from the header,
    /// the byte order mark or a meta tag, as browsers find it (WHATWG HTML §13.2.3), else by
    /// detection.
    pub fn parse(
        url: &Url,
        content_type: Option<&str>,
        refresh: Option<&str>,
        body: &[u8],
    ) -> Result<Self, Unreadable> {
        read::read(url, content_type, refresh, body)
    }

    /// What its visitors wrote, as a page of its own.
    #[must_use]
    pub fn of_visitors(&self) -> Self {
        Self {
            visible: self.visitors.clone(),
            ..read::empty(&self.url)
        }
    }
}
