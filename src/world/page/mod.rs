//! What a page says to its reader, and where it says it.
//!
//! [`Page::parse`] turns the bytes of one answer into plain values; everything that gates
//! ask of a page is a pure function of them.

mod decode;
mod dom;
mod element;
mod find_address;
mod hidden;
mod leaving;
mod links;
mod model;
mod owner;
mod pdf;
mod rendered;
mod structured;
#[cfg(test)]
mod tests;
mod text;
mod visible;
mod visitors;

use url::Url;

use decode::{ContentType, Kind};
use model::lines;
use visible::Walk;

use crate::base::text::normalise;
use crate::quest::Seen;
use crate::world::email_text::may_spell;

pub use crate::world::email_text::is_unspaced;
pub use find_address::{Presence, addresses_of, presence};
pub use model::{MailLink, OwnerPlace, OwnerText, Page, Unreadable};

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
        let content_type = ContentType::parse(content_type);
        let kind = content_type.kind(body)?;
        if kind == Kind::Pdf {
            return pdf::read(url, body);
        }
        let text = decode::decode(url, content_type.charset, kind, body)?;
        let mut page = match kind {
            Kind::Html => Page {
                seen: Some(Seen::Markup),
                ..Walk::over_markup(url, &dom::parse(&text)?)
            },
            Kind::Plain => {
                let (visible, unclear) = find_address::broken(text.lines().map(normalise));
                Self {
                    visible,
                    unclear,
                    ..Self::empty(url)
                }
            }
            Kind::Source | Kind::Pdf => Self {
                hidden: lines(&text).filter(|line| may_spell(line)).collect(),
                ..Self::empty(url)
            },
        };
        page.follow(refresh);
        Ok(page)
    }

    /// Reads what a browser made of one answer; `incomplete` says that the page may lack something.
    pub fn rendered(
        url: &Url,
        refresh: Option<&str>,
        body: &[u8],
        incomplete: bool,
    ) -> Result<Self, Unreadable> {
        let text = str::from_utf8(body).map_err(|_| Unreadable::BadEncoding("UTF-8".to_owned()))?;
        let mut page = Self {
            seen: Some(Seen::Rendered),
            needs_script: incomplete,
            frames: Vec::new(),
            ..Walk::over_rendered(url, &rendered::parse(text)?)
        };
        page.follow(refresh);
        Ok(page)
    }

    fn follow(&mut self, refresh: Option<&str>) {
        let url = &self.url;
        if let Some(target) = refresh.and_then(|header| links::refresh(url, url, header)) {
            self.refresh = Some(target);
        }
    }

    /// Whether an answer with these bytes is shown by a browser as HTML.
    pub fn is_html(content_type: Option<&str>, body: &[u8]) -> bool {
        ContentType::parse(content_type).kind(body) == Ok(Kind::Html)
    }
}
