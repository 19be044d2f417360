//! Takes out of recorded pages what a verdict does not rest on: other people's addresses.
//!
//! What comes out is a proposal. Pages can be made so that a verdict rests on any byte of
//! them, so whoever prunes judges again from the pruned recording, and keeps it only when the
//! judgement is the same, byte for byte.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{BodyRef, Evidence, Exchange, PageAnswer, Recording};
use crate::world::Response;
use crate::world::mailbox::Mailbox;

/// Elements whose content no reader reads as text.
const UNREAD_ELEMENTS: [&str; 2] = ["script", "svg"];

/// `recording` without addresses that are not in `keep`: their local parts are masked, octet
/// for octet, however the page writes them, and scripts and drawings that hold none of `keep` are emptied.
///
/// Bodies in encodings that are not ASCII-compatible stay as they are.
pub fn pruned(recording: &Recording, keep: &[Mailbox]) -> Recording {
    let keep: Vec<String> = keep.iter().map(Mailbox::to_string).collect();
    let mut pruned = Recording {
        evidence: Evidence::default(),
        bodies: recording.bodies.clone(),
    };
    for exchange in &recording.evidence.exchanges {
        let mut exchange = exchange.clone();
        if let Exchange::Get { answer, .. } = &mut exchange
            && let PageAnswer::Response(response) = answer
            && let Some(body) = recording.bodies.get(&response.body.sha256)
        {
            let body = prune_body(response, body, &keep);
            response.body = BodyRef::of(&body);
            pruned.bodies.insert(response.body.sha256, body);
        }
        pruned.evidence.exchanges.push(exchange);
    }
    let Recording { evidence, bodies } = &mut pruned;
    bodies.retain(|digest, _| evidence.bodies().any(|body| body.sha256 == *digest));
    pruned
}

/// A text that is read, without addresses that are not in `keep`.
///
/// Of a page that is pruned later with the same `keep` the text is this one already.
pub fn masked(text: &str, keep: &[Mailbox]) -> String {
    let keep: Vec<String> = keep.iter().map(Mailbox::to_string).collect();
    let mut octets = text.as_bytes().to_vec();
    mask(&mut octets, &keep);
    String::from_utf8_lossy(&octets).into_owned()
}

fn prune_body(response: &Response<BodyRef>, body: &[u8], keep: &[String]) -> Vec<u8> {
    let content_type = response.content_type.as_deref().unwrap_or("text/html");
    let content_type = content_type.to_ascii_lowercase();
    if content_type.contains("utf-16") || body.contains(&0) {
        return body.to_vec();
    }
    let mut body = body.to_vec();
    if content_type.contains("html") {
        for element in UNREAD_ELEMENTS {
            body = without_content(&body, element, keep);
        }
    }
    mask(&mut body, keep);
    body
}

/// `html` with every `element` emptied that holds none of `keep`. JSON-LD stays: machines are
/// meant to read it.
fn without_content(html: &[u8], element: &str, keep: &[String]) -> Vec<u8> {
    let (open, close) = (format!("<{element}"), format!("</{element}"));
    let mut kept = Vec::with_capacity(html.len());
    let mut rest = html;
    // An element that does not end is left alone, with all that follows.
    while let Some(start) = find(rest, open.as_bytes())
        && let Some(tag) = rest[start..].iter().position(|&b| b == b'>')
        && let Some(content) = find(&rest[start + tag..], close.as_bytes())
    {
        let (head, tail) = rest.split_at(start + tag + 1);
        let (content, tail) = tail.split_at(content - 1);
        kept.extend(head);
        let needed = find(&head[start..], b"ld+json").is_some()
            || keep
                .iter()
                .any(|address| find(content, address.as_bytes()).is_some());
        if needed {
            kept.extend(content);
        }
        rest = tail;
    }
    kept.extend(rest);
    kept
}

/// The first place of `part` in `text`, compared without ASCII case.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len())
        .position(|window| window.eq_ignore_ascii_case(part))
}

/// What stands for one octet of a local part that was taken out.
const MASK: u8 = b'x';

/// What stands before a protected address; a quotation mark may follow.
const PROTECTIONS: [&[u8]; 2] = [b"data-cfemail=", b"/cdn-cgi/l/email-protection#"];

/// Named character references for what stands in addresses, and for brackets.
const NAMED: [(&[u8], u8); 8] = [
    (b"commat;", b'@'),
    (b"period;", b'.'),
    (b"lowbar;", b'_'),
    (b"hyphen;", b'-'),
    (b"plus;", b'+'),
    (b"lt;", b'<'),
    (b"gt;", b'>'),
    (b"nbsp;", b' '),
];

/// Words for `@` between brackets.
const AT_WORDS: [&str; 5] = ["at", "a", "@", "골뱅이", "앳"];

const DOT_WORDS: [&str; 4] = ["dot", ".", "점", "닷"];

/// Signs for `@` without brackets.
const AT_SIGNS: [&str; 4] = ["골뱅이", "\u{ff20}", "★", "☆"];

/// The longest name or part of a name that is looked for, in octets.
const MOST_OCTETS: usize = 253;

/// Masks the local part of every address but those of `keep`, octet for octet.
pub(super) fn mask(body: &mut [u8], keep: &[String]) {
    mask_protected(body, keep);
    let text = Decoded::of(body);
    let mut at = 0;
    while at < text.octets.len() {
        let Some(sign) = text.sign(at) else {
            at += 1;
            continue;
        };
        let local = at - run(text.octets[..at].iter().rev());
        let end = sign.end + run(text.octets[sign.end..].iter());
        let (name, domain) = (&text.octets[local..at], &text.octets[sign.end..end]);
        let kept = is_kept(name, domain, keep) || (sign.spelled && begins_kept(name, domain, keep));
        // A domain may stand before what looks like a spelled sign.
        let addressed = local > 0 && text.octets[local - 1] == b'@';
        let sure = !sign.spelled || (!addressed && text.has_dot(sign.end..end));
        if end > sign.end && sure && !kept {
            for place in &text.places[local..at] {
                body[place.clone()].fill(MASK);
            }
        }
        at = sign.end;
    }
}

/// A sign for `@`, spelled or not, and where it ends.
struct Sign {
    end: usize,
    spelled: bool,
}

/// A page's octets, its references and escapes decoded where they stand for ASCII.
struct Decoded {
    octets: Vec<u8>,
    /// Where each stands in the page.
    places: Vec<Range<usize>>,
}

impl Decoded {
    fn of(body: &[u8]) -> Self {
        let (mut octets, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < body.len() {
            let (octet, length) = decoded(&body[at..]).unwrap_or((body[at], 1));
            octets.push(octet);
            places.push(at..at + length);
            at += length;
        }
        Self { octets, places }
    }

    /// The sign for `@` that begins at `at`.
    fn sign(&self, at: usize) -> Option<Sign> {
        let text = &self.octets[at..];
        let length = if text.first()? == &b'@' {
            return Some(Sign {
                end: at + 1,
                spelled: false,
            });
        } else if let Some(sign) = AT_SIGNS.iter().find(|sign| starts_with(text, sign)) {
            sign.len()
        } else {
            enclosed(text, &AT_WORDS)?
        };
        Some(Sign {
            end: at + length,
            spelled: true,
        })
    }

    /// Whether a name holds a dot, or a spelled one follows it.
    fn has_dot(&self, name: Range<usize>) -> bool {
        let after = &self.octets[name.end..];
        let spaced = after.strip_prefix(b" ").unwrap_or(after);
        let name = &self.octets[name];
        name.strip_suffix(b".").unwrap_or(name).contains(&b'.')
            || DOT_WORDS.iter().any(|word| starts_with(spaced, word))
            || enclosed(after, &DOT_WORDS).is_some()
    }
}

/// The ASCII octet that a reference or an escape stands for, and how long that is.
fn decoded(text: &[u8]) -> Option<(u8, usize)> {
    match text {
        [b'%', high, low, ..] => {
            let octet = (hex(*high)? << 4) | hex(*low)?;
            octet.is_ascii_graphic().then_some((octet, 3))
        }
        [b'&', b'#', b'x' | b'X', digits @ ..] => numeric(digits, 16, 3),
        [b'&', b'#', digits @ ..] => numeric(digits, 10, 2),
        [b'&', name @ ..] => {
            let (name, octet) = NAMED.iter().find(|(known, _)| name.starts_with(known))?;
            Some((*octet, 1 + name.len()))
        }
        _ => None,
    }
}

/// The octet of a numeric reference, whose digits begin after `before` octets.
fn numeric(digits: &[u8], radix: u32, before: usize) -> Option<(u8, usize)> {
    const MOST_DIGITS: usize = 8;
    let is_digit = |b: &&u8| char::from(**b).is_digit(radix);
    let count = digits.iter().take(MOST_DIGITS).take_while(is_digit).count();
    let code = std::str::from_utf8(&digits[..count]).ok()?;
    let octet = u8::from_str_radix(code, radix).ok()?;
    let ended = digits.get(count) == Some(&b';');
    let length = before + count + usize::from(ended);
    (octet == b' ' || octet.is_ascii_graphic()).then_some((octet, length))
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// How long one of `words` in brackets is, with the spaces around.
fn enclosed(text: &[u8], words: &[&str]) -> Option<usize> {
    let spaced = |text: &[u8]| usize::from(text.first() == Some(&b' '));
    let mut at = spaced(text);
    let open = *text.get(at)?;
    let close = match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        _ => return None,
    };
    at += 1;
    at += spaced(&text[at..]);
    let word = words.iter().find(|word| {
        let after = text.get(at + word.len()..).unwrap_or_default();
        starts_with(&text[at..], word) && after.get(spaced(after)) == Some(&close)
    })?;
    at += word.len();
    at += spaced(&text[at..]) + 1;
    Some(at + spaced(&text[at..]))
}

fn mask_protected(body: &mut [u8], keep: &[String]) {
    for at in 0..body.len() {
        let Some(mark) = PROTECTIONS
            .iter()
            .find(|mark| starts_with_octets(&body[at..], mark))
        else {
            continue;
        };
        let from = at + mark.len();
        let quote = matches!(body.get(from), Some(b'"' | b'\''));
        let from = from + usize::from(quote);
        let digits = body[from..].iter().take(4 * MOST_OCTETS);
        let count = digits.take_while(|b| b.is_ascii_hexdigit()).count();
        if let Some(masked) = masked_protection(&body[from..from + count], keep) {
            body[from..from + masked.len()].copy_from_slice(masked.as_bytes());
        }
    }
}

/// The digits of the same protected address, masked; none when it is kept, or is no address.
fn masked_protection(digits: &[u8], keep: &[String]) -> Option<String> {
    let mut octets = hex::decode(digits).ok()?;
    let (key, rest) = octets.split_first_mut()?;
    let address: Vec<u8> = rest.iter().map(|octet| octet ^ *key).collect();
    let sign = address.iter().position(|octet| *octet == b'@')?;
    let domain = address[sign + 1..].split(|octet| *octet == b'?').next()?;
    if is_kept(&address[..sign], domain, keep) {
        return None;
    }
    rest[..sign].fill(MASK ^ *key);
    Some(hex::encode(octets))
}

/// How many octets in a row can stand in an address, among those that pages use.
fn run<'a>(octets: impl Iterator<Item = &'a u8>) -> usize {
    octets
        .take(MOST_OCTETS)
        .take_while(|b| b.is_ascii_alphanumeric() || b"._+-".contains(b))
        .count()
}

/// Whether an address is one to keep, or one is the end of the other: a page may write `tel-`
/// before it, and it may begin with an octet that [`run`] stops at. A sentence's full stop is
/// not part of it.
fn is_kept(local: &[u8], domain: &[u8], keep: &[String]) -> bool {
    let end = domain
        .iter()
        .rposition(|&b| b != b'.')
        .map_or(0, |last| last + 1);
    let domain = &domain[..end];
    let found = [local, b"@", domain].concat().to_ascii_lowercase();
    keep.iter()
        .map(String::as_bytes)
        .any(|address| found.ends_with(address) || address.ends_with(&found))
}

/// Whether an address to keep may begin so: the dots of its domain may be spelled.
fn begins_kept(local: &[u8], domain: &[u8], keep: &[String]) -> bool {
    let found = [local, b"@", domain].concat().to_ascii_lowercase();
    keep.iter()
        .any(|address| address.as_bytes().starts_with(&found))
}

fn starts_with(text: &[u8], start: &str) -> bool {
    starts_with_octets(text, start.as_bytes())
}

fn starts_with_octets(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len())
        .is_some_and(|text| text.eq_ignore_ascii_case(start))
}
