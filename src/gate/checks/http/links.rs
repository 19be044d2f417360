//! Links of a text that must answer.

use std::collections::BTreeSet;

use url::Url;

use crate::gate::checks::context::Context;
use crate::gate::checks::fields::shown;
use crate::gate::checks::kind::Found;
use crate::gate::checks::page::{location, pages};
use crate::gate::checks::subject::Subject;
use crate::gate::{Cause, Fact};
use crate::world::UnansweredKind;
use crate::world::fetch::visit::End;

/// The most links that one judgement asks for; each must be asked politely.
const MAX_ASKED: usize = 40;

/// That each link of a text answers, and that there are `min`.
pub(super) fn answer(context: &Context<'_>, subject: &Subject, min: usize) -> Found {
    let Some(text) = subject.read(context)? else {
        return Ok(Vec::new());
    };
    let links = links_of(&text.said);
    if links.len() < min {
        let fact = Fact::wrong(format!("at least {min} links"), links.len().to_string());
        return Err(text.detail(fact, ""));
    }
    if let Some(first) = links.get(MAX_ASKED) {
        let expected = format!("at most {MAX_ASKED} links, which are all that are asked for");
        let fact = Fact::wrong(expected, links.len().to_string());
        let place = match first {
            Ok(url) => location(url),
            Err(text) => shown(text),
        };
        return Err(text.detail(fact, "").at(place));
    }
    let dead = links.iter().filter_map(|link| dead(context, link));
    Ok(dead.collect())
}

fn dead(context: &Context<'_>, link: &Result<Url, String>) -> Option<Fact> {
    let url = match link {
        Ok(url) => url,
        Err(text) => return Some(Fact::wrong("a link that is a URL", shown(text))),
    };
    if !url.username().is_empty() || url.password().is_some() {
        let detail = Fact::wrong("a link without credentials", "an @ before its host");
        return Some(detail.at(location(url)));
    }
    let visit = context.visit(url);
    if matches!(visit.end, End::Unreadable { .. }) {
        // An image or a document answers as well as a page does.
        return None;
    }
    let mut detail = pages(&visit).err()?;
    let definite = match &visit.end {
        End::Missing { .. } => true,
        End::Unanswered { url, why } => {
            why.silence == UnansweredKind::PrivateAddress || is_local(url)
        }
        _ => false,
    };
    detail.expected = String::from("a link that answers");
    detail.location = Some(location(url).into());
    detail.cause = if definite {
        Cause::Wrong
    } else {
        Cause::Unanswered
    };
    Some(detail)
}

/// Whether the host is by its name the machine of whoever asks (RFC 6761 §6.3).
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

/// The http and https links of a text, each once, in order; of one that is no URL its text.
///
/// A link is as long as it may be: a part of it could be another's.
pub(super) fn links_of(text: &str) -> Vec<Result<Url, String>> {
    let mut known = BTreeSet::new();
    let mut links = Vec::new();
    for (at, rest) in starts(text) {
        let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"`".contains(c);
        let link = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let link = closed(link, text[..at].chars().next_back());
        if link.ends_with("://") {
            continue;
        }
        let url = Url::parse(link).map(|mut url| {
            url.set_fragment(None);
            url
        });
        let url = url.map_err(|_| link.to_owned());
        if known.insert(url.clone()) {
            links.push(url);
        }
    }
    links
}

/// Where links begin, with what follows.
fn starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let begins = |rest: &str, scheme: &str| {
        let head = rest.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    let places = text.match_indices(['h', 'H']);
    places
        .map(|(at, _)| (at, &text[at..]))
        .filter(move |(_, rest)| begins(rest, "http://") || begins(rest, "https://"))
}

/// The link without what the text around it ends with; `before` is what stands before it.
fn closed(link: &str, before: Option<char>) -> &str {
    let mut depth = 0_i32;
    let mut end = link.len();
    for (at, c) in link.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        // One that nothing opens may be the link's own, unless the link stands in brackets.
        let is_last = || !link[at..].contains(char::is_alphanumeric);
        if depth < 0 && (before.is_some_and(|c| "([{".contains(c)) || is_last()) {
            end = at;
            break;
        }
    }
    // What marks a text stands on both of its sides.
    let marks = |c: char| "*_|".contains(c) && before == Some(c);
    link[..end].trim_end_matches(|c| ".,;:!?'".contains(c) || marks(c))
}

#[cfg(test)]
mod tests;
