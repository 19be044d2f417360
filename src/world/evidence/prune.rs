//! Removes other people's addresses from recorded pages.
//!
//! The result is a proposal. A page can be made so that a verdict rests on any of its bytes, so the
//! caller judges again from the pruned recording, and keeps it only if the judgement is identical.

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{BodyRef, Evidence, Exchange, PageAnswer, Recording};
use crate::world::email_text::{How, SOURCE, Unit, may_hold_address, read};
use crate::world::mailbox::Mailbox;
use crate::world::{Rendered, Response};

/// Where an element begins and ends that no reader reads.
struct Unread {
    open: Regex,
    close: Regex,
}

static UNREAD: LazyLock<[Unread; 2]> = LazyLock::new(|| {
    let any_case =
        |tag: String| Regex::new(&format!("(?i-u){tag}")).expect("a tag has no signs of a pattern");
    ["script", "svg"].map(|element| Unread {
        open: any_case(format!("<{element}")),
        close: any_case(format!("</{element}")),
    })
});

/// `recording` without addresses that are not in `keep`. Their local parts are masked octet by octet in
/// every spelling, and scripts and drawings without an address of `keep` are emptied.
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
        if let Exchange::Rendered { answer, .. } = &mut exchange {
            let masked = answer.clone().with_bodies(|body| {
                let bytes = recording.bodies.get(&body.sha256).ok_or(())?;
                let mut bytes = bytes.clone();
                mask(&mut bytes, &keep);
                let body = BodyRef::of(&bytes);
                pruned.bodies.insert(body.sha256, bytes);
                Ok::<_, ()>(body)
            });
            if let Ok(masked) = masked {
                *answer = masked;
            }
        } else if let Exchange::Get { answer, url } = &mut exchange
            && let PageAnswer::Response(response) = answer
            && let Some(body) = recording.bodies.get(&response.body.sha256)
        {
            // A page that a browser has shown is judged only by what it showed.
            let left = match recording.evidence.rendered(url) {
                Some(Rendered::Page(_)) => Vec::new(),
                _ => prune_body(response, body, &keep),
            };
            if left != *body {
                response.body = BodyRef::of(&left);
                pruned.bodies.insert(response.body.sha256, left);
            }
        }
        pruned.evidence.exchanges.push(exchange);
    }
    let Recording { evidence, bodies } = &mut pruned;
    bodies.retain(|digest, _| evidence.bodies().any(|body| body.sha256 == *digest));
    pruned
}

/// The text of a page without addresses that are not in `keep`: the same text as after pruning the page
/// with the same `keep`.
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
        for element in UNREAD.iter() {
            body = without_content(&body, element, keep);
        }
    }
    mask(&mut body, keep);
    body
}

/// `html` with every `element` emptied that contains none of `keep`. JSON-LD is kept, because it is
/// meant to be read.
fn without_content(html: &[u8], element: &Unread, keep: &[String]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(html.len());
    let mut rest = html;
    // An element without an end is left unchanged, together with the rest.
    while let Some(start) = element.open.find(rest).map(|found| found.start())
        && let Some(tag) = rest[start..].iter().position(|&b| b == b'>')
        && let Some(content) = element.close.find_at(rest, start + tag)
    {
        let (head, tail) = rest.split_at(start + tag + 1);
        let (content, tail) = tail.split_at(content.start() - head.len());
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

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let first = part.first()?;
    // Most places do not even begin so.
    text.windows(part.len()).position(|window| {
        window[0].eq_ignore_ascii_case(first) && window.eq_ignore_ascii_case(part)
    })
}

const MASK: u8 = b'x';

/// The text before a protected address, which may be quoted.
const PROTECTIONS: [&[u8]; 2] = [b"data-cfemail=", b"/cdn-cgi/l/email-protection#"];

const MOST_OCTETS: usize = 253;

fn mask(body: &mut [u8], keep: &[String]) {
    // No address goes on in the next line.
    for line in body.split_mut(|octet| *octet == b'\n') {
        if may_hold_address(line) {
            mask_protected(line, keep);
            mask_line(line, keep);
        }
    }
}

fn mask_line(body: &mut [u8], keep: &[String]) {
    let units = read(body, SOURCE);
    let part = |units: &mut dyn Iterator<Item = &Unit>| -> Vec<char> {
        let meant = units.take(MOST_OCTETS).map(|unit| unit.meant);
        meant
            .take_while(|c| c.is_ascii_alphanumeric() || "._+-".contains(*c))
            .collect()
    };
    let signs = units.iter().enumerate();
    for (at, sign) in signs.filter(|(_, unit)| unit.meant == '@' && unit.how != How::Word) {
        let mut local = part(&mut units[..at].iter().rev());
        local.reverse();
        let start = at - local.len();
        let local: String = local.into_iter().collect();
        let domain: String = part(&mut units[at + 1..].iter()).into_iter().collect();
        let domain = domain.trim_end_matches('.');
        // The text before a sign in words may be the domain of another address.
        let addressed = start > 0 && units[start - 1].meant == '@';
        let sure = sign.how == How::Plain || (!addressed && domain.contains('.'));
        if sure && !domain.is_empty() && !is_kept(&format!("{local}@{domain}"), keep) {
            for unit in &units[start..at] {
                body[unit.span.clone()].fill(MASK);
            }
        }
    }
}

fn mask_protected(body: &mut [u8], keep: &[String]) {
    for at in 0..body.len() {
        let Some(mark) = PROTECTIONS.iter().find(|mark| {
            let text = body.get(at..at + mark.len());
            text.is_some_and(|text| text.eq_ignore_ascii_case(mark))
        }) else {
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

/// The digits of the same protected address, masked; none if it is kept or not an address.
fn masked_protection(digits: &[u8], keep: &[String]) -> Option<String> {
    let mut octets = hex::decode(digits).ok()?;
    let (key, rest) = octets.split_first_mut()?;
    let address: Vec<u8> = rest.iter().map(|octet| octet ^ *key).collect();
    let sign = address.iter().position(|octet| *octet == b'@')?;
    let found = address.split(|octet| *octet == b'?').next()?;
    let found = String::from_utf8_lossy(found).to_lowercase();
    if is_kept(found.trim_end_matches('.'), keep) {
        return None;
    }
    rest[..sign].fill(MASK ^ *key);
    Some(hex::encode(octets))
}

/// Whether an address is to be kept, or is the end of such an address or the other way round: a page
/// may write `tel-` before it, and it may begin with a character that is not recognised on pages.
fn is_kept(found: &str, keep: &[String]) -> bool {
    keep.iter()
        .any(|address| found.ends_with(address.as_str()) || address.ends_with(found))
}
