//! A web URL and its host, taken exactly as written: a text that a parser would have to repair is
//! refused.

#[cfg(test)]
mod tests;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, Position, Url};

use crate::base::text::invisible;
use crate::world::domain::{Disguise, HostName, InternationalName};

pub const MAX_URL_BYTES: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebUrl {
    #[error("it is missing")]
    Missing,
    #[error("it has {0} bytes, and at most {MAX_URL_BYTES} are allowed")]
    TooLong(usize),
    #[error("it contains U+{:04X}, which is not allowed in a URL", u32::from(*.0))]
    Character(char),
    #[error("it does not begin with http:// or https://")]
    Scheme,
    #[error("it contains credentials (an @ before the host)")]
    Credentials,
    #[error("what follows the colon after its host is not a port")]
    Port,
    #[error("it has no host")]
    NoHost,
    #[error("its host is an IP address, not a name")]
    IpAddress,
    #[error("its host ends with a dot")]
    TrailingDot,
    #[error("its host is not a valid name")]
    NotAName,
    #[error("its host would be read as {0}")]
    RepairedHost(HostName),
    #[error("its host mixes scripts")]
    MixedScripts,
    #[error("its host is written in letters that look like Latin ones")]
    LooksLatin,
    #[error("its host {0} is not a name under a public suffix")]
    NoDomain(HostName),
    #[error("a browser would read it as {0}")]
    Repaired(Box<Url>),
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
    c.is_whitespace() || c.is_control() || c == '\\' || invisible(c)
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
        return Err(BadWebUrl::IpAddress);
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
    written_host(host)
}

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

/// The name that `text` spells exactly, letter case aside.
///
/// Non-ASCII names and A-labels are checked against UTS 46 with `UseSTD3ASCIIRules`,
/// `CheckHyphens` and `VerifyDnsLength`; a name that this processing would change is refused.
fn written_host(text: &str) -> Result<HostName, BadWebUrl> {
    match text {
        "" => return Err(BadWebUrl::NoHost),
        _ if text.starts_with('[') || ends_in_number(text) => return Err(BadWebUrl::IpAddress),
        _ if text.ends_with('.') => return Err(BadWebUrl::TrailingDot),
        _ => {}
    }
    let written = text.to_lowercase();
    if text.is_ascii() && !written.split('.').any(|label| label.starts_with("xn--")) {
        return HostName::parse(text).map_err(|_| BadWebUrl::NotAName);
    }
    let international = InternationalName::parse(text).ok_or(BadWebUrl::NotAName)?;
    let name = HostName::parse(&international.ascii).map_err(|_| BadWebUrl::NotAName)?;
    if international.repair(&written).is_some() {
        return Err(BadWebUrl::RepairedHost(name));
    }
    match international.disguise() {
        Some(Disguise::MixedScripts(_)) => Err(BadWebUrl::MixedScripts),
        Some(Disguise::LooksLatin(_)) => Err(BadWebUrl::LooksLatin),
        None => Ok(name),
    }
}

/// Whether a URL parser takes the host for an IPv4 address, or for a broken one (WHATWG URL,
/// "ends in a number").
fn ends_in_number(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    // The parser itself knows the notations: decimal, octal and hexadecimal.
    matches!(Host::parse(last), Ok(Host::Ipv4(_)))
        || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}
