//! Where a page leads: `mailto:` addressees, protected addresses, frames and refreshes.

use ego_tree::NodeRef;
use percent_encoding::percent_decode_str;
use scraper::Node;
use scraper::node::Element;
use url::Url;

use super::element::attr;
use super::text::head;
use crate::base::text::normalise;

/// A refresh that waits longer than this, in seconds, is a timeout, not a way on.
const LONGEST_WAIT: u32 = 30;

/// The addressees of a `mailto:` link (RFC 6068): its path and its `to` fields, percent
/// escapes decoded, parted at commas, and at semicolons as people write them. None for links
/// of other schemes.
pub(super) fn addressees(href: &str) -> Option<Vec<String>> {
    if !href.contains(':') {
        return None;
    }
    let href: String = href
        .trim_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let (scheme, rest) = href.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("mailto") {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let fields = query.split('&').filter_map(|field| {
        let (name, value) = field.split_once('=')?;
        name.eq_ignore_ascii_case("to").then_some(value)
    });
    let all = std::iter::once(path).chain(fields);
    Some(
        all.flat_map(|list| list.split([',', ';']))
            .map(|one| normalise(&percent_decode_str(one).decode_utf8_lossy()))
            .flat_map(|list| {
                list.split([',', ';'])
                    .map(addressee_address)
                    .collect::<Vec<_>>()
            })
            .filter(|one| !one.is_empty())
            .collect(),
    )
}

fn addressee_address(addressee: &str) -> String {
    let inner = addressee
        .rsplit_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inner
        .map_or(addressee, |(inner, _)| inner)
        .trim()
        .to_owned()
}

/// `target` as an absolute http(s) URL without fragment.
pub(super) fn absolute(base: &Url, target: &str) -> Option<Url> {
    let mut url = base.join(target.trim()).ok()?;
    url.set_fragment(None);
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Where a `Refresh` header or a meta refresh leads (WHATWG HTML §4.2.5.3); none when it
/// reloads `here`, or waits so long that it is a timeout.
pub(super) fn refresh(here: &Url, base: &Url, content: &str) -> Option<Url> {
    let content = content.trim_start();
    let digits = content
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(content.len());
    if digits == 0 && !content.starts_with('.') {
        return None;
    }
    let wait = content[..digits]
        .parse()
        .unwrap_or(if digits == 0 { 0 } else { u32::MAX });
    let rest = content[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let target = rest.strip_prefix(|c: char| matches!(c, ';' | ',') || c.is_whitespace())?;
    let target = target.trim_start_matches(|c: char| matches!(c, ';' | ',') || c.is_whitespace());
    let target = after_url_equals(target).unwrap_or(target);
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target[1..].split(quote).next().unwrap_or_default(),
        _ => target,
    };
    if target.is_empty() || wait > LONGEST_WAIT {
        return None;
    }
    let mut here = here.clone();
    here.set_fragment(None);
    absolute(base, target).filter(|url| *url != here)
}

/// More links than a page that people read has.
const MOST_LINKS: usize = 4000;

/// The longest text of a link that is kept, in characters.
const MOST_TEXT: usize = 100;

/// Where an `a` or `area` element leads.
pub(super) fn target(base: &Url, element: &Element) -> Option<Url> {
    let is_link = matches!(element.name(), "a" | "area");
    let href = is_link.then(|| attr(element, "href"))?;
    absolute(base, href?)
}

/// Adds the target of the link at `node`, with what it is called, if that is another page than `here`.
pub(super) fn add(
    links: &mut Vec<(Url, String)>,
    here: &Url,
    target: Url,
    node: NodeRef<'_, Node>,
) {
    if links.len() < MOST_LINKS && target != *here {
        links.push((target, called(node)));
    }
}

/// Whether a line is a link that is called after the site to which it leads.
pub(super) fn names_site(links: &[(Url, String)], line: &str) -> bool {
    let bare = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_lowercase();
    // A word alone may be a host's name, and the beginning of an address too.
    line.contains('.')
        && links.iter().any(|(to, called)| {
            called == line && to.host_str().is_some_and(|host| bare(host) == bare(line))
        })
}

/// The text of an element, or else what its pictures and its own attributes call it.
fn called(node: NodeRef<'_, Node>) -> String {
    let (mut text, mut alternative) = (String::new(), String::new());
    for inner in node.descendants() {
        if text.len() + alternative.len() > 8 * MOST_TEXT {
            break;
        }
        match inner.value() {
            Node::Text(piece) => text.push_str(piece),
            Node::Element(element) => {
                if matches!(element.name(), "br" | "div" | "p" | "li" | "td") {
                    text.push(' ');
                }
                for name in ["alt", "title", "aria-label"] {
                    alternative.push_str(attr(element, name).unwrap_or_default());
                    alternative.push(' ');
                }
            }
            _ => {}
        }
    }
    let [text, alternative] = [normalise(&text), normalise(&alternative)];
    let called = if text.is_empty() { alternative } else { text };
    head(&called, MOST_TEXT).to_owned()
}

fn after_url_equals(text: &str) -> Option<&str> {
    let name = text.get(..3)?;
    let rest = text[3..].trim_start().strip_prefix('=')?;
    name.eq_ignore_ascii_case("url").then(|| rest.trim_start())
}

// Cloudflare writes an address as hex: the first byte is a key, each further byte is one byte of
// the address exclusive-or the key. It is in `data-cfemail`, or after `#` in links to
// `/cdn-cgi/l/email-protection`, and a script decodes it before the reader looks.

/// The longest encoded address, in hex digits.
const MOST_DIGITS: usize = 2 * 512;

pub(super) fn decode(hex_text: &str) -> Option<String> {
    let hex_text = hex_text.trim();
    if hex_text.len() > MOST_DIGITS {
        return None;
    }
    let bytes = hex::decode(hex_text).ok()?;
    let (key, rest) = bytes.split_first()?;
    let text = String::from_utf8(rest.iter().map(|byte| byte ^ key).collect()).ok()?;
    let address = text.split('?').next().unwrap_or_default();
    address.contains('@').then(|| address.to_owned())
}

/// The address that a link to the protection's page encodes.
pub(super) fn decode_link(href: &str) -> Option<String> {
    decode(href.strip_prefix("/cdn-cgi/l/email-protection#")?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::world::page) fn encode(address: &str, key: u8) -> String {
        let bytes = address.bytes().map(|byte| byte ^ key);
        hex::encode(std::iter::once(key).chain(bytes).collect::<Vec<_>>())
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn mailto_links_are_decoded() {
        let to = |href| addressees(href).unwrap_or_default();
        assert_eq!(to("mailto:info@acme.co"), ["info@acme.co"]);
        assert_eq!(to(" MAILTO:info%40acme.co?subject=a@b.c"), ["info@acme.co"]);
        assert_eq!(
            to("mailto:a@acme.co,b@acme.co;c@acme.co"),
            ["a@acme.co", "b@acme.co", "c@acme.co"]
        );
        assert_eq!(
            to("mailto:?to=a@acme.co&cc=x@y.z&To=b@acme.co"),
            ["a@acme.co", "b@acme.co"]
        );
        assert_eq!(to("mail\nto:in%E2%80%8Bfo@acme.co"), ["info@acme.co"]);
        assert_eq!(to("mailto:Acme%20%3Cinfo@acme.co%3E"), ["info@acme.co"]);
        assert_eq!(to("mailto:"), Vec::<String>::new());
    }

    #[test]
    fn other_links_are_not() {
        for href in [
            "https://x.y/mailto:info@acme.co",
            "mailtoo:info@acme.co",
            "info@acme.co",
            "",
        ] {
            assert_eq!(addressees(href), None, "{href}");
        }
    }

    #[test]
    fn refreshes_lead_on() {
        let here = url("https://acme.co/a/");
        let leads = |content| refresh(&here, &here, content).map(String::from);
        assert_eq!(leads("0;url=b").as_deref(), Some("https://acme.co/a/b"));
        assert_eq!(
            leads("0; URL = '/c' x").as_deref(),
            Some("https://acme.co/c")
        );
        assert_eq!(
            leads(".5,https://other.example/#x").as_deref(),
            Some("https://other.example/")
        );
        assert_eq!(leads("3 /d").as_deref(), Some("https://acme.co/d"));
    }

    #[test]
    fn reloads_and_timeouts_do_not() {
        let here = url("https://acme.co/a/");
        for content in "30 5; 0;url= 0;url=./ 0;url=#x 1800;url=/logout x;url=/
            99999999999;url=/b 0;url=javascript:x"
            .split_whitespace()
            .chain(["", "0;url=\u{e9}\u{e9}:"])
        {
            let led = refresh(&here, &here, content);
            assert!(led.is_none() || content.contains('\u{e9}'), "{content}");
        }
    }

    #[test]
    fn what_is_encoded_comes_back() {
        assert_eq!(
            decode("422b2c242d0223212f276c212d").as_deref(),
            Some("info@acme.co")
        );
        let hex_text = encode("info@acme.co", 0x5a);
        assert_eq!(decode(&hex_text).as_deref(), Some("info@acme.co"));
        let href = format!(
            "/cdn-cgi/l/email-protection#{}",
            encode("info@acme.co?subject=x", 7)
        );
        assert_eq!(decode_link(&href).as_deref(), Some("info@acme.co"));
    }

    #[test]
    fn what_is_not_an_address_does_not() {
        for text in [
            "",
            "5a",
            "xyz",
            "5",
            &encode("no address", 3),
            &"00".repeat(100_000),
        ] {
            assert_eq!(decode(text), None);
        }
        assert_eq!(decode_link("/other#422b"), None);
    }
}
