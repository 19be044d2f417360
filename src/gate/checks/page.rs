//! Pages that a check asks for: their URLs as templates, and the links of a text.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use url::Url;

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Found, Source};
use super::subject::rendered;
use crate::gate::Fact;
use crate::gate::email::site::registrable;
use crate::gate::email::source::no_page;
use crate::gate::email::web_url::web_url;
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::UnansweredKind;
use crate::world::fetch::visit::{End, Visit};
use crate::world::page::Page;

/// The URL of a page, of which a field may say no more than its own part.
#[derive(Debug)]
pub(super) struct PageTemplate {
    whole: Template,
    /// The part before its own query, if the template does not begin with a value.
    head: Option<Template>,
    fields: Vec<FieldName>,
}

impl PageTemplate {
    pub(super) fn new(source: &Source<'_>, key: &'static str, text: &str) -> Result<Self, Flaw> {
        let whole = source.template(key, text)?;
        let head = text.split_once('?').map_or(text, |(head, _)| head);
        // A question mark inside of an expression parts nothing.
        let head = source.template(key, head).unwrap_or_else(|_| whole.clone());
        let names = whole.names().iter();
        let fields = names.filter_map(|name| name.strip_prefix("field."));
        let fields = fields.map(|name| source.field(key, name).map(|field| field.name));
        Ok(Self {
            fields: fields.collect::<Result<_, _>>()?,
            head: (!text.trim_start().starts_with('{')).then_some(head),
            whole,
        })
    }

    /// The URL, or the fact that no page can be asked for by it.
    pub(super) fn url(&self, context: &Context<'_>) -> Result<Url, Fact> {
        let mut fields = self.fields.iter();
        if let Some(field) = fields.find(|name| context.field(name).is_none()) {
            let detail = Fact::wrong("a value for the URL of a page", "nothing");
            return Err(detail.on(field));
        }
        let text = rendered(context, &self.whole)?;
        if self.whole.reads_fields() {
            self.is_as_meant(context, &text)?;
        }
        page_url(&text)
    }

    /// Whether no value turns the rest of the URL into a query, or into what no server is sent.
    fn is_as_meant(&self, context: &Context<'_>, text: &str) -> Result<(), Fact> {
        let wrong = |expected: &str| Err(Fact::wrong(expected, shown(text)));
        let fragment = text.split_once('#').map_or("", |(_, fragment)| fragment);
        if !fragment.trim().is_empty() {
            return wrong("a URL without a fragment");
        }
        match &self.head {
            Some(head) if rendered(context, head)?.contains('?') => {
                wrong("a URL whose path has no `?` of a field's")
            }
            _ => Ok(()),
        }
    }
}

/// The URL that a value spells, or the fact that it spells none.
pub(super) fn page_url(text: &str) -> Result<Url, Fact> {
    web_url(text).map_err(|bad| {
        let expected = "an http or https URL of a page";
        Fact::wrong(expected, bad.to_string())
    })
}

/// The page that answered, and its frames.
pub(super) fn pages(visit: &Visit) -> Result<(&Page, &[Page]), Fact> {
    match &visit.end {
        End::Pages(pages) => {
            let pages = pages.split_first();
            pages.ok_or_else(|| Fact::wrong("a page", "none").unconfirmed())
        }
        end => Err(no_page(end)),
    }
}

/// Whether two URLs lie on one site: the same registrable domain.
pub(super) fn one_site(one: &Url, other: &Url) -> bool {
    let domain = registrable(one);
    domain.is_some() && domain == registrable(other)
}

/// The most links that one judgement asks for; each must be asked politely.
const MAX_ASKED: usize = 40;

/// That each link of a field answers, and that there are `min`.
pub(super) fn links_answer(context: &Context<'_>, field: &FieldName, min: usize) -> Found {
    let Some(text) = context.field(field) else {
        return Ok(Vec::new());
    };
    let links = links_of(text);
    if links.len() < min {
        let fact = Fact::wrong(format!("at least {min} links"), links.len().to_string());
        return Err(fact.on(field));
    }
    if let Some(first) = links.get(MAX_ASKED) {
        let expected = format!("at most {MAX_ASKED} links, since no more are requested");
        let fact = Fact::wrong(expected, links.len().to_string());
        let fact = fact.on(field);
        return Err(match first {
            Ok(url) => fact.at_url(url),
            Err(text) => fact.at(shown(text)),
        });
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
        return Some(detail.at_url(url));
    }
    let visit = context.visit(url);
    if matches!(visit.end, End::Unreadable { .. }) {
        // An image or a document answers as well as a page does.
        return None;
    }
    let why = pages(&visit).err()?.actual;
    let fact = Fact::wrong("a link that answers", why).at_url(url);
    let is_definite = match &visit.end {
        End::Missing { .. } => true,
        End::Unanswered { url, why } => {
            why.silence == UnansweredKind::PrivateAddress || is_local(url)
        }
        _ => false,
    };
    Some(if is_definite {
        fact
    } else {
        fact.unconfirmed()
    })
}

/// Whether the name of the host means the machine that asks (RFC 6761 §6.3).
fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

/// The http and https links of a text, each once, in order; of one that is no URL its text.
///
/// A link is as long as it may be: a part of it could be another's.
fn links_of(text: &str) -> Vec<Result<Url, String>> {
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

/// The link without the punctuation of the text around it; `before` is the character before it.
fn closed(link: &str, before: Option<char>) -> &str {
    let mut depth = 0_i32;
    let mut end = link.len();
    for (at, c) in link.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        // A bracket that nothing opens may belong to the link, unless the link is in brackets.
        let is_last = || !link[at..].contains(char::is_alphanumeric);
        if depth < 0 && (before.is_some_and(|c| "([{".contains(c)) || is_last()) {
            end = at;
            break;
        }
    }
    // Marks such as `**` are on both sides of a text.
    let marks = |c: char| "*_|".contains(c) && before == Some(c);
    link[..end].trim_end_matches(|c| ".,;:!?'".contains(c) || marks(c))
}
