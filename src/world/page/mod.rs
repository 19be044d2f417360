//! What a page says to its reader, and where it says it.
//!
//! [`Page::parse`] turns the bytes of one answer into plain values; everything that gates
//! ask of a page is a pure function of them.

mod decode;
mod dom;
mod element;
mod find_address;
mod hidden;
mod links;
mod model;
mod owner;
mod refusal;
mod structured;
#[cfg(test)]
mod tests;
mod text;
mod visible;

use url::Url;

use decode::{ContentType, Kind};
use model::lines;
use visible::Walk;

use crate::world::email_text::may_spell;

pub use crate::world::email_text::is_unspaced;
pub use find_address::{Presence, addresses_of, presence};
pub use model::{OwnerPlace, OwnerText, Page, Unreadable};
pub use refusal::states_no_collection;

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
        let text = decode::decode(url, content_type.charset, kind, body)?;
        let mut page = match kind {
            Kind::Html => Walk::over(url, &dom::parse(&text)?),
            Kind::Plain => Self {
                visible: lines(&text).collect(),
                ..Self::empty(url)
            },
            Kind::Source => Self {
                hidden: lines(&text).filter(|line| may_spell(line)).collect(),
                ..Self::empty(url)
            },
        };
        if let Some(header) = refresh.and_then(|header| links::refresh(url, url, header)) {
            page.refresh = Some(header);
        }
        Ok(page)
    }
}
