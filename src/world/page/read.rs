//! From the bytes of one answer to a [`Page`].

use url::Url;

use super::kind::{ContentType, Kind};
use super::visible::Walk;
use super::{Page, Unreadable, charset, dom, links, spelled};
use crate::base::text::normalise;

/// Reads the bytes of one answer.
pub(super) fn read(
    url: &Url,
    content_type: Option<&str>,
    refresh: Option<&str>,
    body: &[u8],
) -> Result<Page, Unreadable> {
    let content_type = ContentType::parse(content_type);
    let kind = content_type.kind(body)?;
    let text = charset::decode(url, content_type.charset, kind, body)?;
    let mut page = match kind {
        Kind::Html => Walk::over(url, &dom::parse(&text)?),
        Kind::Plain => Page {
            visible: lines(&text).collect(),
            ..empty(url)
        },
        Kind::Source => Page {
            hidden: lines(&text)
                .filter(|line| spelled::may_spell(line))
                .collect(),
            ..empty(url)
        },
    };
    if let Some(header) = refresh.and_then(|header| links::refresh(url, url, header)) {
        page.refresh = Some(header);
    }
    Ok(page)
}

/// A page that says nothing.
pub(super) fn empty(url: &Url) -> Page {
    Page {
        url: url.clone(),
        visible: Vec::new(),
        unclear: Vec::new(),
        linked: Vec::new(),
        visitors: Vec::new(),
        hidden: Vec::new(),
        owner: Vec::new(),
        frames: Vec::new(),
        refresh: None,
        needs_script: false,
    }
}

/// The lines of a text that say something.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(normalise).filter(|line| !line.is_empty())
}
