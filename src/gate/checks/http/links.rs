//! Links of a text that must answer.

use std::collections::BTreeSet;

use url::Url;

use super::super::context::Context;
use super::super::fields::shown;
use super::super::kind::Probe;
use super::super::kind::first_facts;
use super::super::kind::{Flaw, Source};
use super::super::page::{location, pages};
use super::super::subject::Subject;
use crate::gate::{Cause, Cost, Fact};
use crate::world::UnansweredKind;
use crate::world::fetch::visit::End;

/// The most links that one judgement asks for; each must be asked politely.
const MOST_ASKED: usize = 40;

#[derive(Debug)]
struct Links {
    subject: Subject,
    min: usize,
}

/// The check that each link of a text answers, and that there are `min`.
pub(super) fn build(
    source: &Source<'_>,
    field: Option<&str>,
    path: Option<&str>,
    min: usize,
) -> Result<Box<dyn Probe>, Flaw> {
    let subject = Subject::new(source, field, path);
    let subject = subject.map_err(|flaw| match flaw.key {
        "field" => Flaw::new("links_in", flaw.what),
        _ => Flaw::new("links_path", flaw.what),
    });
    Ok(Box::new(Links {
        subject: subject?,
        min,
    }))
}

impl Probe for Links {
    fn cost(&self) -> Cost {
        Cost::Page
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let links = links_of(&text.said);
        if links.len() < self.min {
            let expected = format!("at least {} links", self.min);
            let detail = Fact::wrong(expected, links.len().to_string());
            return vec![text.detail(detail, "")];
        }
        if let Some(first) = links.get(MOST_ASKED) {
            let expected = format!("at most {MOST_ASKED} links, which are all that are asked for");
            let detail = Fact::wrong(expected, links.len().to_string());
            let place = match first {
                Ok(url) => location(url),
                Err(text) => shown(text),
            };
            return vec![text.detail(detail, "").at(place)];
        }
        let found = links.iter().filter_map(|link| dead(context, link));
        first_facts(found.collect())
    }
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
    detail.location = Some(location(url));
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
