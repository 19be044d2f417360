//! Takes out of recorded pages what a verdict does not rest on: other people's addresses.
//!
//! What comes out is a proposal. Pages can be made so that a verdict rests on any byte of
//! them, so whoever prunes judges again from the pruned recording, and keeps it only when the
//! judgement is the same, byte for byte.

#[cfg(test)]
mod tests;

mod mask;

use self::mask::mask;
use super::{BodyRef, Evidence, Exchange, PageAnswer, Recording, StoredResponse};
use crate::world::mailbox::Mailbox;

/// Elements whose content no reader reads as text.
const UNREAD_ELEMENTS: [&str; 2] = ["script", "svg"];

/// `recording` without addresses that are not in `keep`: their local parts are masked, octet
/// for octet, however the page writes them, and scripts and drawings that hold none of `keep` are emptied.
///
/// Bodies in encodings that are not ASCII-compatible stay as they are.
#[must_use]
pub fn pruned(recording: &Recording, keep: &[Mailbox]) -> Recording {
    let keep: Vec<String> = keep.iter().map(Mailbox::to_string).collect();
    let mut pruned = Recording {
        evidence: Evidence::default(),
        bodies: recording.bodies.clone(),
    };
    for exchange in &recording.evidence.exchanges {
        let mut exchange = exchange.clone();
        if let Exchange::Get(get) = &mut exchange
            && let PageAnswer::Response(response) = &mut get.answer
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
#[must_use]
pub fn masked(text: &str, keep: &[Mailbox]) -> String {
    let keep: Vec<String> = keep.iter().map(Mailbox::to_string).collect();
    let mut octets = text.as_bytes().to_vec();
    mask(&mut octets, &keep);
    String::from_utf8_lossy(&octets).into_owned()
}

fn prune_body(response: &StoredResponse, body: &[u8], keep: &[String]) -> Vec<u8> {
    let content_type = response.head.content_type.as_deref().unwrap_or("text/html");
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
