//! A web URL that means what it says: nothing in it is mended on the way to the network.

use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Position, Url};

use super::written_host::{BadHost, written_host};
use crate::world::domain::HostName;

/// The longest URL that is taken, in bytes.
pub const MAX_URL_BYTES: usize = 2048;

/// Why a text is not a web URL that the gate takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebUrl {
    /// There is nothing.
    #[error("it is missing")]
    Missing,
    /// Longer than [`MAX_URL_BYTES`].
    #[error("it has {0} bytes, and at most {MAX_URL_BYTES} are taken")]
    TooLong(usize),
    /// A character that parsers drop or map.
    #[error("it contains U+{:04X}, which has no place in a URL", u32::from(*.0))]
    Character(char),
    /// It begins with neither `http://` nor `https://`.
    #[error("it does not begin with http:// or https://")]
    Scheme,
    /// A user name or a password stands before the host.
    #[error("it carries credentials (an @ before the host)")]
    Credentials,
    /// What follows the host's colon is not a port.
    #[error("what follows the colon after its host is not a port")]
    Port,
    /// The host.
    #[error(transparent)]
    Host(#[from] BadHost),
    /// The host is a public suffix, or lies under none that is known.
    #[error("its host {0} is no name under a public suffix")]
    NoDomain(HostName),
    /// A parser would go elsewhere than the text says.
    #[error("a browser would read it as {0}")]
    Repaired(Box<Url>),
    /// No URL at all.
    #[error("it is not a URL: {0}")]
    Syntax(#[from] url::ParseError),
}

/// The URL that `text` spells, without its fragment.
///
/// The text must be what the parser makes of it, but for the letter case of scheme and host,
/// an IDN host, a default port, an empty path, and non-ASCII characters in path and query,
/// which go percent-encoded as UTF-8 (RFC 3987 §3.1). So dot segments are refused, and a host
/// that ends with a dot.
pub fn web_url(text: &str) -> Result<Url, BadWebUrl> {
    match text.len() {
        0 => return Err(BadWebUrl::Missing),
        1..=MAX_URL_BYTES => {}
        bytes => return Err(BadWebUrl::TooLong(bytes)),
    }
    if text.trim().is_empty() {
        return Err(BadWebUrl::Missing);
    }
    if let Some(character) = text.chars().find(|c| is_dropped_or_mapped(*c)) {
        return Err(BadWebUrl::Character(character));
    }
    let rest = after_scheme(text).ok_or(BadWebUrl::Scheme)?;
    let (authority, rest) = split_before(rest, &['/', '?', '#']);
    let (tail, _fragment) = split_before(rest, &['#']);
    let name = authority_host(authority)?;
    if name.registrable().is_none() {
        return Err(BadWebUrl::NoDomain(name));
    }
    let mut url = Url::parse(text)?;
    url.set_fragment(None);
    if url.host_str() != Some(name.as_str()) || url[Position::BeforePath..] != encoded(tail) {
        return Err(BadWebUrl::Repaired(Box::new(url)));
    }
    Ok(url)
}

fn is_dropped_or_mapped(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || c == '\\'
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

fn after_scheme(text: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let (head, rest) = text.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

fn split_before<'a>(text: &'a str, marks: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(marks).unwrap_or(text.len()))
}

fn authority_host(authority: &str) -> Result<HostName, BadWebUrl> {
    if authority.contains('@') {
        return Err(BadWebUrl::Credentials);
    }
    if authority.starts_with('[') {
        return Err(BadHost::IpAddress.into());
    }
    let host = match authority.split_once(':') {
        None => authority,
        Some((host, port)) => {
            // Written as a parser would write it: no sign, no leading zero, not empty.
            let number = port.parse::<u16>().ok().filter(|number| *number > 0);
            if number.is_none_or(|number| number.to_string() != port) {
                return Err(BadWebUrl::Port);
            }
            host
        }
    };
    Ok(written_host(host)?)
}

/// Path and query as a parser writes them when it has nothing to mend.
fn encoded(tail: &str) -> String {
    const QUERY: &AsciiSet = &CONTROLS.add(b'\'');
    let (path, query) = split_before(tail, &['?']);
    let path = if path.is_empty() { "/" } else { path };
    format!(
        "{}{}",
        utf8_percent_encode(path, CONTROLS),
        utf8_percent_encode(query, QUERY)
    )
}

#[cfg(test)]
mod tests;
